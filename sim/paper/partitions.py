"""Partitions: flows that share ports, their data's or their ACKs', directly or through others; formed and split as flows come and go."""

from dataclasses import dataclass

import numpy as np

from sim.paper.outcome import Outcome


@dataclass(eq=False)
class Partition:
    """Flows from one change of their set to the next. `flows[i]` is the i-th flow of the outcome, with `left_bytes[i]` to deliver."""

    number: int
    flows: list[int]
    left_bytes: np.ndarray
    ports: set[int]
    outcome: Outcome
    hit: bool
    from_ps: int
    due_ps: int | None = None  # when its first flow is served; None: not known yet


def components(flows: list[int], ports_of) -> list[tuple[list[int], set[int]]]:
    """The flows that are connected over `ports_of(flow)`, with their ports; flows and the first flows of components in the order given."""
    members: dict[int, list[int]] = {}
    for f in flows:
        for port in ports_of(f):
            members.setdefault(port, []).append(f)
    place, seen, found = {f: i for i, f in enumerate(flows)}, set(), []
    for f in flows:
        if f in seen:
            continue
        seen.add(f)
        group, ports = [f], set()
        for member in group:  # grows on the way
            for port in ports_of(member):
                if port not in ports:
                    ports.add(port)
                    fresh = [other for other in members[port] if other not in seen]
                    seen.update(fresh)
                    group += fresh
        found.append((sorted(group, key=place.__getitem__), ports))
    return found


class Census:
    """Who is in which partition, and how partitions came about. A partition keeps its number when flows come or go."""

    def __init__(self):
        self.active: dict[int, Partition] = {}
        self._of_port: dict[int, Partition] = {}
        self.formed, self.merges, self.splits, self.most_flows = 0, 0, 0, 0

    def add(self, partition: Partition) -> None:
        """A partition is there."""
        self.active[partition.number] = partition
        self._of_port.update(dict.fromkeys(partition.ports, partition))
        self.most_flows = max(self.most_flows, len(partition.flows))

    def remove(self, partition: Partition) -> None:
        """A partition is there no more."""
        del self.active[partition.number]
        for port in partition.ports:
            del self._of_port[port]

    def touched(self, ports) -> dict[int, Partition]:
        """The partitions that use any of these ports."""
        found = (self._of_port.get(port) for port in ports)
        return {partition.number: partition for partition in found if partition is not None}

    def numbers(self, groups: list[list[int]], before: dict[int, int]) -> list[int]:
        """A number for each new partition: the least of those that its flows were in (`before`), if that is not taken, or a new one."""
        taken, numbers = set(), []
        pieces: dict[int, int] = {}
        for group in groups:
            old = sorted({before[f] for f in group if f in before})
            self.merges += max(0, len(old) - 1)
            for number in old:
                pieces[number] = pieces.get(number, 0) + 1
            number = next((one for one in old if one not in taken), None)
            if number is None:
                number, self.formed = self.formed, self.formed + 1
            taken.add(number)
            numbers.append(number)
        self.splits += sum(count - 1 for count in pieces.values())
        return numbers
