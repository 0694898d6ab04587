"""When what went wrong in a run: the faults of its scenario in words, as moments on a time axis and as a line below."""

import streamlit as st

from views.parts import faults
from views.parts.words import plain, show_share, show_time

MOST_TOLD = 8  # faults in the line
US_PER_S = 1e6


def moments(result) -> dict[float, str]:
    """Faults that the run got to, by time in seconds."""
    found: dict[float, list[str]] = {}
    for fault in result.scenario.faults:
        at_s = fault.at_us / US_PER_S
        if at_s <= result.end_s:
            found.setdefault(at_s, []).append(words(fault, result.network))
    return {at_s: told[0] if len(told) == 1 else f"{len(told)} faults" for at_s, told in sorted(found.items())}


def tell(result, where: str) -> None:
    """The faults and their times, and `where` they are seen on the page; nothing without faults."""
    listed = sorted(result.scenario.faults, key=lambda fault: fault.at_us)
    if not listed:
        return
    told = [f"**{plain(words(fault, result.network))}** at {_time(fault.at_us / US_PER_S, result.end_s)}" for fault in listed[:MOST_TOLD]]
    more = f" and {len(listed) - MOST_TOLD} more" if len(listed) > MOST_TOLD else ""
    st.caption(f":material/link_off: By the scenario {', '.join(told)}{more}{where}")
    if unused := result.unused_faults:
        st.caption(f":material/info: {plain(unused)}")


def words(fault, network) -> str:
    """ "leaf0–spine0 fails", "leaf1 works again", "leaf0–spine0 slows down to 50 %", "leaf0–spine0 is at full rate again"."""
    ends = [network.node_name[network.node_id(end)] for end in (fault.a, fault.b) if end is not None]
    if fault.kind == "degrade" and fault.rate_factor == 1:
        return f"{'–'.join(ends)} is at full rate again"
    extra = {"degrade": f" to {show_share(fault.rate_factor or 0)}", "loss": f": {100 * (fault.probability or 0):g} %"}.get(fault.kind, "")
    return f"{'–'.join(ends)} {faults.WORDS[fault.kind].partition(' ')[2]}{extra}"


def _time(at_s: float, end_s: float) -> str:
    return show_time(at_s) + (" (after the end)" if at_s > end_s else "")
