"""Make the wormhole kernel's memory, and make room in it when a step might need more."""

import numpy as np

from sim.congestion.registry import name_of
from sim.errors import RunError
from sim.packet import layout as packet
from sim.packet import state as packet_memory
from sim.packet.layout import PFC_FIXED, PFC_OFF
from sim.packet.state import records
from sim.wormhole import layout
from sim.wormhole.columns import WORD_BYTES, flow_columns
from sim.wormhole.effort import SHORTEST_CHUNK
from sim.wormhole.eviction import MOST_WORDS, forget
from sim.wormhole.layout import Wormhole
from sim.wormhole.loop import CHOOSE, PACKETS
from sim.wormhole.memo import Memo

BOUNDED_GUARD = 16  # level bounded needs longer to show whether it gains
LEAST_LOOK_HOPS, LOOK_SHARE = 30_000, 0.03  # what may be spent in vain before a run goes on packet by packet
LARGE = 32  # flows: the outcome of so large a partition may cover several events
NO_LIMIT = np.iinfo(np.int64).max
START = np.int64(10**9)  # ps on the scratch clock, so that nothing loaded lies before time 0
FIRST = dict(
    arena=1 << 17,
    lists=1 << 16,
    part=1 << 10,
    heap=1 << 11,
    state=1 << 10,
    outcome=1 << 11,
    join=1 << 10,
    episode=1 << 11,
)
CAPACITY = dict(
    arena="arena",
    lists="lists",
    part="parts",
    heap="heap",
    state="states",
    outcome="outcomes",
    join="joins",
    tmp="tmp",
    episode="episodes",
)
RECORDS = dict(
    part=layout.PART,
    heap=layout.HEAP,
    state=layout.STATE,
    outcome=layout.OUTCOME,
    join=layout.JOIN,
    tmp=layout.TMP,
    episode=layout.EPISODE,
)


def flow_words(state) -> np.ndarray:
    """int64 view of the flow records."""
    return np.frombuffer(state.flow.data, np.int64)


def port_classes(state, known: np.ndarray | None = None):
    """(int32[P], float64[fields, classes]): ports with equal numbers behave alike; numbers in use in `known` stay."""
    rows = np.stack([state.port[name].astype(np.float64) for name in layout.CLASS_FIELDS])
    fresh, which = np.unique(rows, axis=1, return_inverse=True)
    if known is None or known.shape[1] == 0:
        return which.reshape(-1).astype(np.int32), fresh
    place = {column.tobytes(): number for number, column in enumerate(known.T.copy())}
    numbers = [place.setdefault(column.tobytes(), len(place)) for column in fresh.T.copy()]
    classes = np.stack([np.frombuffer(column) for column in place], axis=1)
    return np.array(numbers, np.int32)[which.reshape(-1)], classes


def _array(name, count):
    if name == "arena":
        return np.zeros(count, np.int64)
    if name == "lists":
        return np.zeros(count, np.int32)
    return records(count, RECORDS[name])


def make_wormhole(
    state, case, used_ports, *, replay=True, skip=True, packets=False, bins=2, bin_shift=20, guard=300_000, record=True, large=LARGE,
    level=layout.EXACT,
    most_words=MOST_WORDS, memo=None, classes=None,
) -> Wormhole:
    """Memory for a run over `state`, the (idle) packet simulation in which partitions are solved.

    `packets`: run packet by packet from the start; nothing here is used then. `memo`: what earlier runs have
    learnt, with `classes`, the ports' classes in its numbering (`port_classes`).
    """
    settings, flows, ports = case.settings, len(case.table.size_bytes), state.port.size
    has_loss = bool(settings.has_loss)
    first = dict.fromkeys(FIRST, 4) if packets else FIRST
    arrays = {name: _array(name, count) for name, count in first.items()}
    arrays["tmp"] = _array("tmp", 4 if packets else max(state.flow.size, ports) + 1024)
    p = records(1, layout.P)
    row = p[0]
    controller = name_of(settings.controller)
    columns = flow_columns(controller, settings, has_loss)
    row["phase"] = PACKETS if packets else 0
    row["columns"], row["words_per_flow"] = len(columns), packet.FLOW.itemsize // WORD_BYTES
    row["solving"], row["chunk"], row["guard"] = -1, SHORTEST_CHUNK * 16, guard
    row["level"] = level
    if level == layout.BOUNDED:
        row["guard"] = guard * BOUNDED_GUARD
    row["by_link"] = settings.pfc != PFC_OFF
    row["by_node"] = settings.pfc != PFC_FIXED and bool((state.node["buffered"] > 0).any())
    row["large"] = large
    row["first_look"] = guard if level else min(guard, max(LEAST_LOOK_HOPS, int(LOOK_SHARE * case.packet_hops)))
    row["most_words"] = row["forget_at"] = most_words
    row["use_memo"], row["use_skip"], row["record"] = replay, skip, record
    row["timed"] = controller in ("timely", "swift")
    row["has_loss"] = has_loss
    row["clear_sent"] = not has_loss and not controller.startswith("hpcc")
    row["bin_shift"], row["bins"], row["bin_rows"] = bin_shift, bins, max(1, used_ports.size)
    port = records(ports, layout.PORT)
    port["part"], port["class_"] = -1, port_classes(state)[0] if classes is None else classes
    port["bin_row"][used_ports] = np.arange(used_ports.size)
    part = arrays["part"]
    part["next"] = np.append(np.arange(1, part.size), -1)
    w = Wormhole(
        p=p, port=port, flow=records(max(1, 0 if packets else flows), layout.FLOW), column=columns, words=flow_words(state),
        state_index=np.full(4, -1, np.int32), edge_index=np.full(4, -1, np.int32), join_index=np.full(4, -1, np.int32),
        bins=records(4 if packets else max(1, used_ports.size) * bins, packet.BIN), **arrays,
    )  # fmt: skip
    if not packets:
        state.g[0]["now"] = state.g[0]["wheel_start"] = START
    return _index(w if memo is None or packets else _adopt(w, memo), state)


def _adopt(w: Wormhole, memo: Memo) -> Wormhole:
    """Begin with what earlier runs have learnt."""
    row, grown = w.p[0], {}
    for name, key in (("arena", "arena_end"), ("state", "states"), ("outcome", "outcomes"), ("join", "joins")):
        known = getattr(memo, name)
        grown[name] = _longer(name, known, max(FIRST[name], known.size + known.size // 4 + FIRST[name]))
        row[key] = known.size
    np.maximum(grown["outcome"]["uses"], 1, out=grown["outcome"]["uses"])  # whoever plays them did not find them
    return w._replace(**grown)


def learnt(w: Wormhole, classes: np.ndarray) -> Memo:
    """What this run knows, for later ones."""
    row = w.p[0]
    counts = {"arena": "arena_end", "state": "states", "outcome": "outcomes", "join": "joins"}
    cut = {name: getattr(w, name)[: int(row[key])].copy() for name, key in counts.items()}
    cut["state"]["ahead"] = 0
    return Memo(classes=classes, **cut)


def _index(w: Wormhole, state) -> Wormhole:
    """Note the capacities; rebuild an index that has become too full."""
    row = w.p[0]
    for name, key in CAPACITY.items():
        row["capacity_" + key] = getattr(w, name).size
    row["capacity_packets"] = state.packet.size
    if row["phase"] == PACKETS:
        return w
    changes = {}
    for name, table, count, mask in (
        ("state_index", w.state, int(row["states"]), "state_mask"),
        ("edge_index", w.outcome, int(row["outcomes"]), "edge_mask"),
        ("join_index", w.join, int(row["joins"]), "join_mask"),
    ):
        size = 1 << int(2 * table.size).bit_length()
        if getattr(w, name).size != size:
            changes[name] = np.full(size, -1, np.int32)
            row[mask] = size - 1
            _fill_index(name, changes[name], table[:count], size - 1)
    return w._replace(**changes)


def _fill_index(name, index, table, mask) -> None:
    """Enter the records of `table` as the compiled look-ups expect them."""
    if name == "edge_index":
        followers = set(table["next"].tolist())
        keys = ((table["state"] * 0x9E3779B1 + table["offset"] * 0x85EBCA77) >> 7) & mask
        entries = [i for i in range(len(table)) if i not in followers]
    else:
        keys, entries = table["hash"] & mask, range(len(table))
    for i in entries:
        j = int(keys[i])
        while index[j] >= 0:
            j = (j + 1) & mask
        index[j] = i


def make_room(w: Wormhole, state):
    """Grow whatever the next step might find too small; returns the new (w, state).

    Between two instants what has not proved useful is forgotten, where that has become too much: a moment that depends
    on nothing but what the run has learnt.
    """
    row = w.p[0]
    row["capacity_packets"] = state.packet.size
    if row["phase"] == CHOOSE and row["arena_end"] > row["forget_at"]:
        w = forget(w)
        row["forget_at"] = max(row["most_words"], row["arena_end"] + row["most_words"] // 4)
    need = {
        "arena": row["arena_end"] + row["need_words"], "lists": row["lists_end"] + row["need_lists"],
        "part": row["live_parts"] + row["need_items"], "heap": row["heap"] + row["need_items"], "state": row["states"] + row["need_items"],
        "outcome": row["outcomes"] + row["need_items"], "join": row["joins"] + row["need_items"],
        "episode": row["episodes"] + row["need_items"], "tmp": row["live_lists"] + 2 * row["need_items"],
    }  # fmt: skip
    if need["lists"] > w.lists.size:
        w = _compact_lists(w)
        need["lists"] = row["lists_end"] + row["need_lists"]
    changes, most = {}, int(min(row["most_words"], NO_LIMIT // 2) + 2 * row["need_words"])
    for name, count in need.items():
        old = getattr(w, name)
        if count > old.size and name == "arena":
            changes[name] = _longer(name, old, max(min(2 * old.size, most), int(count + count // 8)), int(row["arena_end"]))
        elif count > old.size:
            changes[name] = _longer(name, old, max(2 * old.size, int(count)))
    if "part" in changes:
        old = w.part.size
        links = np.arange(old + 1, changes["part"].size + 1)
        links[-1] = row["free_part"]
        changes["part"]["next"][old:] = links
        row["free_part"] = old
    w = w._replace(**changes)
    g = state.g[0]
    if min(g["free_flows"], g["free_regions"] // 2) < row["need_items"]:
        state = packet_memory.grow_flows(state, int(row["need_items"]))
    while row["solving"] < 0 and g["free_packets"] < row["need_packets"]:
        state = packet_memory.grow_packets(state)
    if w.tmp.size < state.flow.size + 64:
        w = w._replace(tmp=_longer("tmp", w.tmp, 2 * state.flow.size))
    return _index(w._replace(words=flow_words(state)), state), state


def _longer(name, array, count, used=None):
    grown = _array(name, count)
    grown[:used][: array.size] = array[:used]
    return grown


def lengthen_arena(w: Wormhole, state, words: int) -> Wormhole:
    """Room for so many more words."""
    end = int(w.p[0]["arena_end"]) + words
    return w if end <= w.arena.size else _index(w._replace(arena=_longer("arena", w.arena, end + words, end - words)), state)


def grow_pool(w: Wormhole, state):
    """Twice the packets of the simulation in which partitions are solved."""
    state = packet_memory.grow_packets(state)
    w.p[0]["capacity_packets"] = state.packet.size
    return state


def check_arena(w: Wormhole) -> None:
    """Nothing was ever written behind the arena: what a step may need was estimated rightly."""
    if w.p[0]["overflow"]:
        raise RunError(f"the wormhole kernel needed {int(w.p[0]['overflow']):,} words more than it had made ready; mode packet works")


def _compact_lists(w: Wormhole) -> Wormhole:
    """Drop the lists of partitions that are no more."""
    row, live = w.p[0], np.flatnonzero(w.part["next"] == layout.ACTIVE)
    lists, end = np.zeros_like(w.lists), 0
    for a in live.tolist():
        part = w.part[a]
        count = int(part["flows"]) + int(part["ports"])
        lists[end : end + count] = w.lists[part["flows_at"] : part["flows_at"] + count]
        part["flows_at"], part["ports_at"] = end, end + int(part["flows"])
        end += count
    row["lists_end"] = end
    return w._replace(lists=lists)
