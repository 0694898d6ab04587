"""No controller: whatever an ACK brings, nothing of the flow changes."""

from tests.congestion.hand import GBPS, US, Flow


def test_marks_and_delay_leave_everything_as_it_is():
    flow = Flow("none")
    before = flow.state.flow[:1].tobytes()
    assert flow.ack(10 * US, 7, marked=True, rtt_ps=9 * US) == flow.at(10**12) == 100 * GBPS
    assert flow.state.flow[:1].tobytes() == before
