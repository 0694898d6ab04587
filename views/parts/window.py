"""A stretch of the run's time, chosen by a slider; charts draw more of a narrow one."""

import streamlit as st

from views.figures.style import time_unit


def choose(result, key: str) -> tuple[float, float]:
    """(first, last) in seconds; the whole run at first, and wherever nothing sensible is chosen."""
    scale, unit = time_unit(result.end_s)
    end = result.end_s / scale
    if not end > 0:
        return 0.0, result.end_s
    first, last = st.session_state.get(key) or (0.0, end)
    st.session_state[key] = (min(first, end), min(last, end)) if last > first else (0.0, end)
    first, last = st.slider(
        f"Time shown ({unit})", 0.0, end, key=key, persist_state="session", step=end / 1000, format="%.3f"
    )
    return (first * scale, last * scale) if last > first else (0.0, result.end_s)
