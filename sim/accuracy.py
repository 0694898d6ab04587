"""How far runs of one scenario in different modes are apart: the JSON of `python -m sim compare` and the Accuracy page."""

import numpy as np

# of raw runs: whatever of these differs, two runs are not identical
COMPARED = (
    "start_ps", "end_ps", "acked_ps", "flow_marks", "flow_retransmits", "flow_acked_bytes",
    "port_tx_bytes", "port_tx_packets", "port_max_queue_bytes", "port_marks", "port_pauses", "port_paused_ps", "port_drops",
)  # fmt: skip
RTT_NOTE = (
    "rtt_nrmse is measured on whole messages, for no mode records single packets: each flow's time from its start to its last ACK "
    "in units of the same flow's on an idle path"
)
PERCENTILES = {"p50": 50, "p99": 99}


def differing(one, other) -> dict[str, int]:
    """What differs between two results, bit by bit: how many flows, tasks or ports, by the array's name in COMPARED; {} for identical runs."""
    a, b = one.raw, other.raw
    counts = {name: int((getattr(a, name) != getattr(b, name)).sum()) for name in COMPARED}
    return {name: count for name, count in counts.items() if count}


def _finished_in_both(one, other) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(flows, their FCT in the one, in the other), in ps, of flows that take any time."""
    found = []
    for raw in (one.raw, other.raw):
        fct_ps = raw.acked_ps - raw.start_ps[raw.dag.n_tasks :]
        found.append(np.where(raw.acked_ps >= 0, fct_ps, -1))
    both = np.flatnonzero((found[0] >= 0) & (found[1] > 0))
    return both, found[0][both].astype(float), found[1][both].astype(float)


def fct_errors(result, packet) -> np.ndarray:
    """|FCT - FCT_packet| / FCT_packet of every flow that finished in both."""
    _, ours, theirs = _finished_in_both(result, packet)
    return np.abs(ours - theirs) / theirs


def fct_error(result, packet) -> dict[str, float] | None:
    """Mean, percentiles and maximum of `fct_errors`; None if no flow finished in both."""
    errors = fct_errors(result, packet)
    if not len(errors):
        return None
    return {
        "mean": float(errors.mean()),
        **{name: float(np.percentile(errors, q)) for name, q in PERCENTILES.items()},
        "max": float(errors.max()),
    }


def iteration_error(result, packet) -> float | None:
    """|T - T_packet| / T_packet of the iteration time; None unless both finished."""
    if not (result.finished and packet.finished and packet.end_s > 0):
        return None
    return abs(result.end_s - packet.end_s) / packet.end_s


def rtt_nrmse(result, packet) -> float | None:
    """Normalised root mean square error of round trips of *messages*.

    A flow's FCT runs from its start until its last ACK is back: the round trip of the whole message, that of a packet if the
    message is one packet. With x = FCT / ideal FCT in `result` and y the same in `packet`, over the flows finished in both:
    sqrt(mean((x - y)^2)) / mean(y). Round trips of the single packets of longer messages are recorded in no mode, so that
    this is not the NRMSE over sampled packets that others report. None if no flow finished in both.
    """
    flows, ours, theirs = _finished_in_both(result, packet)
    ideal = packet.raw.ideal_fct_ps[flows].astype(float)
    some = ideal > 0
    if not some.any():
        return None
    x, y = ours[some] / ideal[some], theirs[some] / ideal[some]
    return float(np.sqrt(np.mean((x - y) ** 2)) / y.mean())


def error_bar_coverage(result, packet) -> float | None:
    """Share of flows whose FCT in packet mode lies within their error bar; None where there are no error bars, as at level exact."""
    if result.raw.level != "bounded":
        return None
    bar_s = result.flows["fct_err_s"].to_numpy()
    off_s = np.abs(result.flows["fct_s"].to_numpy() - packet.flows["fct_s"].to_numpy())
    told = np.isfinite(bar_s) & np.isfinite(off_s)
    return float((off_s[told] <= bar_s[told]).mean()) if told.any() else None


def worked_s(result) -> float:
    """CPU seconds of a run in the kernel and around it, without compiling and building."""
    spent = result.raw.cpu_s
    return spent["kernel"] + spent["orchestrate"]


def speedup_cpu(result, packet) -> float | None:
    """How many times less CPU `result` took than `packet`."""
    return worked_s(packet) / worked_s(result) if worked_s(result) > 0 else None


def comparison(wormhole, packet, flow=None) -> dict:
    """The JSON of `python -m sim compare`: results of one scenario in the three modes; `flow` may be missing, errors are relative."""
    different = differing(wormhole, packet)
    return {
        "wormhole": wormhole.summary,
        "packet": packet.summary,
        "flow": None if flow is None else flow.summary,
        "speedup_cpu": speedup_cpu(wormhole, packet),
        "identical": not different and wormhole.status == packet.status,
        "differing": different,
        "fct_error": fct_error(wormhole, packet),
        "iteration_error": iteration_error(wormhole, packet),
        "rtt_nrmse": rtt_nrmse(wormhole, packet),
        "error_bar_coverage": error_bar_coverage(wormhole, packet),
        "flow_fct_error": None if flow is None else fct_error(flow, packet),
        "flow_iteration_error": None if flow is None else iteration_error(flow, packet),
        "notes": [RTT_NOTE],
    }
