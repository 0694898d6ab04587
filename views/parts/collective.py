"""The headline of a run of collectives: time, algorithm and bus bandwidth, and how the latter is worked out."""

import streamlit as st

from sim.result_collectives import overall
from views.parts import metrics
from views.parts.fields import spell
from views.parts.words import plural, show_bytes, show_time, told

BUS_BANDWIDTH = "What every line would have to carry if the collective were ideal: it compares algorithms and sizes, and is no wire rate"


def show(summary: dict) -> None:
    """Nothing for other runs."""
    mean = overall(summary.get("collectives", []))
    if mean is None:
        return
    many = mean["finished"] > 1
    st.subheader(f"{mean['collective'].capitalize()} of {show_bytes(mean['bytes'])}", anchor=False)
    spread = "From the first message until the last one has arrived"
    if many:
        spread = f"That of all over their number; each by itself took {show_time(mean['fastest_s'])} to {show_time(mean['slowest_s'])}"
    metrics.row(
        "collective",
        ("Algorithm", spell(mean["algorithm"]), f"Among {plural(mean['ranks'], 'GPU')}"),
        (f"Mean time of {mean['finished']}" if many else "Time", show_time(mean["time_s"]), spread),
        ("Algorithm bandwidth", f"{show_bytes(mean['algbw_bytes_per_s'])}/s", "Bytes of one GPU over the time"),
        ("Bus bandwidth", f"{show_bytes(mean['busbw_bytes_per_s'])}/s", BUS_BANDWIDTH),
        border=True,
    )
    model = "" if mean["nccl_model_s"] is None else f" Without contention NCCL's latency model gives {show_time(mean['nccl_model_s'])}."
    st.caption(told(mean["formula"][:1].upper() + mean["formula"][1:]) + "." + model)
