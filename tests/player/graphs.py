"""Graphs of tasks and flows made by hand, played over a star of 100 Gb/s and 1 us links."""

import numpy as np

from sim.case import case_of
from sim.simulation import Simulation
from sim.workload.blocks import Edges, Flows, Tasks
from sim.workload.dag import FlowKind, assemble
from tests.packet.lab import ENOUGH, scenario

US = 10**6  # ps
HOSTS = 8
T = 83_840  # a full packet
DELIVERED = 2 * US + 2 * T  # one packet from host to host
ACKED = DELIVERED + 2 * US + 2 * 4_800


def edges(pairs, tasks):
    """Edges of names like ("t0", "f1")."""
    found = Edges()
    for pair in pairs:
        before, after = (int(name[1:]) + (tasks if name[0] == "f" else 0) for name in pair)
        found.add(before, after)
    return found


def simulation(tasks, flows=(), done=(), acked=(), starts=(), **simulation):
    """Tasks are (rank, duration in ps), flows (src, dst, bytes); `done` and `acked` pairs of names; starts {name: ps}."""
    given = scenario(
        [(host, HOSTS, 100, 1000) for host in range(HOSTS)], flows or [(0, 1, 1)], hosts=HOSTS, simulation=simulation
    )
    case = case_of(given)
    count = len(tasks)
    none = np.full(count, -1, np.int16)
    rank, duration = (np.array([task[i] for task in tasks], kind) for i, kind in ((0, np.int32), (1, np.int64)))
    blocks = Tasks(rank, np.zeros(count, np.int8), duration, np.zeros(count, np.int64), none, none)
    listed = (
        Flows.of(
            *(np.array(column) for column in zip(*flows, strict=True)), FlowKind.TRAFFIC, draw_key=np.arange(len(flows))
        )
        if flows
        else None
    )
    case.dag = assemble(blocks, listed or Flows.join([]), edges(done, count), edges(acked, count), (), HOSTS)
    for name, at_ps in dict(starts).items():
        case.dag.start_ps[int(name[1:]) + (count if name[0] == "f" else 0)] = at_ps
    if not flows:
        empty = np.zeros(0, np.int64)
        case.table = case.table._replace(
            size_bytes=empty, window_bytes=empty, base_rtt_ps=empty, draw_key=empty,
            data_ptr=np.zeros(1, np.int64), data_ports=np.zeros(0, np.int32), ack_ptr=np.zeros(1, np.int64), ack_ports=np.zeros(0, np.int32),
        )  # fmt: skip
    return Simulation(case)


class Played:
    """Start, end and last ACK of every node by name: `played["t0"]` is (start, end), `played.acked[0]` of flow 0."""

    def __init__(self, *args, ends="finished", budget=ENOUGH, **options):
        self.sim = simulation(*args, **options)
        while not self.sim.advance(budget):
            pass
        assert self.sim.status == ends
        self.tasks = self.sim.case.dag.n_tasks
        self.acked = self.sim.plan.flow["acked"].tolist()

    def __getitem__(self, name):
        node = int(name[1:]) + (self.tasks if name[0] == "f" else 0)
        return int(self.sim.plan.node["started"][node]), int(self.sim.plan.node["ended"][node])
