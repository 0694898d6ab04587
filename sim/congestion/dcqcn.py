"""DCQCN: rate control from ECN marks (Zhu et al., SIGCOMM 2015), timers as in the HPCC simulator.

The receiver echoes every mark; the sender looks at what it collected once per decrease interval.
All timers are derived from the first mark, so they need no events: `catch_up` applies the ones
that are due whenever the rate is about to be read.
"""

from numpy import int64

from sim.congestion.model import Parameter
from sim.jit import called, kernel

NAME = "dcqcn"
NUMBER = 1
MARKING = (400.0, 1600.0, 0.2)  # kmin kB, kmax kB, pmax at 100 Gb/s; HPCC simulator's runner
DATA_TELEMETRY_BYTES = 0
ACK_TELEMETRY_BYTES = 0
HAS_WINDOW = False
VAR_WINDOW = False

PARAMETERS = (
    Parameter("gain", 1 / 256, "1", "g, SIGCOMM 2015 section 5.2; EWMA_GAIN"),
    Parameter("alpha_interval_us", 1.0, "us", "ALPHA_RESUME_INTERVAL, HPCC simulator"),
    Parameter("decrease_interval_us", 4.0, "us", "RATE_DECREASE_INTERVAL, HPCC simulator"),
    Parameter("increase_interval_us", 300.0, "us", "RP_TIMER of the HPCC simulator's runner"),
    Parameter(
        "additive_mbps", 20.0, "Mb/s", "RATE_AI of the HPCC simulator's runner at 100 Gb/s; scaled with the line rate"
    ),
    Parameter(
        "hyper_mbps", 200.0, "Mb/s", "RATE_HAI of the HPCC simulator's runner at 100 Gb/s; scaled with the line rate"
    ),
    Parameter("recovery_stages", 1.0, "stages", "FAST_RECOVERY_TIMES, HPCC simulator"),
    Parameter("min_rate_mbps", 1000.0, "Mb/s", "MIN_RATE of the HPCC simulator's runner"),
    Parameter("clamp_target", 0.0, "0 or 1", "CLAMP_TARGET_RATE, HPCC simulator"),
)

COLUMNS = (
    ("dcqcn_alpha", "f8"),
    ("dcqcn_target_bps", "i8"),
    ("dcqcn_alpha_at", "i8"),
    ("dcqcn_decrease_at", "i8"),
    ("dcqcn_increase_at", "i8"),
    ("dcqcn_stage", "i4"),
    ("dcqcn_started", "u1"),
    ("dcqcn_mark_alpha", "u1"),
    ("dcqcn_mark_decrease", "u1"),
)

FAR = int64(2**62)
FIRST_CUT_DELAY_PS = int64(1000)  # the first decrease comes one nanosecond after a whole interval (HPCC simulator)


@kernel
def start(s, i):
    F = s.flow[i]
    F.dcqcn_alpha = 1.0
    F.dcqcn_target_bps = F.rate_bps
    F.dcqcn_started = 0
    F.dcqcn_mark_alpha = 0
    F.dcqcn_mark_decrease = 0
    F.dcqcn_stage = 0
    F.dcqcn_alpha_at = FAR
    F.dcqcn_decrease_at = FAR
    F.dcqcn_increase_at = FAR


@called
def catch_up(s, i, now):
    """Apply every timer due at or before `now` (alpha, decrease, increase), in order of time."""
    F = s.flow[i]
    if F.dcqcn_started == 0:
        return
    p = s.g[0]
    while True:
        due = min(F.dcqcn_alpha_at, F.dcqcn_decrease_at, F.dcqcn_increase_at)
        if due > now:
            break
        if due == F.dcqcn_alpha_at:
            F.dcqcn_alpha *= 1.0 - p.dcqcn_gain
            if F.dcqcn_mark_alpha:
                F.dcqcn_alpha += p.dcqcn_gain
            F.dcqcn_mark_alpha = 0
            F.dcqcn_alpha_at += int64(p.dcqcn_alpha_interval_ps)
        elif due == F.dcqcn_decrease_at:
            F.dcqcn_decrease_at += int64(p.dcqcn_decrease_interval_ps)
            if F.dcqcn_mark_decrease:
                if p.dcqcn_clamp_target > 0.0 or F.dcqcn_stage != 0:
                    F.dcqcn_target_bps = F.rate_bps
                F.rate_bps = max(int64(p.dcqcn_min_rate_bps), int64(F.rate_bps * (1.0 - F.dcqcn_alpha / 2.0)))
                F.dcqcn_stage = 0
                F.dcqcn_mark_decrease = 0
                F.dcqcn_increase_at = due + int64(p.dcqcn_increase_interval_ps)
        else:
            F.dcqcn_increase_at += int64(p.dcqcn_increase_interval_ps)
            scale = F.line_bps / 1e11
            if F.dcqcn_stage == int64(p.dcqcn_recovery_stages):
                F.dcqcn_target_bps = min(F.line_bps, F.dcqcn_target_bps + int64(p.dcqcn_additive_bps * scale))
            elif F.dcqcn_stage > int64(p.dcqcn_recovery_stages):
                F.dcqcn_target_bps = min(F.line_bps, F.dcqcn_target_bps + int64(p.dcqcn_hyper_bps * scale))
            F.rate_bps = F.rate_bps // 2 + F.dcqcn_target_bps // 2
            if F.dcqcn_stage <= int64(p.dcqcn_recovery_stages):
                F.dcqcn_stage += 1  # past them all stages are alike


@kernel
def on_ack(s, i, k, now):
    """Collect the mark that the ACK carries; the first one starts the timers."""
    if s.packet[k].ecn == 0:
        return
    F = s.flow[i]
    if F.dcqcn_started:
        F.dcqcn_mark_alpha = 1
        F.dcqcn_mark_decrease = 1
        return
    p = s.g[0]
    F.dcqcn_started = 1
    F.dcqcn_alpha = 1.0
    F.dcqcn_mark_decrease = 1
    F.dcqcn_target_bps = F.rate_bps
    F.dcqcn_alpha_at = now + int64(p.dcqcn_alpha_interval_ps)
    F.dcqcn_decrease_at = now + int64(p.dcqcn_decrease_interval_ps) + FIRST_CUT_DELAY_PS
