"""How rates and queues settle within an episode: its flows cut out of the network and simulated packet by packet, from idle.

A run keeps of a pattern what it needs to replay it, not how its flows got there. So the longest episode of the pattern is looked
up, and the flows that were under way then are simulated for as long as it lasted: from empty queues and with fresh controllers.
"""

from dataclasses import dataclass

import numpy as np

from sim.case import Case, flow_table, timed_faults
from sim.convergence_curves import Curves
from sim.convergence_share import fair_bps
from sim.errors import RunError
from sim.flow_level_paths import volumes
from sim.paper.cut_out import CutOut
from sim.paper.fabric import Fabric
from sim.result_conflicts import pattern_of_result
from sim.result_partitions import partitions_at
from sim.result_paths import ways
from sim.transport import kernel_settings
from sim.units import BITS_PER_BYTE, PS_PER_S, show_count

SAMPLES = 2000  # of the curves
MOST_HOPS = 20_000_000  # packet-hops, one to three seconds
JUST_AFTER_PS = 0.5  # the start of an episode: who starts then is under way, whose last ACK comes then is not


@dataclass(frozen=True)
class Episode:
    """From one change of a set of flows to the next; the flows in order of start, with the payload that each had left."""

    partition_id: int
    start_ps: int
    end_ps: int
    flows: np.ndarray
    left_bytes: np.ndarray
    fresh: bool  # all of them started then
    sent_bps: np.ndarray  # what each sent in the run over that time, on average; empty where that is not known


def longest_episode(result, pattern_id: int) -> Episode:
    """The longest episode of a pattern; pauses that the kernel made within it do not count.

    What flows had left that were under way before is taken from their mean rates.

    Raises
    ------
    RunError
        Its flows cannot be told: a failed link has changed their paths since, or level paper saw others.
    """
    pattern, sent_bps = pattern_of_result(result, pattern_id)
    number, start_ps, end_ps, pauses_ps = longest_stretch(result.episodes, pattern_id)
    for at_ps in (start_ps + JUST_AFTER_PS, (start_ps + end_ps) / 2):
        found = [_in_order(result, part.flows) for part in partitions_at(result, at_ps / PS_PER_S) if len(part.flows) == pattern.flows]
        alike = [flows for flows in found if _paths(result.raw, flows, at_ps) == _numbered(zip(pattern.data, pattern.acks, strict=True))]
        if alike:
            flows = max(alike, key=lambda flows: _fit(result, flows, start_ps, end_ps))
            acked_ps = result.raw.acked_ps[flows]
            ended = [pause for pause in pauses_ps if (acked_ps[acked_ps >= 0] <= pause).any()]
            fresh = bool((result.raw.start_ps[result.dag.n_tasks :][flows] == start_ps).all())
            return Episode(
                number, start_ps, min([end_ps, *ended]), flows, _left_bytes(result.raw, flows, start_ps), fresh, sent_bps[: 0 if pauses_ps else None]
            )
    raise RunError(f"pattern {pattern_id}: which flows were in its longest episode cannot be told from the flows of the result")


def longest_stretch(episodes, pattern_id: int) -> tuple[int, int, int, list[int]]:
    """(partition, start, end, pauses in between) of the longest run of a partition's episodes of this pattern, in ps; RunError if there is none."""
    own = episodes[episodes["pattern_id"] == pattern_id].sort_values(["partition_id", "start_s"])
    if not len(own):
        raise RunError(f"pattern {pattern_id}: none of its episodes is in the result")
    start, end = (np.rint(own[name].to_numpy() * PS_PER_S).astype(np.int64) for name in ("start_s", "end_s"))
    number = own["partition_id"].to_numpy()
    first = np.flatnonzero(np.append(True, (number[1:] != number[:-1]) | (start[1:] != end[:-1])))
    last = np.append(first[1:], len(own)) - 1
    longest = int(np.argmax(end[last] - start[first]))
    a, b = first[longest], last[longest]
    return int(number[a]), int(start[a]), int(end[b]), end[a:b].tolist()


def _in_order(result, flows: np.ndarray) -> np.ndarray:
    return flows[np.argsort(result.raw.start_ps[result.dag.n_tasks :][flows], kind="stable")]


def _paths(raw, flows: np.ndarray, at_ps: float) -> list:
    both = [np.split(ports, ptr[1:-1]) for ptr, ports in ways(raw, flows, at_ps)]
    return _numbered(zip(*([path.tolist() for path in paths] for paths in both), strict=True))


def _numbered(paths) -> list:
    """Paths of data and ACKs with their ports numbered by first use."""
    number: dict[int, int] = {}
    return [[[number.setdefault(port, len(number)) for port in path] for path in both] for both in paths]


def _fit(result, flows: np.ndarray, start_ps: int, end_ps: int) -> tuple:
    """How well the times of flows go with an episode; of twins, the first."""
    raw = result.raw
    started_ps, acked_ps = raw.start_ps[result.dag.n_tasks :][flows], raw.acked_ps[flows]
    known = acked_ps[acked_ps >= 0]
    return bool((known >= end_ps).all()), bool((started_ps == start_ps).any()), bool((known == end_ps).any()), -int(flows[0])


def _left_bytes(raw, flows: np.ndarray, at_ps: int) -> np.ndarray:
    """int64[n]: payload that each flow had left, had it moved evenly all the time; at least 1 B."""
    start_ps, acked_ps, size = raw.start_ps[raw.dag.n_tasks :][flows], raw.acked_ps[flows], raw.dag.flow_bytes[flows]
    until_ps = np.where(acked_ps >= 0, acked_ps, raw.end_ps_last)
    moved = raw.flow_acked_bytes[flows] * ((at_ps - start_ps) / np.maximum(1, until_ps - start_ps))
    return np.maximum(1, size - np.floor(moved)).astype(np.int64)


class Settling:
    """The simulation of an episode's flows alone, advanced by budgets of packet-hops until `done`."""

    def __init__(self, result, episode: Episode, samples: int = SAMPLES, most_hops: int = MOST_HOPS):
        self.episode, self._most_hops = episode, most_hops
        self.length_ps = max(1, episode.end_ps - episode.start_ps)
        self._step_ps = -(-self.length_ps // samples)
        self._samples = -(-self.length_ps // self._step_ps)
        self._case = _case(result, episode)
        self._run = None
        member, port = self._crossings()
        self.ports = _shared_or_all(member, port, self._case.table)
        self._delivered, self._queues = [np.zeros(len(episode.flows), np.int64)], [np.zeros(len(self.ports), np.int64)]
        self.stopped = ""

    def _crossings(self) -> tuple[np.ndarray, np.ndarray]:
        table, n = self._case.table, len(self.episode.flows)
        hops = np.concatenate([np.repeat(np.arange(n), np.diff(ptr)) for ptr in (table.data_ptr, table.ack_ptr)])
        return hops, np.concatenate([table.data_ports, table.ack_ports]).astype(np.int64)

    @property
    def expected_hops(self) -> int:
        """About how many packet-hops it will take: what flows have left, or their fair share of the time if that is less."""
        table, settings = self._case.table, self._case.settings
        most = np.ceil(self.fair_bps() * (self.length_ps / PS_PER_S / BITS_PER_BYTE / settings.payload_bytes))
        packets = np.minimum(-(-table.size_bytes // settings.payload_bytes), most)
        return round(float(packets @ np.diff(table.data_ptr) + packets @ np.diff(table.ack_ptr) / settings.ack_every))

    def fair_bps(self) -> np.ndarray:
        """float64[n]: max-min fair rates of payload, headers and ACKs on the way."""
        settings, table = self._case.settings, self._case.table
        member, port = self._crossings()
        names, number = np.unique(port, return_inverse=True)
        packet = settings.payload_bytes + settings.header_bytes
        weight = np.where(np.arange(len(port)) < len(table.data_ports), packet, settings.ack_bytes / settings.ack_every) / settings.payload_bytes
        return fair_bps(self._case.network.port_rate_bps[names], member, number, weight)

    @property
    def begun(self) -> bool:
        """Whether anything has been simulated."""
        return self._run is not None

    @property
    def fraction(self) -> float:
        """How far it is, 0 to 1."""
        return 1.0 if self.done else (len(self._delivered) - 1) / self._samples

    @property
    def done(self) -> bool:
        """Whether nothing is left to simulate."""
        return bool(self.stopped) or len(self._delivered) > self._samples

    def advance(self, budget_hops: int) -> bool:
        """Simulate on for about so many packet-hops; returns `done`."""
        run = self._run or self._begin()
        target = run.packet_hops() + budget_hops
        while not self.done and run.packet_hops() < target:
            self._sample(run)
        return self.done

    def _begin(self) -> CutOut:
        case = self._case
        fabric = Fabric(case, case.table, volumes(case).wire_bits, case.network.port_rate_bps)
        run = self._run = CutOut(fabric, list(range(len(self.episode.flows))), case.table.size_bytes)
        run.enter()
        self._places = np.searchsorted(run.ports, self.ports)
        return run

    def _sample(self, run: CutOut) -> None:
        run.run_to(len(self._delivered) * self._step_ps + 1)
        size, payload = self._case.table.size_bytes, self._case.settings.payload_bytes
        arrived = np.minimum(run.state.flow["expected"][run.slots] * payload, size)
        self._delivered.append(np.where(self._ended_ps() >= 0, size, arrived))
        self._queues.append(run.state.port["queue_bytes"][self._places].copy())
        if run.status == "finished":
            self.stopped = "every flow has ended"
        elif run.packet_hops() >= self._most_hops:
            self.stopped = f"{show_count(run.packet_hops())} packet-hops are enough"

    def _ended_ps(self) -> np.ndarray:
        return self._run.plan.node["ended"][: len(self.episode.flows)]

    def _sent_bytes(self) -> np.ndarray:
        size, payload = self._case.table.size_bytes, self._case.settings.payload_bytes
        return np.where(self._ended_ps() >= 0, size, np.minimum(self._run.state.flow["next_packet"][self._run.slots] * payload, size))

    def curves(self) -> Curves:
        """What there is so far."""
        return Curves(
            flows=self.episode.flows, ports=self.ports, times_ps=self._step_ps * np.arange(len(self._delivered)),
            delivered_bytes=np.array(self._delivered), queue_bytes=np.array(self._queues), sent_bytes=self._sent_bytes(), ended_ps=self._ended_ps().copy(),
            fair_bps=self.fair_bps(), payload_bytes=self._case.settings.payload_bytes, length_ps=self.length_ps,
            packet_hops=self._run.packet_hops(), stopped=self.stopped if len(self._delivered) <= self._samples else "",
        )  # fmt: skip


def _case(result, episode: Episode) -> Case:
    """A case of these flows on the whole network, as the run had it."""
    scenario, network, raw, flows = result.scenario, result.network, result.raw, episode.flows
    losing = any(fault.kind in ("link-down", "loss") for fault in timed_faults(scenario, network))
    settings = kernel_settings(scenario.transport, scenario.simulation, network, may_lose=losing)
    if raw.port_ecn_kmin_bytes is not None:
        settings = settings._replace(kmin_bytes=raw.port_ecn_kmin_bytes, kmax_bytes=raw.port_ecn_kmax_bytes)
    paths = ((ptr, ports.astype(np.int32)) for ptr, ports in ways(raw, flows, episode.start_ps))
    table = flow_table(scenario, network, episode.left_bytes, raw.dag.flow_draw_key[flows].astype(np.int64), *paths)
    none = np.zeros(len(flows), np.int64)
    return Case(scenario, network, raw.dag, table, settings, [], [], none, none + 1, none, 0)


def _shared_or_all(member: np.ndarray, port: np.ndarray, table) -> np.ndarray:
    """Ports that several flows queue in, ascending; those of the data of all where none do."""
    pairs = np.unique(np.stack([port, member]), axis=1)
    names, users = np.unique(pairs[0], return_counts=True)
    return names[users > 1] if (users > 1).any() else np.unique(table.data_ports).astype(np.int64)
