"""The memory layout of a packet simulation: one record array per kind of thing.

Every index is local to the state: flows live in slots that are reused, packets in a pool that is
sized by what is in flight. Times are int64 picoseconds, rates bit/s, sizes bytes; -1 means none.
"""

from collections import namedtuple

import numpy as np

from sim.congestion.registry import COLUMNS

DATA, ACK, NACK, PAUSE, RESUME = 0, 1, 2, 3, 4
DELIVERED, ACKED = 0, 1

PFC_OFF, PFC_FIXED, PFC_DYNAMIC = 0, 1, 2

RUNNING, NEED_PACKETS, NEED_FLOWS, NEED_PATHS, NEED_BINS = 0, 1, 2, 3, 4

NEVER = np.int64(2**62)
PAUSE_FRAME_BYTES = 43
WHEEL_BUCKETS = 256

PORT = np.dtype(
    [
        # transmitter of this directed link
        ("free_at", "i8"), ("since", "i8"), ("queue_bytes", "i8"), ("queue_head", "i4"), ("queue_tail", "i4"),
        ("first_head", "i4"), ("first_tail", "i4"),  # served first: pause frames, priority ACKs, a NIC's ACKs
        ("paused", "u1"), ("up", "u1"), ("is_nic", "u1"), ("listed", "u1"), ("node", "i4"),
        # propagation on the link, and what has arrived for this port
        ("wire_head", "i4"), ("wire_tail", "i4"), ("inbox_head", "i4"), ("inbox_tail", "i4"),
        ("rate_bps", "i8"), ("delay_ps", "i8"), ("ps_per_byte", "i8"),
        ("tx_bytes", "i8"), ("tx_packets", "i8"), ("telemetry_bytes", "i8"),
        # marking (RED on the queue left at dequeue)
        ("kmin_bytes", "i8"), ("kmax_bytes", "i8"), ("pmax", "f8"), ("loss", "f8"),
        # this link as an ingress of the switch at its far end
        ("ingress_bytes", "i8"), ("ingress_paused", "u1"), ("far_is_switch", "u1"), ("far_node", "i4"),
        ("headroom_used", "i8"), ("headroom_bytes", "i8"), ("xoff_bytes", "i8"), ("xon_bytes", "i8"),
        # NIC: ring of queue pairs in order of entry
        ("ready_at", "i8"), ("timer_since", "i8"), ("timeout_at", "i8"), ("qp_last", "i4"), ("qp_first", "i4"),
        ("flows", "i4"), ("speed_class", "i4"), ("shift", "i8"),
        # statistics
        ("max_queue", "i8"), ("marks", "i8"), ("pauses", "i8"), ("paused_since", "i8"), ("paused_ps", "i8"),
        ("drops", "i8"), ("reserved_bytes", "i8"), ("offered_bytes", "i8"),
    ]
)

PACKET = np.dtype(
    [
        ("next", "i4"), ("flow", "i4"), ("place", "i4"), ("ingress", "i4"),
        ("size", "i4"), ("hop", "i2"), ("kind", "u1"), ("ecn", "u1"),
        ("number", "i8"), ("arrival", "i8"), ("sent", "i8"), ("stamp", "i8"),
        ("cause", "i8"), ("send", "i4"), ("last", "u1"), ("control", "u1"), ("pad", "i2"),
    ]
)

FLOW = np.dtype(
    [
        ("flow_id", "i8"), ("order", "i8"), ("size_bytes", "i8"), ("packets", "i8"),
        ("next_packet", "i8"), ("acked_packets", "i8"), ("next_at", "i8"), ("rate_bps", "i8"),
        ("line_bps", "i8"), ("window_bytes", "i8"), ("base_rtt_ps", "i8"), ("last_wire_bytes", "i8"),
        ("expected", "i8"), ("unacked_rx", "i8"), ("rx_ecn", "u1"), ("nack_out", "u1"), ("done", "u1"), ("delivered", "u1"),
        ("in_flight", "i4"), ("nic", "i4"), ("ack_nic", "i4"), ("qp_next", "i4"), ("qp_prev", "i4"),
        ("path", "i4"), ("ack_path", "i4"), ("region", "i4"), ("draw_key", "i8"), ("sends", "i8"), ("progress_at", "i8"),
        ("start_ps", "i8"), ("marks", "i8"), ("retransmits", "i8"), ("hops", "i4"), ("ack_hops", "i4"), ("timeouts", "i4"), ("pad", "i4"),
    ]
)

CONTROLLER = np.dtype(COLUMNS)

TELEMETRY = np.dtype([("time_ps", "i8"), ("tx_bytes", "i8"), ("queue_bytes", "i8"), ("rate_bps", "i8")])

NODE = np.dtype(
    [
        ("used_bytes", "i8"), ("arriving_bytes", "i8"), ("worst_ingress", "i8"), ("shared_bytes", "i8"),
        ("buffer_bytes", "i8"), ("pool_bytes", "i8"), ("paused_ingresses", "i4"), ("touched", "u1"), ("careful", "u1"),
        ("xoff_floor", "i8"), ("shift", "i8"), ("reserve_bytes", "i8"),
    ]
)

DUE = np.dtype([("at", "i8"), ("next", "i4"), ("prev", "i4"), ("bucket", "i4"), ("pad", "i4")])

EVENT = np.dtype([("flow_id", "i8"), ("order", "i8"), ("at", "i8"), ("kind", "i8")])

BIN = np.dtype([("tx_bytes", "i8"), ("max_queue", "i4"), ("marks", "i4"), ("paused_ps", "i8")])

GLOBAL = np.dtype(
    [
        ("now", "i8"), ("wheel_start", "i8"), ("width", "i8"), ("cursor", "i8"), ("in_wheel", "i8"), ("in_far", "i8"),
        ("free_packet", "i8"), ("free_packets", "i8"), ("free_flow", "i8"), ("free_flows", "i8"), ("free_region", "i8"), ("free_regions", "i8"),
        ("cut_count", "i8"), ("events", "i8"), ("entries", "i8"), ("active_flows", "i8"), ("departing", "i8"), ("sending_ports", "i8"),
        ("packet_hops", "i8"), ("data_packets", "i8"), ("marks", "i8"), ("pauses", "i8"), ("drops", "i8"), ("losses", "i8"),
        ("retransmits", "i8"), ("timeouts", "i8"), ("max_queue", "i8"), ("windows", "i8"), ("sending_bps", "f8"),
        # settings
        ("controller", "i8"), ("payload", "i8"), ("header", "i8"), ("ack_bytes", "i8"), ("ack_every", "i8"),
        ("ack_priority", "u1"), ("whole_ns", "u1"), ("has_loss", "u1"), ("telemetry", "u1"), ("pfc", "u1"), ("always_careful", "u1"),
        ("var_window", "u1"), ("moves_pending", "u1"), ("rate_bound", "u1"), ("arrivals_first", "u1"),
        ("seed", "i8"), ("timeout_ps", "i8"), ("telemetry_tx_quantum", "i8"), ("telemetry_queue_quantum", "i8"),
        ("hops_max", "i8"), ("region_size", "i8"), ("bin_shift", "i8"), ("bins", "i8"), ("resume_below", "i8"), ("tie_depth", "i8"),
    ]
)

State = namedtuple(
    "State",
    "g port packet flow controller node due buckets telemetry flow_telemetry paths cuts events "
    "packet_ancestry port_ancestry ancestry links_due ports_due nodes_due order order2 runs node_ptr node_ports classes class_flows bins bin_row used_ports par",
)
