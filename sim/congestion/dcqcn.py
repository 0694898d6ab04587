"""DCQCN: rate control from ECN marks (Zhu et al., SIGCOMM 2015), timers as in the HPCC simulator.

The receiver echoes every mark; the sender looks at what it collected once per decrease interval.
All timers are derived from the first mark, so they need no events: `catch_up` applies the ones
that are due whenever the rate is about to be read.
"""

from numpy import int64

from sim.congestion.model import Parameter
from sim.jit import kernel

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
    Parameter("additive_mbps", 20.0, "Mb/s", "RATE_AI of the HPCC simulator's runner at 100 Gb/s; scaled with the line rate"),
    Parameter("hyper_mbps", 200.0, "Mb/s", "RATE_HAI of the HPCC simulator's runner at 100 Gb/s; scaled with the line rate"),
    Parameter("recovery_stages", 1.0, "1", "FAST_RECOVERY_TIMES, HPCC simulator"),
    Parameter("min_rate_mbps", 1000.0, "Mb/s", "MIN_RATE of the HPCC simulator's runner"),
    Parameter("clamp_target", 0.0, "0 or 1", "CLAMP_TARGET_RATE, HPCC simulator"),
)

COLUMNS = (
    ("dcqcn_alpha", "f8"), ("dcqcn_target_bps", "i8"), ("dcqcn_alpha_at", "i8"), ("dcqcn_decrease_at", "i8"),
    ("dcqcn_increase_at", "i8"), ("dcqcn_stage", "i4"), ("dcqcn_started", "u1"), ("dcqcn_mark_alpha", "u1"),
    ("dcqcn_mark_decrease", "u1"),
)

FAR = int64(2**62)
FIRST_CUT_DELAY_PS = int64(1000)  # the first decrease comes one nanosecond after a whole interval (HPCC simulator)


@kernel
def start(s, i):
    C = s.controller[i]
    C.dcqcn_alpha = 1.0
    C.dcqcn_target_bps = s.flow[i].rate_bps
    C.dcqcn_started = 0
    C.dcqcn_mark_alpha = 0
    C.dcqcn_mark_decrease = 0
    C.dcqcn_stage = 0
    C.dcqcn_alpha_at = FAR
    C.dcqcn_decrease_at = FAR
    C.dcqcn_increase_at = FAR


@kernel
def catch_up(s, i, now):
    """Apply every timer due at or before `now` (alpha, decrease, increase), in order of time."""
    C = s.controller[i]
    if C.dcqcn_started == 0:
        return
    F = s.flow[i]
    p = s.par[0]
    while True:
        due = min(C.dcqcn_alpha_at, C.dcqcn_decrease_at, C.dcqcn_increase_at)
        if due > now:
            break
        if due == C.dcqcn_alpha_at:
            C.dcqcn_alpha *= 1.0 - p.dcqcn_gain
            if C.dcqcn_mark_alpha:
                C.dcqcn_alpha += p.dcqcn_gain
            C.dcqcn_mark_alpha = 0
            C.dcqcn_alpha_at += int64(p.dcqcn_alpha_interval_ps)
        elif due == C.dcqcn_decrease_at:
            C.dcqcn_decrease_at += int64(p.dcqcn_decrease_interval_ps)
            if C.dcqcn_mark_decrease:
                if p.dcqcn_clamp_target > 0.0 or C.dcqcn_stage != 0:
                    C.dcqcn_target_bps = F.rate_bps
                F.rate_bps = max(int64(p.dcqcn_min_rate_bps), int64(F.rate_bps * (1.0 - C.dcqcn_alpha / 2.0)))
                C.dcqcn_stage = 0
                C.dcqcn_mark_decrease = 0
                C.dcqcn_increase_at = due + int64(p.dcqcn_increase_interval_ps)
        else:
            C.dcqcn_increase_at += int64(p.dcqcn_increase_interval_ps)
            scale = F.line_bps / 1e11
            if C.dcqcn_stage == int64(p.dcqcn_recovery_stages):
                C.dcqcn_target_bps = min(F.line_bps, C.dcqcn_target_bps + int64(p.dcqcn_additive_bps * scale))
            elif C.dcqcn_stage > int64(p.dcqcn_recovery_stages):
                C.dcqcn_target_bps = min(F.line_bps, C.dcqcn_target_bps + int64(p.dcqcn_hyper_bps * scale))
            F.rate_bps = F.rate_bps // 2 + C.dcqcn_target_bps // 2
            C.dcqcn_stage += 1


@kernel
def on_ack(s, i, k, now):
    """Collect the mark that the ACK carries; the first one starts the timers."""
    if s.packet[k].ecn == 0:
        return
    C = s.controller[i]
    if C.dcqcn_started:
        C.dcqcn_mark_alpha = 1
        C.dcqcn_mark_decrease = 1
        return
    p = s.par[0]
    C.dcqcn_started = 1
    C.dcqcn_alpha = 1.0
    C.dcqcn_mark_decrease = 1
    C.dcqcn_target_bps = s.flow[i].rate_bps
    C.dcqcn_alpha_at = now + int64(p.dcqcn_alpha_interval_ps)
    C.dcqcn_decrease_at = now + int64(p.dcqcn_decrease_interval_ps) + FIRST_CUT_DELAY_PS
