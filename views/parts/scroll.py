"""Bring a container of a page into view, where a button far above it has opened it."""

from itertools import count

import streamlit as st

HEADER = "4.5rem"  # height of the bar that stays on top
_times = count()


def to(key: str) -> None:
    """Scroll to the container of a key, as this page wrote it: never text of a user. Each call is another script, or it would run once only."""
    script = f"document.querySelector('.st-key-{key}')?.scrollIntoView({{behavior: 'smooth', block: 'start'}})"
    st.html(f"<style>.st-key-{key} {{ scroll-margin-top: {HEADER} }}</style>")
    st.html(f"<script>/* {next(_times)} */ setTimeout(() => {script}, 300)</script>", unsafe_allow_javascript=True)
