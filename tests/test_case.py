"""A scenario gathered into a case: paths, windows, hops, faults, and what it refuses."""

import numpy as np
import pytest

from sim.case import case_of, entropy
from sim.errors import ScenarioError
from sim.scenario import Scenario
from tests.packet.lab import US, scenario, simulate

SPINES = [
    (0, 2, 100, 1000),
    (1, 3, 100, 1000),
    (2, 4, 100, 1000),
    (4, 3, 100, 1000),
    (2, 5, 100, 1000),
    (5, 3, 100, 1000),
]


def nodes(case, flow=0, ack=False):
    """The nodes along a flow's path."""
    ptr, ports = (case.table.ack_ptr, case.table.ack_ports) if ack else (case.table.data_ptr, case.table.data_ports)
    path = ports[ptr[flow] : ptr[flow + 1]]
    return [int(case.network.port_src[path[0]]), *case.network.port_dst[path].tolist()]


def flow(**more):
    return {"src": 0, "dst": 1, "bytes": 10_000, **more}


def test_given_paths_are_taken():
    up, down = ["0", "2", "5", "3", "1"], ["1", "3", "4", "2", "0"]
    case = case_of(scenario(SPINES, [flow(path=up, ack_path=down)]))
    assert nodes(case) == [0, 2, 5, 3, 1] and nodes(case, ack=True) == [1, 3, 4, 2, 0]
    sim = simulate(SPINES, [flow(path=up, ack_path=down)])
    carried = {sim.case.network.port_name(port): int(n) for port, n in enumerate(sim.state.port["tx_packets"]) if n}
    assert carried == dict.fromkeys(("0->2", "2->5", "5->3", "3->1", "1->3", "3->4", "4->2", "2->0"), 10)


def test_a_given_path_goes_with_its_flow_when_flows_are_sorted():
    over_4, over_5 = ["0", "2", "4", "3", "1"], ["0", "2", "5", "3", "1"]
    flows = [
        flow(start_us=9, path=over_5),
        flow(start_us=3, path=over_4),
        flow(start_us=6, path=over_5),
        flow(start_us=1),
    ]
    case = case_of(scenario(SPINES, flows))
    assert [nodes(case, i)[2] for i in (1, 2, 3)] == [4, 5, 5]
    assert case.dag.start_ps.tolist() == [1 * US, 3 * US, 6 * US, 9 * US]


def test_a_longer_path_than_the_shortest_may_be_given():
    links = [(0, 2, 100, 1000), (1, 3, 100, 1000), (2, 3, 100, 1000), (2, 4, 100, 1000), (4, 3, 100, 1000)]
    case = case_of(scenario(links, [flow(path=["0", "2", "4", "3", "1"])]))
    assert nodes(case) == [0, 2, 4, 3, 1] and nodes(case, ack=True) == [1, 3, 2, 0]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        (["0", "2", "5", "3"], r"must lead from"),
        (["1", "3", "5", "2", "0"], r"path leads from 1 to 0; it must lead from 0 to 1"),
        (["0", "2", "3", "1"], r"there is no link 2-3; 2 has links to"),
        (["0", "2", "9", "3", "1"], r"node '9' is not in the network"),
        (["0", "1"], r"there is no link 0-1"),
    ],
)
def test_a_path_that_cannot_be_is_refused(path, says):
    with pytest.raises(ScenarioError, match=says):
        case_of(scenario(SPINES, [flow(path=path)]))


def test_an_ack_path_must_lead_back():
    with pytest.raises(ScenarioError, match=r"ack_path leads from 0 to 1; it must lead from 1 to 0"):
        case_of(scenario(SPINES, [flow(ack_path=["0", "2", "5", "3", "1"])]))


def test_hosts_without_a_path_are_refused_with_the_parts_of_the_network():
    with pytest.raises(ScenarioError, match=r"no path from 0 to 1 .* 2 parts"):
        case_of(scenario([(0, 2, 100, 1000), (1, 3, 100, 1000)], [flow()]))


def test_window_of_one_bandwidth_delay_product_by_hand():
    # star of 100 Gb/s and 1 us: 4 us + 2 x 80 ns = 4160 ns: 52 000 B (the HPCC simulator's figure)
    star = [(0, 2, 100, 1000), (1, 2, 100, 1000)]
    case = case_of(scenario(star, [flow()], congestion_control="hpcc"))
    assert (case.table.base_rtt_ps.tolist(), case.table.window_bytes.tolist()) == ([4_160_000], [52_000])
    # over four links 8 us + 4 x 80 ns
    case = case_of(scenario(SPINES, [flow()], window="bdp"))
    assert (case.table.base_rtt_ps.tolist(), case.table.window_bytes.tolist()) == ([8_320_000], [104_000])
    # a slow NIC counts with its own rate: 4 us + 320 ns + 80 ns at 25 Gb/s: 13 750 B
    case = case_of(scenario([(0, 2, 25, 1000), (1, 2, 100, 1000)], [flow()], window="bdp"))
    assert case.table.window_bytes.tolist() == [13_750]


def test_no_window_where_none_is_asked():
    assert case_of(scenario(SPINES, [flow()])).table.window_bytes.tolist() == [0]
    assert case_of(
        scenario(SPINES, [flow()], congestion_control="dctcp", window="none")
    ).table.window_bytes.tolist() == [0]


def test_the_expected_hops_are_those_of_the_run():
    sim = simulate(SPINES, [flow(), flow(bytes=4001, start_us=3), flow(bytes=0)], ack_every=4)
    # 10 and 5 packets with 3 and 2 ACKs over four links each way
    assert sim.case.packet_hops == 4 * (10 + 3 + 5 + 2) == int(sim.state.g[0]["packet_hops"])


def test_flows_of_one_pair_spread_over_equal_paths():
    case = case_of(scenario(SPINES, [flow() for _ in range(64)]))
    used = [nodes(case, i)[2] for i in range(64)]
    assert 16 < used.count(4) < 48
    assert len(np.unique(entropy(case.dag))) == 64


def test_data_and_acks_hash_apart():
    case = case_of(scenario(SPINES, [flow() for _ in range(64)]))
    same = sum(nodes(case, i)[2] == nodes(case, i, ack=True)[2] for i in range(64))
    assert 16 < same < 48


def test_faults_in_order_of_time_with_both_directions():
    faults = [
        {"kind": "degrade", "a": "0", "b": "2", "at_us": 9, "rate_factor": 0.5},
        {"kind": "link-down", "a": "4", "b": "2", "at_us": 2.5},
        {"kind": "loss", "a": "1", "b": "3", "at_us": 4, "probability": 0.1},
    ]
    found = case_of(scenario(SPINES, [flow()], faults=faults)).faults
    assert [(fault.kind, fault.at_ps, fault.value) for fault in found] == [
        ("link-down", 2_500_000, 0.0), ("loss", 4 * US, 0.1), ("degrade", 9 * US, 0.5),
    ]  # fmt: skip
    assert found[0].ports.tolist() == [4, 5]


def test_a_fault_on_a_link_that_is_not_there_is_refused():
    for a, b, says in (("0", "1", "no link 0-1"), ("7", "1", "node '7' is not in the network")):
        with pytest.raises(ScenarioError, match=says):
            case_of(scenario(SPINES, [flow()], faults=[{"kind": "link-down", "a": a, "b": b}]))


def test_only_runs_that_may_lose_packets_time_them():
    down = [{"kind": "link-down", "a": "2", "b": "4", "at_us": 1}]
    slow = [{"kind": "degrade", "a": "2", "b": "4", "at_us": 1, "rate_factor": 0.5}]
    assert case_of(scenario(SPINES, [flow()], faults=down)).settings.has_loss
    assert not case_of(scenario(SPINES, [flow()], faults=slow)).settings.has_loss


def empty_flows_told(data):
    return [notice for notice in case_of(data).notices if "0 bytes" in notice]


def test_empty_flows_come_with_one_notice():
    assert empty_flows_told(scenario(SPINES, [flow(bytes=0), flow(bytes=0)])) == ["flows of 0 bytes are done after their path's delay: 2"]
    others = scenario(SPINES, [flow()]).replace("background", [{"pattern": "random", "flow_bytes": 0, "times": 5}])
    assert empty_flows_told(others) == ["flows of 0 bytes are done after their path's delay: 5"]


def test_more_packets_than_can_be_numbered_are_refused():
    with pytest.raises(ScenarioError, match=r"2\^31 - 1 packets of 1 B; the largest flow .* is 2.15 GB"):
        case_of(scenario(SPINES, [flow(bytes=2**31)], payload_bytes=1))
    assert case_of(scenario(SPINES, [flow(bytes=2**31 - 1)], payload_bytes=1)).dag.n_flows == 1


def test_a_parameter_with_a_wrong_name_is_refused():
    with pytest.raises(ScenarioError, match=r"did you mean 'target'\?"):
        case_of(scenario(SPINES, [flow()], congestion_control="hpcc", parameters={"taget": 0.9}))


def test_a_model_becomes_a_case_with_one_path_per_flow():
    case = case_of(
        Scenario.from_data(
            {
                "cluster": {"topology": "rail-optimised", "gpus": 8, "gpus_per_node": 2, "spines": 2},
                "model": {"layers": 4, "hidden": 64, "heads": 4, "vocabulary": 512, "sequence": 64},
                "parallelism": {"tp": 2, "pp": 2, "dp": 2},
            }
        )
    )
    flows = case.dag.n_flows
    assert flows and len(case.table.data_ptr) == len(case.table.ack_ptr) == flows + 1
    for i in range(flows):
        path, back = nodes(case, i), nodes(case, i, ack=True)
        assert (path[0], path[-1]) == (case.src[i], case.dst[i]) == (back[-1], back[0])
