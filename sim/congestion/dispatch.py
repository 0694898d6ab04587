"""The compiled switchboard: which controller's function runs, by number.

To add a controller: write its file, list it in `registry.CONTROLLERS`, add its branch below.
"""

from sim.congestion import dcqcn, dctcp, hpcc, hpcc_fixed, swift, timely
from sim.jit import kernel


@kernel
def start(s, i):
    """A flow enters: let its controller set its row."""
    which = s.g[0].controller
    if which == dcqcn.NUMBER:
        dcqcn.start(s, i)
    elif which == hpcc.NUMBER:
        hpcc.start(s, i)
    elif which == hpcc_fixed.NUMBER:
        hpcc_fixed.start(s, i)
    elif which == timely.NUMBER:
        timely.start(s, i)
    elif which == dctcp.NUMBER:
        dctcp.start(s, i)
    elif which == swift.NUMBER:
        swift.start(s, i)


@kernel
def catch_up(s, i, now):
    """Bring timer-driven state to `now` before the rate is read."""
    if s.g[0].controller == dcqcn.NUMBER and s.flow[i].dcqcn_started:
        dcqcn.catch_up(s, i, now)


@kernel
def on_ack(s, i, k, now):
    """An ACK arrived: let the controller of flow slot `i` act on packet `k`."""
    which = s.g[0].controller
    if which == dcqcn.NUMBER:
        dcqcn.on_ack(s, i, k, now)
    elif which == hpcc.NUMBER:
        hpcc.on_ack(s, i, k, now)
    elif which == hpcc_fixed.NUMBER:
        hpcc_fixed.on_ack(s, i, k, now)
    elif which == timely.NUMBER:
        timely.on_ack(s, i, k, now)
    elif which == dctcp.NUMBER:
        dctcp.on_ack(s, i, k, now)
    elif which == swift.NUMBER:
        swift.on_ack(s, i, k, now)
