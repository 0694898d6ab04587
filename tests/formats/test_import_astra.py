"""ASTRA-sim networks whose NPUs hand on what is not for them: any group on any dimensions runs, with times worked out by hand."""

import json
import tomllib

import numpy as np
import pytest

from sim.accuracy import differing
from sim.errors import FormatError, ScenarioError
from sim.estimate import estimate
from sim.formats.importing import import_with_notices
from sim.modes import make_simulation
from sim.preset import to_toml
from sim.scenario import Scenario
from tests.formats.chakra_files import RECV, SEND, all_reduce, node, trace
from tests.packet.lab import ACK, US, WIRE, ps

SLOT, ANSWER = ps(WIRE, 100), ps(ACK, 100)
FORWARDING = "NPUs that no dimension joins directly reach each other over others, the shortest way; of two equal ways round a ring, the rising one"
ALL_REDUCE, ALL_GATHER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER = 0, 2, 5, 6, 7


def network(*dimensions):
    """network.yml of (shape, NPUs[, GB/s[, ns]])."""
    shapes, npus, rates, delays = zip(*((*given, *(12.5, 1000)[len(given) - 2 :]) for given in dimensions), strict=True)
    return f"topology: [{', '.join(shapes)}]\nnpus_count: {list(npus)}\nbandwidth: {list(rates)}\nlatency: {list(delays)}\n".encode()


def of_group(ranks, members, size, comm_type=ALL_REDUCE):
    """Files of one collective over a process group of some of the ranks."""
    entered = [all_reduce(1, size, comm_type=comm_type, pg_name="some")]
    files = {f"t.{rank}.et": trace(*(entered if rank in members else [])) for rank in range(ranks)}
    return {**files, "groups.json": json.dumps({"some": members}).encode()}


def sent(ranks, src, dst, size):
    """Files of one message."""
    rows = {src: [node(1, SEND, comm_size=size, comm_dst=dst)], dst: [node(1, RECV, comm_size=size, comm_src=src)]}
    return {f"t.{rank}.et": trace(*rows.get(rank, [])) for rank in range(ranks)}


def imported(files, *dimensions, **more):
    scenario, said = import_with_notices("astra", {**files, "network.yml": network(*dimensions), **more})
    assert Scenario.from_data(tomllib.loads(to_toml(scenario))) == scenario
    return scenario, said


def ran(scenario, mode="packet"):
    sim = make_simulation(scenario, mode)
    while not sim.advance():
        pass
    result = sim.result()
    assert result.status == "finished", result.notices
    return result


def ends_ps(result):
    return int(result.raw.end_ps.max())


@pytest.mark.parametrize("src, dst", [(0, 2), (2, 0), (3, 1)])
def test_a_message_to_the_other_side_of_a_ring_of_four(src, dst):
    scenario, said = imported(sent(4, src, dst, 10_000), ("Ring", 4))
    assert scenario.cluster.hosts_forward and FORWARDING in said
    result = ran(scenario)
    assert ends_ps(result) == 11 * SLOT + 2 * US and result.raw.acked_ps.tolist() == [11 * SLOT + 4 * US + 2 * ANSWER]
    assert [result.network.port_name(port) for port in result.flow_path(0)] == [f"{src}->{(src + 1) % 4}", f"{(src + 1) % 4}->{dst}"]


@pytest.mark.parametrize("members", [[0, 2], [1, 3], [2, 0]])
def test_an_all_reduce_of_opposite_npus(members):
    """Two steps of ten packets over two links; the last ACK of the first step goes before the second's data."""
    scenario, _ = imported(of_group(4, members, 20_000), ("Ring", 4))
    assert ends_ps(ran(scenario)) == 22 * SLOT + 4 * US + ANSWER


def test_an_all_reduce_of_three_of_four():
    """Of four steps in a row two at most are the one from 1 to 3, over two links; ACKs in between take less than a packet."""
    scenario, _ = imported(of_group(4, [0, 1, 3], 30_000), ("Ring", 4))
    alone = 2 * (10 * SLOT + US) + 2 * (11 * SLOT + 2 * US)
    assert alone <= ends_ps(ran(scenario)) < alone + SLOT


def test_neighbours_take_what_they_took_without_forwarding():
    scenario, _ = imported(of_group(6, list(range(6)), 600_000), ("Ring", 6))
    data = tomllib.loads(to_toml(scenario))
    del data["cluster"]["hosts_forward"]
    assert differing(ran(scenario), ran(Scenario.from_data(data))) == {}


def test_dimensions_that_join_everybody_do_not_forward():
    for dimension in (("Switch", 8), ("FullyConnected", 5), ("Ring", 3)):
        scenario, said = imported(sent(dimension[1], 0, 2, 1000), dimension)
        assert not scenario.cluster.hosts_forward and FORWARDING not in said


def test_the_algorithm_that_is_given_runs_on_a_ring():
    system = json.dumps({"all-to-all-implementation": ["direct"], "all-reduce-implementation": ["halvingDoubling"]}).encode()
    scenario, _ = imported(of_group(8, list(range(8)), 80_000, ALL_TO_ALL), ("Ring", 8), **{"system.json": system})
    assert scenario.program.all_to_all == ("direct",) and scenario.program.all_reduce == ("halving-doubling",)
    result = ran(scenario)
    assert len(result.flows) == 56 and np.unique(np.diff(result.raw.data_ptr), return_counts=True)[1].tolist() == [16, 16, 16, 8]


CASES = {
    "opposite": (of_group(4, [0, 2], 100_000), (("Ring", 4),)),
    "three of four": (of_group(4, [0, 1, 3], 100_000), (("Ring", 4),)),
    "all to all": (of_group(8, list(range(8)), 400_000, ALL_TO_ALL), (("Ring", 8),)),
    "across a mesh of rings": (of_group(8, [0, 3, 5, 6], 100_000, ALL_GATHER), (("FullyConnected", 4), ("Ring", 2))),
    "rings of unlike links": (of_group(12, [0, 5, 7, 10], 100_000, REDUCE_SCATTER), (("Ring", 4, 50, 500), ("Ring", 3))),
    "ring and switch": (of_group(8, [0, 1, 6], 100_000), (("Ring", 4), ("Switch", 2, 25, 700))),
    "three dimensions": (of_group(16, [15, 0, 9, 2, 5], 50_000, ALL_TO_ALL), (("FullyConnected", 2), ("Ring", 4), ("Switch", 2))),
    "a message through three": (sent(16, 0, 15, 100_000), (("FullyConnected", 2), ("Ring", 4), ("Switch", 2))),
}


@pytest.mark.parametrize("name", CASES)
def test_every_mode_runs_it(name):
    files, dimensions = CASES[name]
    scenario, _ = imported(files, *dimensions)
    packet, wormhole, flow = (ran(scenario, mode) for mode in ("packet", "wormhole", "flow"))
    assert differing(packet, wormhole) == {}
    assert flow.flows["fct_s"].gt(0).all() and 0.5 < ends_ps(flow) / ends_ps(packet) < 2
    assert estimate(scenario).packet_hops == packet.raw.counters["packet_hops"]


def test_a_ring_too_long_for_a_path_is_refused():
    with pytest.raises(ScenarioError, match="the path from 0 to 300 has 300 links: at most 255 are simulated"):
        import_with_notices("astra", {**sent(600, 0, 300, 1000), "network.yml": network(("Ring", 600))})


@pytest.mark.parametrize("traces", [{}, {f"t.{rank}.et": trace(all_reduce(1, 100)) for rank in range(4)}])
@pytest.mark.parametrize("text, near", [
    ('{"all-reduce-implementatio": ["direct"]}', "all-reduce-implementation"), ('{"preferred-dataset-split": 4}', "preferred-dataset-splits"),
])  # fmt: skip
def test_a_misspelt_setting_is_told_with_and_without_traces(traces, text, near):
    with pytest.raises(FormatError, match=f"s.json:1: group .* must be a list of ranks from 0 to 3.* did you mean '{near}'"):
        imported(traces, ("Switch", 4), **{"s.json": text.encode()})


def test_groups_without_traces_are_read_and_said_to_have_no_effect():
    _, said = imported({}, ("Switch", 4), **{"g.json": b'{"a": [0, 1]}'})
    assert "g.json: process groups are without effect where no trace is given" in said


@pytest.mark.parametrize("attribute", ["comm_src", "root", "root_rank"])
def test_a_broadcast_starts_at_its_root(attribute):
    """Ten packets to the switch and on, from 2 to 3, 3 to 0, 0 to 1; the last ACK of a step goes before the next one's data."""
    files = {f"t.{rank}.et": trace(all_reduce(1, 10_000, comm_type=BROADCAST, **{attribute: 2})) for rank in range(4)}
    result = ran(imported(files, ("Switch", 4))[0])
    assert list(zip(result.flows["src"], result.flows["dst"], strict=True)) == [(2, 3), (3, 0), (0, 1)]
    assert ends_ps(result) == 3 * (11 * SLOT + 2 * US) + 2 * ANSWER


def test_a_broadcasts_root_is_a_rank_among_all_in_its_group():
    def files(members, **root):
        entered = {rank: [all_reduce(1, 1000, comm_type=BROADCAST, pg_name="some", **root)] for rank in members}
        return {**{f"t.{rank}.et": trace(*entered.get(rank, [])) for rank in range(4)}, "g.json": json.dumps({"some": members}).encode()}

    result = ran(imported(files([1, 3], root=3), ("Switch", 4))[0])
    assert list(zip(result.flows["src"], result.flows["dst"], strict=True)) == [(3, 1)]
    with pytest.raises(FormatError, match=r"t.1.et: node 1: root 2 .* not in group 'some', whose ranks are \[1, 3\]; the nearest is 1"):
        imported(files([1, 3], root=2), ("Switch", 4))
    with pytest.raises(FormatError, match="node 1: comm_src 1 and root 3 disagree on the root of a broadcast; give one"):
        imported(files([1, 3], root=3, comm_src=1), ("Switch", 4))
    with pytest.raises(FormatError, match="root 4: must be from 0 to 3; the nearest is 3"):
        imported(files([1, 3], root=4), ("Switch", 4))


@pytest.mark.parametrize("collective, comm_type, word, instead, messages", [
    ("all-gather", ALL_GATHER, "doubleBinaryTree", "ring", 12), ("reduce-scatter", REDUCE_SCATTER, "doubleBinaryTree", "ring", 12),
    ("all-to-all", ALL_TO_ALL, "doubleBinaryTree", "direct", 12), ("all-to-all", ALL_TO_ALL, "halvingDoubling", "direct", 12),
    ("all-to-all", ALL_TO_ALL, "oneHalvingDoubling", "direct", 12), ("all-gather", ALL_GATHER, "oneDoubleBinaryTree", "ring", 12),
])  # fmt: skip
def test_an_algorithm_that_a_collective_does_not_have_is_replaced_and_said(collective, comm_type, word, instead, messages):
    system = json.dumps({"peak-perf": 1, f"{collective}-implementation": [word]}, indent=0).encode()
    scenario, said = imported(of_group(4, [0, 1, 2, 3], 40_000, comm_type), ("Switch", 4), **{"mysys.json": system})
    assert len(ran(scenario).flows) == messages
    (line,) = [line for line in said if "runs instead" in line]
    assert line.startswith(f"mysys.json:3: {collective}-implementation: ") and line.endswith(f"not for {collective}: {instead} runs instead")


def test_an_algorithm_is_replaced_along_its_dimension_and_on_a_ring_by_what_goes_round():
    system = json.dumps({"all-to-all-implementation": ["halvingDoubling", "direct"]}).encode()
    scenario, _ = imported(of_group(8, list(range(8)), 8_000, ALL_TO_ALL), ("Ring", 4), ("Switch", 2), **{"s.json": system})
    assert scenario.program.all_to_all == ("ring", "direct")
