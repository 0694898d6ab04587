"""The claim of level exact: every time, count and queue maximum equals packet mode's, whatever the scenario."""

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sim.case import case_of
from sim.errors import ScenarioError
from sim.preset import load_preset
from sim.scenario import Scenario
from sim.wormhole.memo import Store
from sim.wormhole_simulation import WormholeSimulation
from tests.packet import lab
from tests.walls import runs
from tests.walls.random_scenarios import scenarios
from tests.walls.runs import EVERY_CONTROLLER, arrays, differences, finish

NO_GUARD = 0  # never gives up
CURVES = "series_"  # episodes' bytes are spread evenly over the time bins
pytestmark = pytest.mark.timeout(240, method="thread")


def wormhole(data, **options):
    """A finished run of scenario data with the wormhole kernel."""
    return finish(WormholeSimulation(case_of(Scenario.from_data(data)), **{"guard": NO_GUARD, **options}))


def compare(data, budget=runs.ENOUGH, **options):
    """What differs between packet mode and the wormhole kernel; the latter's run."""
    packet = finish(runs.simulation(data))
    found = finish(WormholeSimulation(case_of(Scenario.from_data(data)), **{"guard": NO_GUARD, **options}), budget)
    first, second = (
        {name: values for name, values in arrays(sim).items() if not name.startswith(CURVES) and name != "bin_ps"}
        for sim in (packet, found)
    )
    return differences(first, second), found


@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(scenarios(), st.sampled_from(((True, True), (True, False), (False, True))), st.sampled_from((2, 32)))
def test_any_scenario_equals_packet_mode(data, switches, large):
    replay, skip = switches
    try:
        different, _ = compare(data, replay=replay, skip=skip, large=large)
    except ScenarioError:
        assume(False)
    assert different == {}


SMALL_PRESETS = (
    "incast-16", "incast-16-hpcc", "gpt-small-16", "gpt-small-16-slow-link", "fat-tree-ring", "leaf-spine-oversubscribed",
    "link-failure", "parallel-links", "straggler", "lossy-link", "pfc-storm", "all-reduce-64",
)  # fmt: skip


@pytest.mark.parametrize("name", SMALL_PRESETS)
def test_presets_equal_packet_mode(name):
    different, _ = compare(load_preset(name).model_dump(mode="json"))
    assert different == {}


@pytest.mark.parametrize("controller", EVERY_CONTROLLER)
@pytest.mark.parametrize("pfc", [{"pfc": "fixed", "pfc_xoff_kb": 12.0}, {"pfc": "off", "buffer_mb": 0.05}])
def test_contended_fabrics_equal_packet_mode(controller, pfc):
    for large in (8, 1000):
        different, _ = compare(runs.fabric(controller, 30_000, ecn_kmin_kb=5.0, ecn_kmax_kb=20.0, **pfc), large=large)
        assert different == {}


@pytest.mark.parametrize("controller", EVERY_CONTROLLER)
def test_training_equals_packet_mode(controller):
    data = runs.training()
    different, found = compare({**data, "transport": {"congestion_control": controller}})
    assert different == {}
    assert found.kernel_counters()["packet_hops"]["replayed"] > 0


@pytest.mark.parametrize("at_us", [0.5, 1.0, 4.19808, 5.0, 6.3, 8.39616, 20.0, 60.0])
def test_an_entry_at_any_moment(at_us):
    """Inside a transient, a periodic stretch, a replay, and at the very instant of a completion: flow 2 enters beside two twins."""
    twins = [{"src": 0, "dst": 4, "bytes": 400_000}, {"src": 1, "dst": 5, "bytes": 400_000, "start_us": 50.0}]
    late = {"src": 2, "dst": 4, "bytes": 5_000, "start_us": at_us}
    data = {**runs.fabric(pattern="flows"), "traffic": {"pattern": "flows", "flows": [*twins, late]}}
    for budget in (runs.ENOUGH, 50):
        different, _ = compare(data, budget)
        assert different == {}


def test_what_is_forgotten_is_found_out_again():
    data = runs.training()
    packet = finish(runs.simulation(data)).result().raw.acked_ps.tolist()
    assert wormhole(data, most_words=1 << 12).result().raw.acked_ps.tolist() == packet


def test_a_memo_serves_the_next_run_and_changes_no_bit():
    store, found = Store(), []
    for _ in range(2):
        sim = wormhole(runs.training(), memo=store)
        sim.keep()
        found.append((arrays(sim)["acked_ps"].tolist(), sim.kernel_counters()["packet_hops"]))
    assert found[0][0] == found[1][0]
    assert found[0][1]["executed"] > 0 and found[1][1]["executed"] == 0


LATE = [(0, 2, 100, 3333), (2, 1, 25, 1), (1, 3, 100, 1), (3, 0, 100, 1)]  # pauses come slowly over the first link, ACKs at once over the last


@pytest.mark.parametrize("gap_us", [None, 0.1, 2.0])
def test_a_pause_that_outlives_its_flow(gap_us):
    """When the last ACK is there the resume frame is still under way: the run may end, or another flow meet the pause."""
    flow = {"src": 0, "dst": 1, "bytes": 47_000, "path": ["0", "2", "1"], "ack_path": ["1", "3", "0"]}
    first = lab.simulate(LATE, [flow], pfc="fixed", pfc_xoff_kb=10.48)
    assert lab.port(first, 0, 2)["paused"] == 1
    assert first.state.g[0]["active_flows"] == 1  # it stays as long as its port is paused
    flows = [flow] if gap_us is None else [flow, {**flow, "start_us": lab.fct_ps(first)[0] / lab.US + gap_us}]
    data = lab.scenario(LATE, flows, pfc="fixed", pfc_xoff_kb=10.48).model_dump(mode="json", exclude_unset=True)
    different, _ = compare(data)
    assert different == {}


def test_a_crowd_of_acks_at_nics_when_the_run_goes_over_to_packets():
    data = {
        "cluster": {"topology": "fat-tree", "fat_tree_k": 4, "gpus": 16, "gpus_per_node": 1, "nvlink_gbps": 0, "nic_gbps": 100, "fabric_gbps": 400},
        "traffic": {"pattern": "ring", "flow_bytes": 3000},
        "transport": {"congestion_control": "none", "payload_bytes": 1, "pfc": "fixed", "pfc_xoff_kb": 10.0, "window": "none"},
    }  # fmt: skip
    different, found = compare(data, guard=1)
    assert different == {}
    assert found.in_packets
