"""Figures of queues, marks, pauses and losses in words; a dash in mode flow, which has no packets that could do any of it."""

from views.parts.words import plural, show_bytes, show_count, show_time

NOT_SIMULATED, DASH = "Not simulated in mode flow", "–"
FIGURES = (
    ("ECN marks", lambda summary: show_count(summary["ecn_marks"]), "Packets that switches marked because their queue was long"),
    ("PFC pauses", lambda summary: show_count(summary["pfc_pauses"]), "Times a switch told its neighbour to stop sending"),
    ("Deepest queue", lambda summary: show_bytes(summary["max_queue_bytes"]), "Most bytes that ever waited at one port"),
    ("Packets lost", lambda summary: show_count(summary["drops"] + summary["losses"]), "By full buffers, or on lossy or failed links"),
)
OF_PORT = (
    ("Deepest queue", lambda port: show_bytes(port["max_queue_bytes"]), None),
    ("ECN marks", lambda port: show_count(port["ecn_marks"]), None),
    ("Paused by PFC", lambda port: show_time(port["paused_s"]), lambda port: plural(port["pauses"], "pause")),
)
OF_FLOW = (("ECN marks", lambda flow: show_count(flow["ecn_marks"]), "Packets of this flow that switches marked"),)


def simulated(summary: dict) -> bool:
    """Whether a run had packets."""
    return summary["mode"] != "flow"


def figures(summary: dict, about: tuple = FIGURES, of=None) -> list[tuple[str, str, str | None]]:
    """(label, value, help) of a run, or of one of its ports or flows."""
    of = summary if of is None else of
    if not simulated(summary):
        return [(label, DASH, NOT_SIMULATED) for label, _, _ in about]
    return [(label, value(of), help(of) if callable(help) else help) for label, value, help in about]
