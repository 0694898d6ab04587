"""What goes wrong in a scenario, and who else is there: faults, slow GPUs, traffic of others, further jobs."""

import streamlit as st

from views.parts import draft, faults, fields, keys, rows, workload

SERVER_GPUS = 8
SMALL = {"tp": 1, "pp": 1}  # of a job that is added


def show(scenario, network) -> None:
    """All that can go wrong with what runs; slow GPUs and further jobs only where models are trained."""
    heading("Links and switches")
    faults.show(scenario, network)
    if "parallelism" in draft.data():
        heading("Slow GPUs")
        rows.show(
            "stragglers", scenario, _new_straggler, "All GPUs compute at the same speed.", "Add a slow GPU",
            "One GPU that computes slower than the others: whoever works with it waits",
        )  # fmt: skip
        fields.show(keys.JITTER, scenario)
    heading("Traffic of others")
    rows.show(
        "background", scenario, _new_background, "Nobody else uses the network.", "Add traffic",
        "Messages of somebody else over the same links, again and again",
    )  # fmt: skip
    if "parallelism" in draft.data():
        heading("Further jobs")
        rows.show(
            "jobs", scenario, _new_job, "One job has the cluster to itself.", "Add a job",
            "Another training job on a server of its own, behind the same switches", workload.training,
        )  # fmt: skip


def heading(text: str) -> None:
    st.markdown(f"**{text}**")


def _new_straggler() -> dict:
    taken = {one.get("gpu") for one in draft.get("stragglers") or []}
    return {"gpu": next(gpu for gpu in range(len(taken) + 1) if gpu not in taken), "speed": 0.7}


def _new_background() -> dict:
    return {"pattern": "random", "flow_bytes": 1_000_000, "period_us": 100.0, "times": 100}


def _new_job() -> dict:
    """A small data-parallel job; the cluster grows by the server that it needs."""
    gpus = draft.get("cluster.gpus_per_node") or SERVER_GPUS
    if isinstance(draft.get("cluster.gpus"), int):
        draft.put("cluster.gpus", draft.get("cluster.gpus") + gpus)
    return {"gpus": gpus, "model": {"name": "gpt-125m"}, "parallelism": {**SMALL, "dp": gpus}}
