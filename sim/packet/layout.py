"""The memory layout of a packet simulation: a handful of record arrays, one record per thing.

Few arrays, because every compiled call carries them all. Every index is local to the state: flows live
in slots that are reused, packets in a pool sized by what is in flight. Times are int64 picoseconds,
rates bit/s, sizes bytes; -1 means none.
"""

from collections import namedtuple

import numpy as np

from sim.congestion.registry import COLUMNS, PARAMETER_ROW

DATA, ACK, NACK, PAUSE, RESUME = 0, 1, 2, 3, 4
DELIVERED, ACKED = 0, 1
SWITCH_PORT, NIC, FORWARDING_NIC = 0, 1, 2  # PORT.is_nic
LAST, ASK = 1, 2  # flags of a packet: the flow ends with it; it is to be acknowledged at once

PFC_OFF, PFC_FIXED, PFC_DYNAMIC = 0, 1, 2

RUNNING, NEED_PACKETS, NEED_FLOWS, IDLE = 0, 1, 2, 3

NEVER = np.int64(2**62)
PAUSE_FRAME_BYTES = 43
WHEEL_BUCKETS = 256

PORT = np.dtype(
    [
        # what every hop touches, in two cache lines: transmitter, FIFO, what is served before it (pause
        # frames, priority ACKs, a NIC's ACKs), packets on the link, and what has arrived for this port;
        # `frames`: pause and resume frames on their way to it; `kicked`: of a switch, given something while idle; of a NIC that
        # forwards, whether its own queue pairs have the next turn
        ("free_at", "i8"), ("since", "i8"), ("queue_bytes", "i8"), ("queue_head", "i4"), ("queue_tail", "i4"),
        ("first_head", "i4"), ("first_tail", "i4"), ("paused", "u1"), ("up", "u1"), ("is_nic", "u1"), ("listed", "u1"),
        ("kicked", "u1"), ("ingress_paused", "u1"), ("frames", "u2"), ("node", "i4"), ("far_node", "i4"),
        ("wire_head", "i4"), ("wire_tail", "i4"), ("inbox_head", "i4"), ("inbox_tail", "i4"), ("ps_per_byte", "i8"), ("delay_ps", "i8"),
        ("tx_bytes", "i8"), ("tx_packets", "i8"), ("bin_row", "i8"), ("kmin_bytes", "i8"), ("line", "i8"),
        # the third line: queue statistics, telemetry, this link as an ingress of the switch at its far end
        ("max_queue", "i8"), ("ingress_bytes", "i8"), ("telemetry_bytes", "i8"), ("kmax_bytes", "i8"), ("pmax", "f8"), ("loss", "f8"),
        ("rate_bps", "i8"), ("marks", "i8"),
        # NIC: ring of queue pairs in order of entry; next attempt to send, pacing timer (timer_at), retransmission timer
        ("ready_at", "i8"), ("timer_since", "i8"), ("timeout_at", "i8"), ("qp_last", "i4"), ("qp_first", "i4"),
        ("flows", "i4"), ("speed_class", "i4"),
        # m-th entry: the m-th port in order of node (NODE.first_port, NODE.end_port)
        ("by_node", "i8"),
        # pausing
        ("headroom_used", "i8"), ("headroom_bytes", "i8"), ("xoff_bytes", "i8"), ("xon_bytes", "i8"), ("shift", "i8"),
        ("pauses", "i8"), ("paused_since", "i8"), ("paused_ps", "i8"), ("drops", "i8"), ("timer_at", "i8"),
    ]
)  # fmt: skip

PACKET = np.dtype(  # one cache line
    [
        ("next", "i4"), ("flow", "i4"), ("place", "i4"), ("ingress", "i4"), ("wire_bytes", "i4"), ("number", "i4"), ("send", "i4"),
        ("hop", "u1"), ("kind", "u1"), ("ecn", "u1"), ("last", "u1"),
        ("arrival", "i8"), ("sent", "i8"), ("cause", "i8"), ("stamp", "i8"),
    ]
)  # fmt: skip
MAX_PACKETS_OF_FLOW = 2**31 - 1

FLOW = np.dtype(
    [
        # what a NIC looks at when it is this flow's turn, in one cache line
        ("packets", "i8"), ("next_packet", "i8"), ("acked_packets", "i8"), ("next_at", "i8"), ("window_bytes", "i8"),
        ("size_bytes", "i8"), ("rate_bps", "i8"), ("qp_next", "i4"), ("qp_prev", "i4"),
        ("line_bps", "i8"), ("base_rtt_ps", "i8"), ("last_wire_bytes", "i8"), ("flow_id", "i8"), ("order", "i8"),
        ("expected", "i8"), ("unacked_rx", "i8"), ("rx_ecn", "u1"), ("nack_out", "u1"), ("done", "u1"), ("pad", "u1"), ("in_flight", "i4"),
        ("nic", "i4"), ("ack_nic", "i4"), ("path", "i4"), ("ack_path", "i4"), ("region", "i4"), ("pad_region", "i4"), ("timeouts", "i8"),
        ("requested", "i8"), ("draw_key", "i8"), ("sends", "i8"), ("progress_at", "i8"), ("start_ps", "i8"), ("marks", "i8"),
        ("retransmits", "i8"), ("hops", "i4"), ("ack_hops", "i4"),
        *COLUMNS,
    ],
    align=True,
)  # fmt: skip

NODE = np.dtype(
    [
        ("used_bytes", "i8"), ("arriving_bytes", "i8"), ("worst_ingress", "i8"), ("paused_ingresses", "i4"),
        ("touched", "u1"), ("careful", "u1"), ("buffered", "u1"), ("pad", "u1"), ("shared_bytes", "i8"),
        ("buffer_bytes", "i8"), ("pool_bytes", "i8"), ("reserve_bytes", "i8"), ("xoff_floor", "i8"), ("shift", "i8"),
        ("first_port", "i8"), ("end_port", "i8"), ("spare", "i8", (4,)),
    ]
)  # fmt: skip

TELEMETRY = np.dtype([("time_ps", "i8"), ("tx_bytes", "i8"), ("queue_bytes", "i8"), ("rate_bps", "i8"), ("port", "i4"), ("flow", "i4")])

DUE = np.dtype([("at", "i8"), ("next", "i4"), ("prev", "i4"), ("bucket", "i4"), ("pad", "i4")])

BIN = np.dtype([("tx_bytes", "i8"), ("max_queue", "i4"), ("marks", "i4"), ("paused_ps", "i8")])

SORT = np.dtype([("order", "i4"), ("other", "i4"), ("run", "i4"), ("pad", "i4"), ("cut", "i8")])
LISTS = np.dtype([("link", "i4"), ("port", "i4"), ("node", "i4"), ("entry", "i4")])
EVENT = np.dtype(  # what the instant brought; beside it, the lookahead classes in ascending order
    [("event_flow", "i8"), ("event_slot", "i4"), ("event_kind", "i4"), ("lookahead_ps", "i8"), ("speed_flows", "i8")]
)

GLOBAL = np.dtype(
    [
        ("now", "i8"), ("wheel_start", "i8"), ("width", "i8"), ("cursor", "i8"), ("in_wheel", "i8"), ("in_far", "i8"), ("bucket_zero", "i8"),
        ("free_packet", "i8"), ("free_packets", "i8"), ("free_flow", "i8"), ("free_flows", "i8"), ("free_region", "i8"), ("free_regions", "i8"),
        ("cut_count", "i8"), ("events", "i8"), ("entries", "i8"), ("active_flows", "i8"), ("departing", "i8"), ("refit", "i8"), ("refit_at", "i8"),
        ("speed_classes", "i8"),
        ("sending_ports", "i8"), ("sending_bps", "f8"), ("windows", "i8"),
        ("packet_hops", "i8"), ("data_packets", "i8"), ("marks", "i8"), ("pauses", "i8"), ("drops", "i8"), ("losses", "i8"),
        ("retransmits", "i8"), ("timeouts", "i8"), ("draws", "i8"),
        # settings
        ("controller", "i8"), ("payload", "i8"), ("header", "i8"), ("ack_bytes", "i8"), ("ack_every", "i8"),
        ("ack_priority", "u1"), ("whole_ns", "u1"), ("has_loss", "u1"), ("telemetry", "u1"), ("pfc", "u1"), ("always_careful", "u1"),
        ("var_window", "u1"), ("rate_bound", "u1"),
        ("seed", "i8"), ("timeout_ps", "i8"), ("telemetry_tx_quantum", "i8"), ("telemetry_queue_quantum", "i8"), ("telemetry_flows", "i8"),
        ("hops_max", "i8"), ("region_size", "i8"), ("bin_shift", "i8"), ("bins", "i8"), ("bin_rows", "i8"), ("resume_below", "i8"), ("min_wire_bytes", "i8"),
        ("unsent_packets", "i8"),
        ("mid_window", "i8"), ("touched", "i8"), ("walked", "i8"), ("window_end", "i8"), ("busy_until", "i8"), ("tie_depth", "i8"), ("ancestry_packets", "i8"),
        *PARAMETER_ROW.descr,
    ]
)  # fmt: skip

State = namedtuple("State", "g port packet flow node due sort todo paths telemetry ancestry events bins")
State.__doc__ = """All that a packet simulation is at one instant.

`g`: one GLOBAL record. `port`, `packet`, `flow`, `node`: a record per thing. `due`: two calendar entries per
port and one per bucket. `sort`, `todo`: scratch. `paths`: int32, regions of flows' paths. `telemetry`: rows of
packets, then of flows. `ancestry`: int64, see ties.py. `events`: what the instant
brought, and lookahead classes. `bins`: time series, bin by bin, so that the
present bin of all ports lies together.
"""
