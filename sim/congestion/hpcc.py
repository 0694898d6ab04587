"""HPCC: rate and window from in-band telemetry (Li et al., SIGCOMM 2019, algorithm 1), floating-point form.

Every ACK brings, per switch on the data path, the time, the bytes sent and the queue at the
packet's departure. The most loaded hop sets U; the reference rate moves once per round trip, the
sending rate with every ACK (fast reaction).
"""

from numpy import int64

from sim.congestion.clock import pacing_ps
from sim.congestion.model import Parameter
from sim.jit import kernel

NAME = "hpcc"
NUMBER = 2
MARKING = (400.0, 1600.0, 0.2)  # kmin kB, kmax kB, pmax at 100 Gb/s; HPCC simulator's runner
DATA_TELEMETRY_BYTES = 42
ACK_TELEMETRY_BYTES = 28
HAS_WINDOW = True
VAR_WINDOW = True

PARAMETERS = (
    Parameter("target", 0.95, "1", "eta, SIGCOMM 2019 section 3.3; U_TARGET"),
    Parameter("additive_mbps", 40.0, "Mb/s", "RATE_AI of the HPCC simulator's runner at 100 Gb/s; scaled with the line rate"),
    Parameter("max_stage", 0.0, "updates", "maxStage; MI_THRESH of the HPCC simulator's runner"),
    Parameter("min_rate_mbps", 1000.0, "Mb/s", "MIN_RATE of the HPCC simulator's runner"),
    Parameter("fast_react", 1.0, "0 or 1", "FAST_REACT, HPCC simulator"),
)

NOTHING, FAST, FULL = 0, 1, 2  # what an ACK leads to

COLUMNS = (("hpcc_u", "f8"), ("hpcc_reference_bps", "i8"), ("hpcc_update_after", "i8"), ("hpcc_stage", "i8"))


@kernel
def start(s, i):
    F = s.flow[i]
    F.hpcc_u = 1.0
    F.hpcc_reference_bps = F.rate_bps
    F.hpcc_update_after = 0
    F.hpcc_stage = 0


@kernel
def change_rate(s, i, rate):
    """Set the sending rate and move the pending next-send time with it."""
    F = s.flow[i]
    if s.g[0].rate_bound and rate != F.rate_bps:
        g = s.g[0]
        F.next_at += pacing_ps(g, F.last_wire_bytes, rate) - pacing_ps(g, F.last_wire_bytes, F.rate_bps)
    F.rate_bps = rate


@kernel
def store(s, i, k, h):
    """Keep what packet `k` brought from hop `h`: the next ACK is measured against it."""
    g = s.g[0]
    T = s.telemetry[k * g.hops_max + h]
    O = s.telemetry[g.telemetry_flows + i * g.hops_max + h]
    O.time_ps = T.time_ps
    O.tx_bytes = T.tx_bytes
    O.queue_bytes = T.queue_bytes
    O.port = T.port


@kernel
def elapsed(T, O, i):
    """Time between two visits of flow slot `i` at one port; 0 where they were at different ones, after a change of path."""
    return T.time_ps - O.time_ps if T.port == O.port and T.flow == i else int64(0)


@kernel
def reaction(s, i, k):
    """What packet `k` leads to: NOTHING (the first is only stored), a FAST reaction, or once a round trip a FULL one."""
    F = s.flow[i]
    hops = F.hops - 1
    if hops == 0:
        return NOTHING
    if F.hpcc_update_after == 0:
        F.hpcc_update_after = F.next_packet
        for h in range(hops):
            store(s, i, k, h)
        return NOTHING
    if s.packet[k].number > F.hpcc_update_after:
        return FULL
    return FAST if s.g[0].hpcc_fast_react > 0.0 else NOTHING


@kernel
def settle(s, i, rate, stage, full):
    """Send at `rate` within its bounds; once a round trip it becomes the reference."""
    F = s.flow[i]
    rate = min(F.line_bps, max(int64(s.g[0].hpcc_min_rate_bps), rate))
    change_rate(s, i, rate)
    if full:
        F.hpcc_reference_bps = rate
        F.hpcc_stage = stage
        F.hpcc_update_after = max(F.hpcc_update_after, F.next_packet)


@kernel
def on_ack(s, i, k, now):
    what = reaction(s, i, k)
    if what == NOTHING:
        return
    F = s.flow[i]
    g = s.g[0]
    p = s.g[0]
    U = 0.0
    dt = int64(0)
    window = F.window_bytes if F.window_bytes > 0 else max(int64(1), int64(F.base_rtt_ps / 8e12 * F.line_bps))
    for h in range(F.hops - 1):
        T = s.telemetry[k * g.hops_max + h]
        O = s.telemetry[g.telemetry_flows + i * g.hops_max + h]
        tau = elapsed(T, O, i)
        if tau > 0:
            tx_rate = (T.tx_bytes - O.tx_bytes) * 8.0 / (tau / 1000.0 * 1e-9)
            u = tx_rate / T.rate_bps + min(T.queue_bytes, O.queue_bytes) * float(F.line_bps) / T.rate_bps / window
            if u > U:
                U = u
                dt = tau
        store(s, i, k, h)
    rtt_ns = F.base_rtt_ps / 1000.0
    dt_ns = min(dt / 1000.0, rtt_ns)
    F.hpcc_u = (F.hpcc_u * (rtt_ns - dt_ns) + U * dt_ns) / rtt_ns
    excess = F.hpcc_u / p.hpcc_target
    additive = int64(p.hpcc_additive_bps * (F.line_bps / 1e11))
    stage = F.hpcc_stage
    if excess >= 1.0 or stage >= int64(p.hpcc_max_stage):
        rate = int64(F.hpcc_reference_bps / excess) + additive if excess > 0.0 else F.line_bps
        stage = 0
    else:
        rate = F.hpcc_reference_bps + additive
        stage += 1
    settle(s, i, rate, stage, what == FULL)
