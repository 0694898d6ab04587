"""Which words of a flow's record belong to its state, and how each is made relative."""

import numpy as np

from sim.congestion.registry import COLUMNS
from sim.packet.layout import FLOW
from sim.packet.state import records
from sim.wormhole.layout import (
    BYTES,
    COLUMN,
    COPY,
    FREE,
    NUMBER,
    NUMBER_OR_ZERO,
    QUIET_TIME,
    REMAINING,
    SATURATING,
    TIME,
    TIME_NOT_PAST,
)

WORD_BYTES = 8
ALWAYS = {
    "packets": REMAINING, "next_packet": NUMBER, "window_bytes": COPY, "size_bytes": BYTES, "rate_bps": COPY, "line_bps": COPY,
    "base_rtt_ps": COPY, "expected": NUMBER, "unacked_rx": COPY, "rx_ecn": COPY,
}  # fmt: skip
WITH_LOSS = {"timeouts": COPY, "progress_at": TIME}
WITH_DELAYED_ACKS = {"requested": NUMBER}
OF_CONTROLLER = {
    "dcqcn_alpha": FREE, "dcqcn_target_bps": COPY, "dcqcn_alpha_at": QUIET_TIME, "dcqcn_decrease_at": QUIET_TIME, "dcqcn_increase_at": QUIET_TIME,
    "dcqcn_stage": COPY,
    "hpcc_u": COPY, "hpcc_reference_bps": COPY, "hpcc_update_after": NUMBER_OR_ZERO, "hpcc_stage": COPY, "hpcc_fixed_u": COPY,
    "timely_last_rtt_ps": COPY, "timely_difference_ns": COPY, "timely_update_after": NUMBER_OR_ZERO, "timely_increases": SATURATING,
    "dctcp_alpha": FREE, "dctcp_window_end": NUMBER_OR_ZERO, "dctcp_cut_end": NUMBER_OR_ZERO, "dctcp_marked": COPY,
    "dctcp_batch": COPY, "dctcp_reduced": COPY,
    "swift_window": COPY, "swift_cut_at": TIME,
}  # fmt: skip
COUNTERS = {"dctcp_windows"}  # statistics that no rule reads
SHARED_WORDS = {"dcqcn_started", "dcqcn_mark_alpha", "dcqcn_mark_decrease"}  # lie in the word of dcqcn_stage


def flow_columns(controller: str, settings, has_loss: bool) -> np.ndarray:
    """COLUMN records of the words that make up a flow's state under this transport."""
    kinds = dict(ALWAYS)
    kinds["next_at"] = TIME if controller.startswith("hpcc") else TIME_NOT_PAST
    if controller.startswith("hpcc"):
        kinds["last_wire_bytes"] = COPY
    if has_loss:
        kinds |= WITH_LOSS
    if settings.ack_every > 1:
        kinds |= WITH_DELAYED_ACKS
    prefix = controller.replace("-", "_") + "_"
    untold = {name for name, _ in COLUMNS if name.startswith(prefix)} - OF_CONTROLLER.keys() - COUNTERS - SHARED_WORDS
    if untold:
        raise LookupError(f"sim/wormhole/columns.py does not say what kind of state {', '.join(sorted(untold))} is")
    kinds |= {name: kind for name, kind in OF_CONTROLLER.items() if name.startswith(prefix)}
    rows = records(len(kinds), COLUMN)
    for row, (name, kind) in zip(rows, sorted(kinds.items(), key=lambda item: FLOW.fields[item[0]][1]), strict=True):
        row["word"], row["kind"] = FLOW.fields[name][1] // WORD_BYTES, kind
        if kind == SATURATING:
            row["limit"] = int(np.ceil(settings.parameters[0]["timely_hyper_after"])) + 1
    return rows
