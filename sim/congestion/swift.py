"""Swift: a window held by end-to-end delay against a target (Kumar et al., SIGCOMM 2020, section 3).

The target is the flow's unloaded round trip plus an allowed queueing delay that grows as the window
shrinks (flow scaling, section 3.5), so that many flows share a port without starving. A window below
one packet becomes pacing.
"""

from math import sqrt

from numpy import int64

from sim.congestion.model import Parameter
from sim.jit import kernel

NAME = "swift"
NUMBER = 5
MARKING = (400.0, 1600.0, 0.2)  # kmin kB, kmax kB, pmax at 100 Gb/s; HPCC simulator's runner
DATA_TELEMETRY_BYTES = 8
ACK_TELEMETRY_BYTES = 0
HAS_WINDOW = False
VAR_WINDOW = False

PARAMETERS = (
    Parameter("queue_target_us", 5.0, "us", "queueing allowed above the unloaded round trip; our choice for 100-400 Gb/s fabrics"),
    Parameter("flow_scaling_us", 10.0, "us", "fs_range: largest extra target, SIGCOMM 2020 section 3.5"),
    Parameter("flow_scaling_min", 0.1, "packets", "fs_min_cwnd, SIGCOMM 2020 section 3.5"),
    Parameter("flow_scaling_max", 100.0, "packets", "fs_max_cwnd, SIGCOMM 2020 section 3.5"),
    Parameter("additive", 1.0, "packets per round trip", "ai, SIGCOMM 2020 section 3.4"),
    Parameter("beta", 0.8, "1", "beta, SIGCOMM 2020 section 3.4"),
    Parameter("max_cut", 0.5, "1", "max_mdf, SIGCOMM 2020 section 3.4"),
    Parameter("min_window", 0.01, "packets", "min_cwnd, SIGCOMM 2020 section 3.4"),
)

COLUMNS = (("swift_window", "f8"), ("swift_cut_at", "i8"))


@kernel
def _apply(s, i, rtt):
    F = s.flow[i]
    payload = s.g[0].payload
    if F.swift_window >= 1.0:
        F.window_bytes = int64(F.swift_window * payload)
        F.rate_bps = F.line_bps
    else:
        F.window_bytes = payload
        wire_bits = (payload + s.g[0].header) * 8.0
        F.rate_bps = max(int64(1000000), int64(F.swift_window * wire_bits * 1e12 / max(rtt, int64(1))))


@kernel
def start(s, i):
    F = s.flow[i]
    F.swift_window = max(1.0, F.base_rtt_ps * 1e-12 * F.line_bps / 8.0 / s.g[0].payload)
    F.swift_cut_at = -int64(2**61)
    _apply(s, i, F.base_rtt_ps)


@kernel
def on_ack(s, i, k, now):
    """Add one packet per round trip below the target; cut at most once per round trip above it."""
    F = s.flow[i]
    p = s.g[0]
    rtt = now - s.packet[k].stamp
    low = 1.0 / sqrt(p.swift_flow_scaling_max)
    slope = p.swift_flow_scaling_ps / (1.0 / sqrt(p.swift_flow_scaling_min) - low)
    scaling = min(p.swift_flow_scaling_ps, max(0.0, slope * (1.0 / sqrt(F.swift_window) - low)))
    target = F.base_rtt_ps + p.swift_queue_target_ps + scaling
    if rtt <= target:
        if F.swift_window >= 1.0:
            F.swift_window += p.swift_additive / F.swift_window
        else:
            F.swift_window += p.swift_additive
    elif now - F.swift_cut_at >= rtt:
        cut = max(1.0 - p.swift_beta * (rtt - target) / rtt, 1.0 - p.swift_max_cut)
        F.swift_window *= cut
        F.swift_cut_at = now
    most = max(1.0, F.base_rtt_ps * 1e-12 * F.line_bps / 8.0 / s.g[0].payload) * 2.0
    F.swift_window = min(most, max(p.swift_min_window, F.swift_window))
    _apply(s, i, rtt)
