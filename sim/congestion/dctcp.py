"""DCTCP on a rate and a window (Alizadeh et al., SIGCOMM 2010), as the HPCC simulator runs it over RDMA.

Marks are counted over one window of packets (what had been sent when the window began); alpha is
the moving average of the marked fraction; the rate is cut once per window and grows by a constant
per unmarked window.
"""

from numpy import int64

from sim.congestion.model import Parameter
from sim.congestion.payload import payload_sent
from sim.jit import kernel

NAME = "dctcp"
NUMBER = 4
MARKING = (300.0, 300.0, 1.0)  # kmin kB, kmax kB, pmax at 100 Gb/s; HPCC simulator's runner
DATA_TELEMETRY_BYTES = 0
ACK_TELEMETRY_BYTES = 0
HAS_WINDOW = True
VAR_WINDOW = True

PARAMETERS = (
    Parameter("gain", 1 / 16, "1", "g, SIGCOMM 2010 section 3.3; EWMA_GAIN of the HPCC simulator's runner"),
    Parameter(
        "additive_mbps",
        615.0,
        "Mb/s",
        "DCTCP_RATE_AI of the HPCC simulator's runner at 100 Gb/s; scaled with the line rate",
    ),
    Parameter("min_rate_mbps", 1000.0, "Mb/s", "MIN_RATE of the HPCC simulator's runner"),
)

COLUMNS = (
    ("dctcp_alpha", "f8"),
    ("dctcp_window_end", "i8"),
    ("dctcp_cut_end", "i8"),
    ("dctcp_marked", "i8"),
    ("dctcp_batch", "i8"),
    ("dctcp_reduced", "i8"),
    ("dctcp_windows", "i8"),
)


@kernel
def start(s, i):
    F = s.flow[i]
    F.dctcp_alpha = 1.0
    F.dctcp_window_end = 0
    F.dctcp_cut_end = 0
    F.dctcp_marked = 0
    F.dctcp_batch = 0
    F.dctcp_reduced = 0
    F.dctcp_windows = 0


@kernel
def on_ack(s, i, k, now):
    F = s.flow[i]
    acked = s.packet[k].number
    marked = s.packet[k].ecn
    p = s.g[0]
    payload = s.g[0].payload
    F.dctcp_marked += marked
    new_window = False
    if acked > F.dctcp_window_end:
        if F.dctcp_window_end == 0:
            F.dctcp_batch = payload_sent(F, F.next_packet, payload) // payload + 1
        else:
            fraction = min(1.0, F.dctcp_marked / F.dctcp_batch)
            F.dctcp_alpha = (1.0 - p.dctcp_gain) * F.dctcp_alpha + p.dctcp_gain * fraction
            F.dctcp_marked = 0
            outstanding = payload_sent(F, F.next_packet, payload) - payload_sent(F, acked, payload)
            F.dctcp_batch = outstanding // payload + 1
            F.dctcp_windows += 1
            new_window = True
        F.dctcp_window_end = F.next_packet
    if F.dctcp_reduced and acked > F.dctcp_cut_end:
        F.dctcp_reduced = 0
    if marked and F.dctcp_reduced == 0:
        F.rate_bps = max(int64(p.dctcp_min_rate_bps), int64(F.rate_bps * (1.0 - F.dctcp_alpha / 2.0)))
        F.dctcp_reduced = 1
        F.dctcp_cut_end = F.next_packet
    if new_window and F.dctcp_reduced == 0:
        F.rate_bps = min(F.line_bps, F.rate_bps + int64(p.dctcp_additive_bps * (F.line_bps / 1e11)))
