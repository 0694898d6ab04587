"""What a scenario is, in pictures: its network, and of each job the bytes, the memory, the schedule and the load of experts."""

import numpy as np
import streamlit as st

from sim.errors import ScenarioError
from sim.scenario import Scenario, notices
from sim.topology.build import all_notices
from sim.workload.experts import loads
from sim.workload.fallback import fallback_notices
from sim.workload.jobs import shape_of, strategy_of
from sim.workload.memory import feasibility
from views.figures import expert_load, pipeline_times, schedule, shares
from views.figures.style import CONFIG
from views.figures.topology import topology
from views.parts import preview
from views.parts.fields import spell
from views.parts.job_names import of_jobs
from views.parts.labels import labelled
from views.parts.words import plural, show_bytes, show_share

OWN_JOB = 0
IDLE = " idle: "  # in the notice that must not be overlooked: half a cluster may be meant, or a slip


def show(scenario: Scenario, network) -> None:
    """Notices and pictures of a legal scenario."""
    for notice in all_notices(scenario, network) + fallback_notices(scenario):
        if IDLE not in notice:
            st.caption(f":material/info: {labelled(notice)}")
    st.subheader("Network", anchor=False)
    st.plotly_chart(
        topology(network, preview.faulty_ports(network, scenario)),
        config=CONFIG,
        key="topology",
        alt="Drawing of the network",
    )
    st.caption(
        f"{plural(network.n_hosts, 'GPU')} and {plural(network.n_nodes - network.n_hosts, 'switch', 'switches')}: "
        "every packet takes a shortest path through this graph. Hover a link for its speed and delay."
    )
    if scenario.model is None:
        return
    job = choose_job(scenario)
    sent(job, network)
    memory(job)
    pipeline(job)
    experts(job)


def idle(scenario: Scenario) -> list[str]:
    """The notice on GPUs that have nothing to do, where there are some; it belongs beside the button, above all pictures."""
    return [notice for notice in notices(scenario) if IDLE in notice]


def choose_job(scenario: Scenario) -> Scenario:
    """The scenario, or with further jobs the chosen one of them as a scenario of its own."""
    if not scenario.jobs:
        return scenario
    names = of_jobs(scenario)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("The pictures below are of")
        chosen = st.segmented_control(
            "Job", range(len(names)), default=OWN_JOB, required=True, key="job shown", format_func=lambda index: names[index],
            label_visibility="collapsed",
        )  # fmt: skip
    return alone(scenario, chosen)


def alone(scenario: Scenario, job: int) -> Scenario:
    """Job 0, or a further one, as if it were there alone, on GPUs of its own from the first on."""
    given = {key: value for key, value in scenario.given().items() if key not in ("jobs", "background", "stragglers", "faults")}
    one = None if job == OWN_JOB else scenario.jobs[job - 1]
    model, parallelism = (scenario.model, scenario.parallelism) if one is None else (one.model, one.parallelism)
    gpus = parallelism.gpus if one is None else one.gpus
    try:
        return Scenario.from_data({**given, "cluster": {**given["cluster"], "gpus": gpus}, "model": model.given(), "parallelism": parallelism.given()})
    except ScenarioError:  # a network of so few GPUs cannot be built: the whole one
        return scenario.model_copy(update={"model": model, "parallelism": parallelism, "jobs": (), "stragglers": ()})


def sent(job: Scenario, network) -> None:
    """Bytes by kind of parallelism, and the formulas behind them."""
    st.subheader("Bytes each GPU sends", anchor=False)
    rows, over = preview.sent(job, network)
    st.plotly_chart(shares.bytes_per_gpu(rows, over), config=CONFIG, key="bytes", alt="Bytes sent per GPU by kind of parallelism")
    times = "" if job.parallelism.iterations == 1 else f", all {job.parallelism.iterations} iterations together"
    st.caption(
        f"By kind of parallelism, the mean over the GPUs of the busiest stage{times}: what crosses the network is what its links must "
        "carry; GPUs of one server talk over NVLink."
    )
    with st.expander("By stage, with formulas", icon=":material/functions:"):
        st.dataframe(
            {
                "kind": [shares.kind_word(row.kind) for row in rows if row.sent_bytes],
                "stage": [row.stage for row in rows if row.sent_bytes],
                "sent": [show_bytes(row.sent_bytes) for row in rows if row.sent_bytes],
                "formula": [row.formula for row in rows if row.sent_bytes],
            },
            hide_index=True,
            width="stretch",
        )
        st.caption(
            "s sequence, b micro-batch, h hidden size, a heads, k key and value heads, V vocabulary, K experts per token, P parameters "
            "on a GPU; t, c, e, d the sizes of the groups, m micro-batches. Where it says counted no formula holds: those are the messages "
            "that will be sent, over the GPUs of the stage."
        )


def memory(job: Scenario) -> None:
    st.subheader("Memory of each GPU", anchor=False)
    found = feasibility(job)
    st.plotly_chart(
        shares.memory_per_gpu(found.rows, found.capacity_bytes),
        config=CONFIG,
        key="memory",
        alt="Memory per GPU by kind against its capacity",
    )
    if found.fits:
        st.caption(f"This strategy {found.message}.")
    else:
        st.warning(f"This strategy {labelled(found.message)}. The network can be simulated all the same.", icon=":material/memory:")


def pipeline(job: Scenario) -> None:
    """The schedule of a pipeline and its bubble."""
    p = job.parallelism
    if p.pp == 1:
        return
    st.subheader("Schedule of the pipeline", anchor=False)
    shape = p.schedule, p.pp, p.micro_batches, p.virtual_stages
    st.plotly_chart(schedule.schedule(*shape, p.recompute), config=CONFIG, key="schedule", alt="Passes of every pipeline stage over time")
    shown = schedule.drawn_micro_batches(*shape)
    some = "" if shown == p.micro_batches else f" {shown} of {p.micro_batches} micro-batches are drawn."
    st.caption(
        f"{spell(p.schedule)[:1].upper() + spell(p.schedule)[1:]} of equal stages on a network that takes no time; a backward pass takes twice a "
        f"forward pass{', and a recomputed one' if p.recompute == 'full' else ''}; numbers are micro-batches.{some} {bubble_in_words(p, shown)}"
    )


def bubble_in_words(p, shown: int) -> str:
    """The bubble by its formula, and as drawn where the formula does not hold."""
    found = pipeline_times.bubble_of(p.schedule, p.pp, p.micro_batches, p.virtual_stages, p.recompute)
    text = f"The bubble, idle time over the work of a stage, is {found.formula} = {found.numbers} = **{show_share(found.share)}** ({found.source})."
    drawn = pipeline_times.play(p.schedule, p.pp, shown, p.virtual_stages, p.recompute).bubble(shown)
    if shown == p.micro_batches and abs(drawn - found.share) > 0.005:
        text += f" With fewer micro-batches than stages it is {show_share(drawn)} as drawn."
    return text


def experts(job: Scenario) -> None:
    """Loads of expert-parallel ranks where they are not even."""
    p = job.parallelism
    if p.ep == 1 or (not p.expert_skew and p.capacity_factor is None):
        return
    shape, strategy = shape_of(job.model), strategy_of(p)
    layers = [layer for layer in range(shape.layers) if shape.has_experts(layer)]
    found = np.array([loads(shape, strategy, layer, job.simulation.seed) for layer in layers])
    st.subheader("Load of the experts", anchor=False)
    st.plotly_chart(expert_load.expert_load(found), config=CONFIG, key="experts", alt="Load of every expert-parallel rank over the mean")
    worst = int(found.max(axis=1).argmax())
    dropped = 1 - found.mean()
    lost = "" if dropped < 5e-4 else f" The capacity factor drops {show_share(dropped)} of all tokens."
    st.caption(
        f"Layer {layers[worst]}, where one rank has {found.max():.2f} × the mean load and all others wait for it; lines reach from the least to the "
        f"most of any layer. Over all layers the busiest rank has {found.max(axis=1).mean():.2f} × on average.{lost}"
    )
