"""The memory of the wormhole kernel: partitions, the graph of states, and the lists between them.

A *state* is what a partition is at one instant, in canonical form, kept once. An *outcome* is what
becomes of a state when nothing enters: the time to its next event, what happens then, what the ports
carried meanwhile, and the states it leaves. Both lie in one arena of int64 words.
"""

from collections import namedtuple

import numpy as np

PART = np.dtype(
    [
        ("state", "i8"), ("began", "i8"), ("next_at", "i8"), ("outcome", "i8"), ("flows_at", "i8"), ("flows", "i4"), ("ports", "i4"),
        ("ports_at", "i8"), ("stamp", "i8"), ("id", "i8"), ("next", "i4"), ("touched", "i4"), ("told", "i8"),
        ("owed", "i8"),  # packet-hops that were found out for it and are not played yet
        ("pausing", "i8"),  # whether it goes to a pause that was just found: what follows is not known
    ]
)  # fmt: skip
FLOW = np.dtype([("order", "i8"), ("base", "i8"), ("sends", "i8"), ("root", "i4"), ("pad", "i4"), ("variance", "f8"), ("pace", "f8")])
PORT = np.dtype(
    [
        # the partition that a port (and with PFC the other direction of its link) belongs to, and its place there
        ("part", "i4"), ("local", "i4"), ("class_", "i4"), ("flow", "i4"),
        ("stamp", "i8"), ("place", "i8"), ("new_mark", "i8"), ("new_place", "i8"),
        # what the port has carried
        ("tx_bytes", "i8"), ("tx_packets", "i8"), ("max_queue", "i8"), ("marks", "i8"), ("pauses", "i8"), ("paused_ps", "i8"),
        ("drops", "i8"), ("bin_row", "i8"),
    ]
)  # fmt: skip
STATISTICS = ("tx_bytes", "tx_packets", "max_queue", "marks", "pauses", "paused_ps", "drops")
HEAP = np.dtype([("at", "i8"), ("part", "i8"), ("stamp", "i8")])
STATE = np.dtype(
    [
        ("at", "i8"),
        ("words", "i8"),
        ("hash", "i8"),
        ("flows", "i4"),
        ("ports", "i4"),
        ("packets", "i4"),
        ("visits", "i4"),
        ("chunk", "i4"),  # packet-hops after which it is paused at, where it was paused at before
        ("ahead", "i4"),  # whether another thread is finding out what becomes of it
    ]
)
OUTCOME = np.dtype(
    [
        ("state", "i8"), ("offset", "i8"), ("dt", "i8"), ("kind", "i8"), ("at", "i8"), ("words", "i8"), ("next", "i8"), ("drew", "i8"),
        ("hops", "i8"), ("skipped", "i8"), ("data_packets", "i8"), ("uses", "i8"), ("periods", "i8"), ("skipped_ps", "i8"),
        ("skip_from", "i8"), ("marks", "i8"), ("pauses", "i8"), ("drops", "i8"), ("losses", "i8"), ("retransmits", "i8"), ("timeouts", "i8"),
        ("variance", "f8"),  # of what a flow sends, in packets squared, where that is estimated
    ]
)  # fmt: skip
JOIN = np.dtype([("at", "i8"), ("words", "i8"), ("hash", "i8"), ("state", "i8"), ("result_at", "i8"), ("uses", "i8")])
TMP = np.dtype(
    [
        ("slot", "i4"), ("local", "i4"), ("port", "i4"), ("root", "i4"), ("ready", "i4"), ("fresh", "i4"), ("touched", "i4"), ("loaded", "i4"),
        ("member", "i4"), ("group", "i4"), ("event_dt", "i8"), ("event", "i8"), ("old", "i4"), ("merged", "i4"), ("owner", "i4"),
        ("new_port", "i4"), ("joined", "i4"), ("pad", "i4"), ("block", "i8"), ("start", "i8"), ("of_flow", "i8"),
        ("of_port", "i8", (8,)), ("four", "i8", (4,)),
    ]
)  # fmt: skip
COLUMN = np.dtype([("word", "i8"), ("kind", "i8"), ("limit", "i8")])
EPISODE = np.dtype(
    [
        ("part", "i8"), ("from_ps", "i8"), ("to_ps", "i8"), ("state", "i8"), ("outcome", "i8"), ("hit", "i4"), ("flows", "i4"), ("ports", "i4"),
        ("pad", "i4"), ("hops", "i8"), ("skipped", "i8"), ("skip_from", "i8"), ("skipped_ps", "i8"),
    ]
)  # fmt: skip
CLASS_FIELDS = (  # of a port: where they are equal, ports behave alike
    "rate_bps", "delay_ps", "kmin_bytes", "kmax_bytes", "pmax", "loss", "up", "headroom_bytes", "xoff_bytes", "xon_bytes", "is_nic", "shift",
)  # fmt: skip
FORGOTTEN = -1  # state and outcome of an episode that eviction has dropped

COPY, NUMBER, NUMBER_OR_ZERO, TIME, TIME_NOT_PAST, SATURATING, BYTES, REMAINING, FREE, QUIET_TIME = range(10)

EXACT, BOUNDED = 0, 1  # levels of trust

ACTIVE = -2  # `next` of a partition that exists

EVENT, PAUSE_POINT, ADVANCE = (
    0,
    1,
    2,
)  # how an outcome ends: an event of its own; a place to pause; an interrupt from outside

P = np.dtype(
    [
        ("phase", "i8"), ("cursor", "i8"), ("now", "i8"), ("stamp", "i8"), ("free_part", "i8"), ("heap", "i8"), ("ids", "i8"),
        ("order", "i8"), ("lists_end", "i8"), ("arena_end", "i8"), ("states", "i8"), ("outcomes", "i8"), ("joins", "i8"),
        ("ready", "i8"), ("fresh", "i8"), ("touched", "i8"), ("groups", "i8"), ("columns", "i8"), ("words_per_flow", "i8"),
        # what is being solved
        ("solving", "i8"), ("solve_until", "i8"), ("reference", "i8"), ("slots", "i8"), ("ports", "i8"), ("packets", "i8"), ("loaded", "i8"),
        ("skipped", "i8"), ("skipped_ps", "i8"),
        ("skip_from", "i8"), ("hops_before", "i8"), ("data_before", "i8"), ("draws_before", "i8"), ("marks_before", "i8"),
        ("pauses_before", "i8"), ("drops_before", "i8"), ("losses_before", "i8"),
        ("retransmits_before", "i8"), ("timeouts_before", "i8"),
        ("probing", "i8"), ("probe_left", "i8"), ("probe_at", "i8"), ("probe_flow", "i8"), ("anchor", "i8"), ("anchor_words", "i8"),
        ("anchor_time", "i8"), ("periods", "i8"), ("probe_marks", "i8"), ("found", "i8"),
        ("anchor_print", "i8"), ("burst", "i8"), ("probe_acked", "i8"), ("lap_hops", "i8"), ("lap_data", "i8"),
        ("lap_draws", "i8"), ("lap_drops", "i8"), ("lap_marks", "i8"), ("lap_pauses", "i8"), ("skipped_data", "i8"), ("skipped_marks", "i8"),
        ("skipped_pauses", "i8"),
        # settings
        ("capacity_arena", "i8"), ("capacity_lists", "i8"), ("capacity_parts", "i8"), ("capacity_heap", "i8"), ("capacity_states", "i8"),
        ("capacity_outcomes", "i8"), ("capacity_joins", "i8"), ("capacity_tmp", "i8"), ("capacity_episodes", "i8"), ("state_mask", "i8"),
        ("edge_mask", "i8"), ("join_mask", "i8"),
        ("by_link", "i8"), ("by_node", "i8"), ("use_memo", "i8"), ("use_skip", "i8"), ("timed", "i8"), ("has_loss", "i8"), ("clear_sent", "i8"),
        ("bin_shift", "i8"), ("bins", "i8"), ("bin_rows", "i8"), ("record", "i8"),
        # counters
        ("episodes", "i8"), ("interrupts", "i8"), ("entries", "i8"), ("hits", "i8"), ("misses", "i8"), ("join_hits", "i8"),
        ("join_misses", "i8"), ("formed", "i8"),
        ("merges", "i8"), ("splits", "i8"), ("max_flows", "i8"), ("executed", "i8"), ("replayed", "i8"), ("skipped_hops", "i8"),
        ("credited", "i8"), ("data_packets", "i8"), ("solves", "i8"), ("found_periods", "i8"), ("losses", "i8"),
        ("timeouts", "i8"), ("retransmits", "i8"), ("last_event", "i8"), ("limit", "i8"), ("budget", "i8"), ("live_words", "i8"), ("live_packets", "i8"),
        ("live_lists", "i8"), ("live_flows", "i8"), ("live_parts", "i8"),
        ("new_mark", "i8"), ("new_ports", "i8"), ("merged", "i8"), ("join_hash", "i8"), ("join_slot", "i8"), ("need_words", "i8"),
        ("need_lists", "i8"), ("need_items", "i8"), ("need_packets", "i8"), ("capacity_packets", "i8"),
        ("most_words", "i8"), ("forget_at", "i8"), ("spent", "i8"), ("spent_before", "i8"),
        ("credited_before", "i8"),
        ("guard", "i8"), ("words_moved", "i8"), ("pending", "i8"), ("first_look", "i8"), ("overflow", "i8"), ("chunk", "i8"), ("pause", "i8"),
        ("probe_pause", "i8"),
        ("logged", "i8"), ("linger", "i8"), ("large", "i8"), ("interrupted", "i8"), ("halt_parts", "i8"),
        ("fresh_hops", "i8"), ("marks", "i8"), ("pauses", "i8"), ("drops", "i8"), ("offers", "i8"), ("offered", "i8"), ("pausing", "i8"),
        # level bounded
        ("level", "i8"), ("samples_at", "i8"), ("sample_at", "i8"), ("sample_step", "i8"), ("sample_count", "i8"), ("sample_losses", "i8"),
        ("sample_from", "i8"), ("sample_skipped", "i8"), ("variance", "f8"), ("jumps", "i8"),
        ("live", "i8"), ("alike", "i8"), ("disjoint", "i8"), ("at_line", "i8"),
        ("fitted", "i8"), ("fit_prior", "f8"), ("fit_doubt", "f8"), ("fit_tau", "f8"), ("fit_variance", "f8"), ("fit_white", "f8"),
        ("fit_weight", "f8"), ("fit_mean", "f8"), ("fit_error", "f8"), ("fit_centre", "f8"),
    ]
)  # fmt: skip

Wormhole = namedtuple(
    "Wormhole",
    "p part flow port heap lists arena state outcome join state_index edge_index join_index tmp column words episode bins",
)
Wormhole.__doc__ = (
    """All that the wormhole kernel knows between two calls; see the record types above for each array."""
)
