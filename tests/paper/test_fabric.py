"""The network of the moment: latencies by hand, what is up, and cut-outs with the buffers of whole switches."""

import numpy as np

from sim.case import case_of
from sim.flow_level_paths import volumes
from sim.packet import state as memory
from sim.paper.fabric import Fabric
from tests.packet.lab import scenario

LINKS = [(0, 3, 100, 1000), (1, 3, 400, 500), (3, 4, 100, 2000), (4, 2, 50, 100)]
WIRE_BITS = 1048 * 8


def fabric_of(capacity=None, **transport):
    case = case_of(scenario(LINKS, [(0, 2, 10_000), (1, 0, 10_000)], hosts=3, **transport))
    return Fabric(case, case.table, volumes(case).wire_bits, case.network.port_rate_bps if capacity is None else capacity)


def test_latency_is_propagation_and_every_hop_but_the_slowest():
    fabric = fabric_of()
    # 0 to 2: 1000 + 2000 + 100 ns, stored at 100 and 100 Gb/s; the 50 Gb/s port is the slowest. 1 to 0: one at 400 Gb/s
    assert fabric.delivered_after_ps.tolist() == [3_100_000 + 2 * WIRE_BITS * 10, 1_500_000 + WIRE_BITS * 10 // 4]


def test_paths_hold_data_and_acks():
    fabric = fabric_of()
    data, acks = fabric.paths(0)
    assert fabric.ports(0) == data + acks and [p ^ 1 for p in reversed(data)] == acks and fabric.line_bps(1) == 400 * 10**9


def test_a_port_that_is_down_breaks_every_path_over_it():
    capacity = fabric_of().network.port_rate_bps.astype(float)
    capacity[fabric_of().paths(0)[0][1]] = 0
    fabric = fabric_of(capacity)
    assert not fabric.is_whole(0) and fabric.is_whole(1)


def test_a_cut_out_keeps_rates_delays_thresholds_and_draws():
    fabric = fabric_of(congestion_control="dcqcn")
    case, ports = fabric.cut_out([1], np.array([777]))
    assert ports.tolist() == [0, 1, 2, 3] and case.network.n_nodes == 3
    for name in ("port_rate_bps", "port_delay_ps", "port_loss", "port_kind"):
        assert getattr(case.network, name).tolist() == getattr(fabric.network, name)[ports].tolist()
    for name in ("kmin_bytes", "kmax_bytes", "pmax"):
        assert getattr(case.settings, name).tolist() == getattr(fabric.case.settings, name)[ports].tolist()
    assert (case.table.draw_key[0], case.table.size_bytes[0]) == (fabric.case.table.draw_key[1], 777)
    assert [case.network.port_name(p) for p in case.table.data_ports] == [fabric.network.port_name(p) for p in fabric.paths(1)[0]]


def test_switches_of_a_cut_out_have_the_room_that_all_their_ports_leave():
    fabric = fabric_of(pfc="dynamic", buffer_mb=1)
    case, ports = fabric.cut_out([1], np.array([1000]))
    state = memory.make_state(case.network, case.settings, ports, 2, 4)
    whole = memory.make_state(fabric.case.network, fabric.case.settings, np.arange(8), 3, 4)
    switch = [case.network.node_name.index(fabric.case.network.node_name[3])]
    assert state.node["pool_bytes"][switch] > whole.node["pool_bytes"][3]
    fabric.fit(state, ports)
    assert state.node["pool_bytes"][switch] == whole.node["pool_bytes"][3] > 0
    for name in ("shift", "headroom_bytes"):
        assert state.port[name].tolist() == whole.port[name][ports].tolist()
