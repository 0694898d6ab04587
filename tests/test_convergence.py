"""An episode's flows simulated alone: which they are and what they had left, rates by hand, and the run's own times where they began together."""

import numpy as np
import pytest

from sim.convergence import Settling, longest_episode
from sim.errors import RunError
from sim.preset import load_preset
from sim.wormhole_simulation import WormholeSimulation
from tests.packet.lab import ACK, US, WIRE
from tests.wormhole.twins import finished, lone, star, twin_incasts

LINE = 100e9
PAYLOAD_BPS = LINE * 1000 / WIRE  # of a link full of packets
T = WIRE * 80  # ps: a full packet at 100 Gb/s


def settled(result, pattern_id=0, budget=10**6, **options):
    run = Settling(result, longest_episode(result, pattern_id), **options)
    while not run.advance(budget):
        pass
    return run, run.curves()


def two_to_one(size=500_000):
    return finished(star((0, 1, 2)), [(0, 2, size), (1, 2, size)], 3).result()


def test_two_flows_into_one_port_converge_to_half_the_line_each():
    run, curves = settled(two_to_one())
    assert curves.fair_bps == pytest.approx([PAYLOAD_BPS / 2] * 2)
    packet_bps = 1000 * 8e12 / (curves.times_ps[curves.until] * 0.25)
    assert curves.end_bps() == pytest.approx(curves.fair_bps, abs=packet_bps)
    assert 2 * US < curves.converged_ps() < 6 * US and curves.stopped == ""
    assert run.expected_hops == curves.packet_hops == 2 * 500 * (2 + 2)


def test_a_lone_flow_runs_at_line_rate_from_its_first_packet_on():
    _, curves = settled(lone(200_000).result())
    assert curves.fair_bps == pytest.approx([PAYLOAD_BPS]) and curves.end_bps() == pytest.approx([PAYLOAD_BPS], rel=0.02)
    arrived = curves.times_ps[np.flatnonzero(curves.delivered_bytes[:, 0])[0]]
    step = curves.times_ps[1]
    assert 2 * US + 2 * T <= arrived < 2 * US + 2 * T + step, "two links of 1 us, stored once on the way"
    assert curves.converged_ps() < 4 * US and len(curves.ports) == 2 and curves.queue_bytes.max() <= 2 * WIRE


def test_the_queue_of_the_shared_port_is_what_came_in_and_did_not_go_out():
    """Two senders at line rate fill it as fast as it is drained: after n packets of each, n are waiting, but for those under way."""
    result = two_to_one(100_000)
    _, curves = settled(result)
    port = int(np.argmax(curves.queue_bytes.max(axis=0)))
    assert result.network.port_name(int(curves.ports[port])) == "3->2" and len(curves.ports) == 2
    assert curves.queue_bytes[:, port].max() == pytest.approx(99 * WIRE, abs=2 * WIRE)
    waiting = np.argmax(curves.queue_bytes[:, port])
    assert curves.times_ps[waiting] == pytest.approx(100 * T + US, abs=3 * T)


def test_flows_that_began_together_do_what_they_did_in_the_run():
    run = WormholeSimulation(load_preset("incast-16"))
    while not run.in_packets:
        run.advance()
    result = run.run()
    episode = longest_episode(result, 0)
    assert episode.fresh and episode.start_ps == 0 and (episode.left_bytes == result.dag.flow_bytes).all()
    whole = Settling(result, type(episode)(**{**vars(episode), "end_ps": 2 * result.raw.end_ps_last}), samples=37)
    while not whole.advance(10**6):
        pass
    curves = whole.curves()
    assert curves.ended_ps.tolist() == result.raw.end_ps.tolist() and curves.stopped == "every flow has ended"
    assert (curves.delivered_bytes[-1] == result.dag.flow_bytes).all() and (np.diff(curves.delivered_bytes, axis=0) >= 0).all()


@pytest.mark.parametrize("samples", [10, 400])
def test_how_often_it_is_looked_at_changes_nothing(samples):
    result = two_to_one(100_000)
    _, curves = settled(result, samples=samples, budget=50)
    _, other = settled(result)
    assert curves.packet_hops == other.packet_hops and curves.ended_ps.tolist() == other.ended_ps.tolist()
    assert len(curves.times_ps) <= samples + 1 and curves.times_ps[-1] >= result.raw.end_ps.max()


def test_a_limit_of_packet_hops_ends_it_early_and_says_so():
    run, curves = settled(two_to_one(), most_hops=1000)
    assert run.done and curves.stopped == "1 k packet-hops are enough" and 1000 <= curves.packet_hops < 1100
    assert run.fraction == 1.0 and curves.times_ps[-1] < curves.length_ps


def test_progress_goes_from_nothing_to_all():
    run = Settling(two_to_one(), longest_episode(two_to_one(), 0))
    assert run.fraction == 0.0 and not run.begun
    run.advance(500)
    assert run.begun and 0.05 < run.fraction < 0.5


def test_pauses_of_the_kernel_do_not_end_an_episode():
    result = lone(20_000_000).result()
    assert len(result.episodes) > 1
    episode = longest_episode(result, 0)
    assert (episode.start_ps, episode.end_ps) == (0, result.raw.acked_ps[0])


def test_what_flows_had_left_that_were_under_way_before():
    """Flow 0 is alone for 40 us; then the other starts, and both are in the only episode of two flows."""
    result = finished(star((0, 1, 2)), [(0, 2, 1_000_000), (1, 2, 600_000, 40.0)], 3).result()
    pattern = int(result.patterns.loc[result.patterns["flows"] == 2, "pattern_id"].iloc[0])
    episode = longest_episode(result, pattern)
    assert episode.flows.tolist() == [0, 1] and not episode.fresh and episode.start_ps == 40 * US
    passed = 40 * US / result.raw.acked_ps[0]
    assert episode.left_bytes.tolist() == pytest.approx([1_000_000 * (1 - passed), 600_000], abs=1)
    assert episode.end_ps == min(result.raw.acked_ps)


def test_of_twins_it_is_one_whose_times_fit():
    result = twin_incasts(start_us=3.0).result()
    assert longest_episode(result, 0).flows.tolist() in ([0, 1], [2, 3])
    assert longest_episode(twin_incasts().result(), 0).flows.tolist() == [0, 1]


def test_acks_and_headers_lower_the_fair_share():
    """Both ways at once: every packet meets the ACK of one that goes the other way."""
    result = finished(star((0, 1)), [(0, 1, 500_000), (1, 0, 500_000)], 2).result()
    _, curves = settled(result)
    assert curves.fair_bps == pytest.approx([LINE * 1000 / (WIRE + ACK)] * 2)
    assert curves.end_bps() == pytest.approx(curves.fair_bps, rel=0.02)


def test_patterns_that_are_not_there_are_refused():
    result = two_to_one()
    with pytest.raises(RunError, match="pattern 7: the result has 2 patterns"):
        longest_episode(result, 7)
    result.episodes = result.episodes.head(0)
    with pytest.raises(RunError, match="pattern 0: none of its episodes is in the result"):
        longest_episode(result, 0)


def test_flows_that_went_other_ways_since_are_not_taken_for_those_of_the_pattern():
    result = two_to_one()
    result.raw.data_ports = result.raw.data_ports ^ 1
    result.raw.data_ports[0] = result.raw.data_ports[2]
    with pytest.raises(RunError, match="cannot be told from the flows"):
        longest_episode(result, 0)
