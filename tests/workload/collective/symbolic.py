"""Executes templates of collectives symbolically: labelled shares instead of numbers, every order of arrivals at once.

Messages are executed in one order that their dependencies allow. Then it is shown that no other order gives anything else:
whatever reads a block and whatever writes it, at one member, must be ordered by the dependencies, whichever way round.
"""

from collections import defaultdict
from fractions import Fraction

import numpy as np


def order_and_ancestors(template) -> tuple[list[int], list[int], list[int]]:
    """Rows in an order that the edges allow; the rows (as bits) that have arrived before each leaves, and when it has arrived.

    Messages of one connection with the same chunk of the data arrive in the order of their steps, as those of one queue pair do.
    """
    rows = len(template)
    after, waiting, left, arrived = defaultdict(list), [0] * rows, [0] * rows, [0] * rows
    edges = [(before, then, True) for before, then in zip(template.before.tolist(), template.then.tolist())]
    unit = np.broadcast_to(template.block, rows) // template.cycle
    connection = (unit * template.n + template.src) * template.n + template.dst
    queue = np.lexsort((np.arange(rows), template.step, connection))
    same = (connection[queue[1:]] == connection[queue[:-1]]) & template.is_message[queue[1:]]
    edges += [(before, then, False) for before, then in zip(queue[:-1][same].tolist(), queue[1:][same].tolist())]
    for before, then, leaves in edges:
        after[before].append((then, leaves))
        waiting[then] += 1
    ready, order = [row for row in range(rows) if not waiting[row]], []
    while ready:
        row = ready.pop()
        order.append(row)
        arrived[row] |= left[row] | 1 << row
        for then, leaves in after[row]:
            arrived[then] |= arrived[row]
            if leaves:
                left[then] |= arrived[row]
            waiting[then] -= 1
            if not waiting[then]:
                ready.append(then)
    assert len(order) == rows, "messages wait for each other"
    return order, left, arrived


def blocks_of(template, collective: str, chunks: int, lanes: int) -> dict[int, Fraction]:
    """Every block and its share of what one member contributes; the first chunk is half as large as the others."""
    whole = template.n if collective == "all-to-all" else template.cycle
    size = {}
    for unit in range(chunks * lanes):
        width = 1 if unit % chunks == 0 else 2
        for block in range(template.cycle):
            size[unit * template.cycle + block] = Fraction(width, (2 * chunks - 1 if chunks > 1 else 1) * lanes * whole)
    return size


def start(collective: str, n: int, cycle: int, blocks: int) -> np.ndarray:
    """int[n, blocks, n]: how often member m's block b contains the contribution of each member."""
    held = np.zeros((n, blocks, n), np.int64)
    for member in range(n):
        for block in range(blocks):
            within = block % cycle
            mine = {
                "all-reduce": True, "reduce-scatter": True, "all-gather": within % n == member,
                "all-to-all": within % n == member, "broadcast": member == 0,
            }[collective]  # fmt: skip
            held[member, block, member] = mine
    return held


def promised(collective: str, n: int, cycle: int, blocks: int) -> dict[tuple[int, int], np.ndarray]:
    """What members must hold in the end, by (member, block)."""
    found, unit = {}, np.eye(n, dtype=np.int64)
    for member in range(n):
        for block in range(blocks):
            within = block % cycle
            if collective == "all-reduce" or (collective == "reduce-scatter" and within % n == member):
                found[member, block] = np.ones(n, np.int64)
            elif collective == "all-gather" or collective == "all-to-all" and within // n == member:
                found[member, block] = unit[within % n]
            elif collective == "broadcast":
                found[member, block] = unit[0]
    return found


def prove(template, collective: str, local: int = 1, chunks: int = 1, lanes: int = 1) -> None:
    """Every contribution arrives, exactly once, in whatever order messages arrive; and members know when they are done."""
    n = template.n
    size = blocks_of(template, collective, chunks, lanes)
    held = start(collective, n, template.cycle, len(size))
    order, ancestors, arrived = order_and_ancestors(template)
    carried = [[] for _ in range(len(template))]
    for row, block in zip(*(column.tolist() for column in template.carried())):
        carried[row].append(block)
    adds = np.broadcast_to(template.adds, len(template))
    reads, writes = defaultdict(list), defaultdict(list)
    has_begun = defaultdict(int)  # member: its rows that wait until it is ready
    for row in np.flatnonzero(template.own).tolist():
        has_begun[int(template.src[row])] |= 1 << row
    for row in order:
        src, dst = int(template.src[row]), int(template.dst[row])
        server = range(src // local * local, src // local * local + local)
        for block in carried[row]:
            if src != dst:
                assert held[src, block].any(), f"row {row} sends block {block}, which member {src} does not have"
                if held[src, block, src]:
                    assert template.own[row] or ancestors[row] & has_begun[src], f"row {row} leaves before member {src} is ready"
                move(held, block, src, dst, adds[row])
                reads[src, block].append(row)
                writes[dst, block].append(row)
            elif adds[row]:
                assert all(template.own[row] or ancestors[row] & has_begun[member] for member in server)
                for member in set(server) - {src}:
                    move(held, block, member, src, True)
                    reads[member, block].append(row)
                writes[src, block].append(row)
            else:
                reads[src, block].append(row)
                for member in set(server) - {src}:
                    move(held, block, src, member, False)
                    writes[member, block].append(row)
    for (member, block), contributions in promised(collective, n, template.cycle, len(size)).items():
        assert held[member, block].tolist() == contributions.tolist(), f"member {member}, block {block}"
    no_races(ancestors, adds, reads, writes)
    knows_its_end(template, arrived, writes)
    for row in range(len(template)):
        if template.is_message[row]:
            assert Fraction(int(template.part[row]), int(template.parts[row])) == sum(size[block] for block in carried[row])
    for before, then in zip(template.before.tolist(), template.then.tolist()):
        assert template.step[before] <= template.step[then]


def move(held, block: int, src: int, dst: int, adds: bool) -> None:
    """One block from member to member."""
    held[dst, block] = held[dst, block] + held[src, block] if adds else held[src, block]


def no_races(ancestors: list[int], adds, reads, writes) -> None:
    """Reads and writes of one block at one member are ordered; sums may come in any order among themselves."""

    def ordered(one: int, other: int) -> bool:
        return one == other or bool(ancestors[other] >> one & 1 or ancestors[one] >> other & 1)

    for place, written in writes.items():
        for i, write in enumerate(written):
            assert all(ordered(write, read) for read in reads.get(place, ())), (place, write)
            for other in written[i + 1 :]:
                assert (adds[write] and adds[other]) or ordered(write, other), (place, write, other)


def knows_its_end(template, arrived: list[int], writes) -> None:
    """Whatever is written at a member has arrived when its last messages have."""
    last = defaultdict(int)
    for member, row in zip(template.last_member.tolist(), template.last_message.tolist()):
        last[member] |= arrived[row]
    assert set(last) == set(range(template.n))
    for (member, _), written in writes.items():
        assert all(last[member] >> write & 1 for write in written), member


def sent_shares(template) -> list[Fraction]:
    """What every member sends, as a share of the data."""
    total = [Fraction(0)] * template.n
    for row in np.flatnonzero(template.is_message).tolist():
        total[int(template.src[row])] += Fraction(int(template.part[row]), int(template.parts[row]))
    return total
