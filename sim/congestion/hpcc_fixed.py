"""HPCC (Li et al., SIGCOMM 2019, algorithm 1) in whole numbers, as a NIC computes it.

Utilisation counts in 1/65536, its moving average in 1/256 of that, and rates are multiples of a
thousandth of the line. Rounded this coarsely, the state of a flow that nobody disturbs comes back to
values that it had; the floating-point form drifts in its last digits for ever. It needs INT counters
that count single bytes.

Range: every product stays below 2^63, and what could pass it saturates. Exact for lines up to
100 Tb/s, queues up to 8 GB, 1 TB and 70 s between two ACKs, utilisation up to 4096; round trips past
67 us are averaged in coarser time (2 ps past 67 us, 4 ps past 134 us, ...).
"""

from numpy import int64

from sim.congestion import hpcc
from sim.jit import kernel

NAME = "hpcc_fixed"
NUMBER = 6
MARKING = hpcc.MARKING
DATA_TELEMETRY_BYTES = hpcc.DATA_TELEMETRY_BYTES
ACK_TELEMETRY_BYTES = hpcc.ACK_TELEMETRY_BYTES
HAS_WINDOW = hpcc.HAS_WINDOW
VAR_WINDOW = hpcc.VAR_WINDOW
PARAMETERS = hpcc.PARAMETERS

U_BITS = 16  # of the fraction of a utilisation: 1.0 is 65536
EWMA_BITS = 8  # more in its moving average
RATE_STEPS = 1000  # rates are multiples of line / 1000: 100 Mb/s at 100 Gb/s
BPS_PER_MBPS = 1_000_000
PS_MBPS_PER_BYTE = 8_000_000  # a byte takes so many ps at 1 Mb/s
REFERENCE_MBPS = 100_000  # where additive_mbps holds

MOST_BYTES = 2**40  # x PS_MBPS_PER_BYTE < 2^63
MOST_QUEUE_BYTES = 2**33  # x line in Mb/s < 2^63 up to 100 Tb/s
MOST = 2**46 - 1  # ps or bytes: << U_BITS, and the sum of two of them, < 2^63
MOST_U = 2**28  # << EWMA_BITS, x MOST_RTT_PS < 2^63
MOST_RTT_PS = 2**26

COLUMNS = (("hpcc_fixed_u", "i8"),)  # besides those of hpcc; there hpcc_u stays 1.0
INTEGERS = (("hpcc_fixed_target", "hpcc_target", 1 << U_BITS),)  # parameter of the kernel, rounded from, times


@kernel
def start(s, i):
    """A flow enters at utilisation 1."""
    hpcc.start(s, i)
    s.flow[i].hpcc_fixed_u = 1 << (U_BITS + EWMA_BITS)


@kernel
def on_ack(s, i, k, now):
    """The telemetry of packet `k` moves the flow's rate."""
    what = hpcc.reaction(s, i, k)
    if what == hpcc.NOTHING:
        return
    F = s.flow[i]
    g = s.g[0]
    line_mbps = max(1, F.line_bps // BPS_PER_MBPS)
    window = F.window_bytes if F.window_bytes > 0 else max(1, F.base_rtt_ps // 1000 * line_mbps // 8000)
    V = int64(-1)  # no hop yet: a load that rounds to nothing is still one
    dt = int64(0)
    for h in range(F.hops - 1):
        T = s.telemetry[k * g.hops_max + h]
        O = s.telemetry[g.telemetry_flows + i * g.hops_max + h]
        tau = hpcc.elapsed(T, O, i)
        if tau > 0:
            mbps = max(1, T.rate_bps // BPS_PER_MBPS)
            sent = min(max(0, T.tx_bytes - O.tx_bytes), MOST_BYTES)
            busy_ps = min(sent * PS_MBPS_PER_BYTE // mbps, MOST)
            queue = min(min(T.queue_bytes, O.queue_bytes), MOST_QUEUE_BYTES)
            v = ((busy_ps << U_BITS) + tau // 2) // tau + (min(queue * line_mbps // mbps, MOST) << U_BITS) // window
            if v > V:
                V = v
                dt = tau
        hpcc.store(s, i, k, h)
    rtt = F.base_rtt_ps
    while rtt > MOST_RTT_PS:
        rtt >>= 1
        dt >>= 1
    F.hpcc_fixed_u += (((min(V, MOST_U) << EWMA_BITS) - F.hpcc_fixed_u) * min(dt, rtt) + rtt // 2) // rtt
    u = F.hpcc_fixed_u >> EWMA_BITS
    quantum = max(1, F.line_bps // RATE_STEPS)
    additive = int64(g.hpcc_additive_bps) // 1000 * line_mbps // (REFERENCE_MBPS // 1000)
    stage = F.hpcc_stage
    if u >= g.hpcc_fixed_target or stage >= int64(g.hpcc_max_stage):
        rate = (F.hpcc_reference_bps * g.hpcc_fixed_target + u // 2) // u + additive if u > 0 else F.line_bps
        stage = 0
    else:
        rate = F.hpcc_reference_bps + max(additive, quantum)  # a smaller step would be rounded away
        stage += 1
    hpcc.settle(s, i, (rate + quantum // 2) // quantum * quantum, stage, what == hpcc.FULL)
