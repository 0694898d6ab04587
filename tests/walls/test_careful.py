"""Ports walked one by one equal all ports of a switch walked jointly, wherever the fast way is taken."""

import pytest

from tests.walls.runs import EVERY_CONTROLLER, differences, fabric, incast, run, training


@pytest.mark.parametrize("control", EVERY_CONTROLLER)
@pytest.mark.parametrize(
    "transport",
    [
        {"ecn_kmin_kb": 5, "ecn_kmax_kb": 60},
        {"ack_priority": "strict", "ack_every": 2, "window": "none"},
        {"pfc": "fixed", "pfc_xoff_kb": 500},
        {"pfc": "off"},
    ],
    ids=["marked", "ACKs first", "fixed thresholds", "no PFC"],
)
@pytest.mark.parametrize("make", [fabric, incast])
def test_careful_equals_default_where_nothing_pauses(make, control, transport):
    fast, careful = run(make(control, **transport)), run(make(control, **transport), careful=True)
    assert fast["pfc_pauses"] == 0
    assert differences(fast, careful) == {}


@pytest.mark.parametrize("control", EVERY_CONTROLLER)
@pytest.mark.parametrize(
    ("transport", "shows"),
    [
        ({"pfc": "fixed", "pfc_xoff_kb": 20}, "pfc_pauses"),
        ({"pfc": "off", "buffer_mb": 0.05, "retransmit_timeout_us": 100}, "drops"),
    ],
)
def test_the_default_takes_care_in_time(control, transport, shows):
    fast, careful = run(fabric(control, 60_000, **transport)), run(fabric(control, 60_000, **transport), careful=True)
    assert fast[shows] > 0
    assert differences(fast, careful) == {}


def test_careful_equals_default_for_training():
    assert differences(run(training()), run(training(), careful=True)) == {}
