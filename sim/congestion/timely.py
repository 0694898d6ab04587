"""TIMELY: rate control from the gradient of the round-trip time (Mittal et al., SIGCOMM 2015, algorithm 1)."""

from numpy import int64

from sim.congestion.model import Parameter
from sim.jit import kernel

NAME = "timely"
NUMBER = 3
MARKING = (400.0, 1600.0, 0.2)  # kmin kB, kmax kB, pmax at 100 Gb/s; HPCC simulator's runner
DATA_TELEMETRY_BYTES = 8
ACK_TELEMETRY_BYTES = 0
HAS_WINDOW = False
VAR_WINDOW = False

PARAMETERS = (
    Parameter("weight", 0.875, "1", "alpha, weight of a new RTT difference; HPCC simulator"),
    Parameter("beta", 0.8, "1", "beta, SIGCOMM 2015 section 4.3"),
    Parameter("low_us", 50.0, "us", "T_low, SIGCOMM 2015 section 4.4"),
    Parameter("high_us", 500.0, "us", "T_high, SIGCOMM 2015 section 4.4"),
    Parameter("min_rtt_us", 20.0, "us", "normalises the gradient; HPCC simulator"),
    Parameter("additive_mbps", 100.0, "Mb/s", "RATE_AI of the HPCC simulator's runner at 100 Gb/s; scaled with the line rate"),
    Parameter("hyper_mbps", 500.0, "Mb/s", "RATE_HAI of the HPCC simulator's runner at 100 Gb/s; scaled with the line rate"),
    Parameter("hyper_after", 5.0, "updates", "N, SIGCOMM 2015 section 4.3"),
    Parameter("min_rate_mbps", 1000.0, "Mb/s", "MIN_RATE of the HPCC simulator's runner"),
)

COLUMNS = (
    ("timely_last_rtt_ps", "i8"), ("timely_difference_ns", "f8"), ("timely_update_after", "i8"), ("timely_increases", "i8"),
)


@kernel
def start(s, i):
    F = s.flow[i]
    F.timely_last_rtt_ps = 0
    F.timely_difference_ns = 0.0
    F.timely_update_after = 0
    F.timely_increases = 0


@kernel
def on_ack(s, i, k, now):
    """Once per round trip: increase while the RTT is low or falling, else cut by gradient or excess."""
    F = s.flow[i]
    if s.packet[k].number <= F.timely_update_after:
        return
    p = s.g[0]
    rtt = now - s.packet[k].stamp
    if F.timely_update_after != 0:
        F.timely_difference_ns = (1.0 - p.timely_weight) * F.timely_difference_ns + p.timely_weight * ((rtt - F.timely_last_rtt_ps) / 1000.0)
        gradient = F.timely_difference_ns / (p.timely_min_rtt_ps / 1000.0)
        increase = True
        factor = 1.0
        if rtt >= p.timely_low_ps:
            if rtt > p.timely_high_ps:
                factor = 1.0 - p.timely_beta * (1.0 - p.timely_high_ps / rtt)
                increase = False
            elif gradient > 0.0:
                factor = max(0.0, 1.0 - p.timely_beta * gradient)
                increase = False
        if increase:
            step = p.timely_hyper_bps if F.timely_increases >= int64(p.timely_hyper_after) else p.timely_additive_bps
            F.rate_bps = min(F.line_bps, F.rate_bps + int64(step * (F.line_bps / 1e11)))
            F.timely_increases += 1
        else:
            F.rate_bps = max(int64(p.timely_min_rate_bps), int64(F.rate_bps * factor))
            F.timely_increases = 0
    F.timely_last_rtt_ps = rtt
    F.timely_update_after = max(F.timely_update_after, F.next_packet)
