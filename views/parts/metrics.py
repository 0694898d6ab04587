"""A row of headline figures that wraps to two a line on a phone."""

import streamlit as st

LEAST_PX = 150


def row(key: str, *figures: tuple[str, str, str | None], border: bool = False) -> None:
    """(label, value, help) each, side by side; `key` names the row on its page."""
    st.html(f"<style>.st-key-{key} > div {{ flex: 1 1 {LEAST_PX}px; }}</style>")
    with st.container(horizontal=True, key=key):
        for label, value, help in figures:
            st.metric(label, value, help=help, border=border)
