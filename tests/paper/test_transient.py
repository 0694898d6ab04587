"""A cut-out simulated alone: the packets of the whole network, to the picosecond; ends, cuts and what is made again."""

import numpy as np
import pytest

from sim.case import case_of
from sim.flow_level_paths import volumes
from sim.paper.carry import Carry
from sim.paper.fabric import Fabric
from sim.paper.transient import SAMPLE_PS, Transient
from sim.preset import load_preset
from sim.simulation import Simulation
from tests.packet.lab import scenario

STAR = [(host, 3, 100, 1000) for host in range(3)]
T = 83_840  # ps: a full packet at 100 Gb/s
ENOUGH = 10**9


def transient_of(given, flows=None, **options):
    case = case_of(given)
    fabric, carry = Fabric(case, case.table, volumes(case).wire_bits, case.network.port_rate_bps), Carry(case.settings)
    flows = list(range(case.dag.n_flows)) if flows is None else flows
    return Transient(fabric, carry, flows, carry.rows(len(flows)), case.table.size_bytes[flows], **options)


def two_to_one(a=100_000, b=50_000):
    return scenario(STAR, [(0, 2, a), (1, 2, b)], hosts=3)


def test_a_lone_flow_delivers_evenly_from_the_start_and_ends_with_its_last_packet():
    alone = transient_of(scenario(STAR, [(0, 2, 100_000)], hosts=3))
    alone.catch_up(5, ENOUGH)
    # 5 us are 59.6 packets; the history is read between whole samples, a packet either way
    assert alone.delivered_bytes()[0] == pytest.approx(59_600, abs=1000) and np.isinf(alone.ends()).all()
    alone.catch_up(20, ENOUGH)
    assert alone.ends()[0] * SAMPLE_PS == pytest.approx(100 * T, abs=1) and alone.delivered_bytes()[0] == 100_000


def test_two_flows_share_a_port():
    both = transient_of(two_to_one())
    both.catch_up(4, ENOUGH)
    assert both.delivered_bytes() == pytest.approx([23_850, 23_850], abs=1000)
    both.catch_up(20, ENOUGH)
    assert both.ends() * SAMPLE_PS == pytest.approx([150 * T, 100 * T], abs=T)


@pytest.mark.parametrize("name", ["incast-16", "parallel-links"])
def test_a_cut_out_is_the_network_to_its_flows(name):
    given = load_preset(name)
    alone, whole = transient_of(given), Simulation(given).run()
    alone.catch_up(3000, ENOUGH)
    ended_ps = alone.plan.node["ended"][:-1]
    assert (ended_ps == whole.raw.end_ps).all() and (ended_ps > 0).all()


def test_flows_of_one_part_of_a_network_are_cut_out_alone():
    given = load_preset("fat-tree-ring")
    whole, some = Simulation(given).run(), transient_of(given, [0])
    some.catch_up(400, ENOUGH)
    links = {port >> 1 for port in (*whole.flow_path(0), *whole.raw.ack_ports[: whole.raw.ack_ptr[1]].tolist())}
    assert some.case.network.n_ports == 2 * len(links) and some.ports.tolist() == sorted(p for link in links for p in (2 * link, 2 * link + 1))
    assert 0 < some.plan.node["ended"][0] <= whole.raw.end_ps[0]


def test_endless_flows_go_on():
    endless = transient_of(two_to_one(), endless=True)
    endless.catch_up(100, ENOUGH)
    assert np.isinf(endless.ends()).all() and endless.delivered_bytes().sum() == pytest.approx(100 * SAMPLE_PS / T * 1000, rel=0.01)


def test_it_goes_on_as_a_new_episode_and_can_be_made_again():
    one = transient_of(two_to_one())
    one.catch_up(9, ENOUGH)
    passed = one.ends()[1] if np.isfinite(one.ends()[1]) else 9.0
    again = one.go_on(np.array([0]), passed, one.delivered_bytes()[:1], np.array([100_000 - one.delivered_bytes()[0]]))
    other = again(False)
    for transient in (one, other):
        transient.catch_up(3, ENOUGH)
    assert one.delivered_bytes() == pytest.approx(other.delivered_bytes()) and one.delivered_bytes()[0] > 20_000
    for transient in (one, other):
        transient.catch_up(20, ENOUGH)
    assert one.ends() == other.ends() and (one.ends() + passed) * SAMPLE_PS == pytest.approx(150 * T, abs=T)


def test_what_was_skipped_is_sent_no_more():
    """Two long flows have moved on without their packets: the one that stays sends 200 kB more, the other what it has under way."""
    one = transient_of(two_to_one(1_000_000, 1_000_000))
    one.catch_up(8, ENOUGH)
    ahead = one.state.flow["next_packet"].max() * 1000 - one.delivered_bytes()[1]
    again = one.go_on(np.array([0]), 8.0, one.delivered_bytes()[:1], np.array([200_000.0]))
    for transient in (one, again(False)):
        transient.catch_up(40, ENOUGH)
        assert transient.delivered_bytes()[0] == pytest.approx(200_000, abs=1000)
        assert transient.ends()[0] * SAMPLE_PS == pytest.approx((200_000 + ahead) / 1000 * T, abs=2 * T)
    assert one.ends() == transient.ends()


def test_a_budget_ends_it_between_samples():
    case = transient_of(two_to_one())
    steps = 0
    while not case.catch_up(12, 500):
        steps += 1
    whole = transient_of(two_to_one())
    whole.catch_up(12, ENOUGH)
    assert steps > 3 and case.delivered_bytes().tolist() == whole.delivered_bytes().tolist()
