"""Each job of a scenario by itself: its tasks and flows as they are among others, on the same GPUs and paths, and what sharing costs it."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from sim.case import Case, case_of
from sim.faults import rows_of
from sim.scenario import Scenario
from sim.units import PS_PER_S
from sim.workload.dag import Dag


def jobs_that_share(scenario: Scenario) -> list[int]:
    """Numbers of the jobs that have company, of other jobs or of background; none where there is nobody else."""
    jobs = 1 + len(scenario.jobs)
    return list(range(jobs)) if jobs > 1 or scenario.background else []


def cases_alone(scenario: Scenario) -> Callable[[int], Case]:
    """From a job's number to its case; what they have in common is built once, when the first one is asked for."""
    whole = cache(lambda: case_of(scenario))
    return lambda job: case_alone(whole(), job)


def case_alone(case: Case, job: int) -> Case:
    """The case with nothing but what one job (0 the scenario's own) computes and sends; link failures and slow GPUs stay."""
    dag, table = case.dag, case.table
    flows = np.flatnonzero(dag.flow_job == job)
    data, ack = rows_of(table.data_ptr, table.data_ports, flows), rows_of(table.ack_ptr, table.ack_ports, flows)
    rows = {name: getattr(table, name)[flows] for name in ("size_bytes", "window_bytes", "base_rtt_ps", "draw_key")}
    return replace(
        case, dag=_part(dag, np.flatnonzero(dag.task_job == job), flows), src=case.src[flows], dst=case.dst[flows], key=case.key[flows],
        table=table._replace(**rows, data_ptr=data[0], data_ports=data[1], ack_ptr=ack[0], ack_ports=ack[1]),
    )  # fmt: skip


def _part(dag: Dag, tasks: np.ndarray, flows: np.ndarray) -> Dag:
    """The graph of some tasks and flows; nobody else is waited for."""
    nodes = np.concatenate((tasks, dag.n_tasks + flows))
    number = np.full(dag.n_nodes, -1, np.int32)
    number[nodes] = np.arange(len(nodes))
    found, waits = {}, np.zeros(len(nodes), np.int32)
    for name in ("done", "acked"):
        ptr, succ = rows_of(getattr(dag, f"{name}_ptr"), getattr(dag, f"{name}_succ"), nodes)
        after = number[succ]
        kept = np.concatenate(([0], np.cumsum(after >= 0)))
        found |= {f"{name}_ptr": kept[ptr].astype(np.int64), f"{name}_succ": after[after >= 0]}
        waits += np.bincount(after[after >= 0], minlength=len(nodes)).astype(np.int32)
    columns = {name: getattr(dag, name)[tasks] for name in vars(dag) if name.startswith("task_")}
    columns |= {name: getattr(dag, name)[flows] for name in vars(dag) if name.startswith("flow_")}
    return replace(dag, **columns, **found, start_ps=dag.start_ps[nodes], indegree=waits)


def cost_of_sharing(together, alone: dict) -> list[dict]:
    """For every job what it takes among others and alone: its mean iteration and the mean completion of its flows, s, and both ratios.

    `together` is the result of the whole run, `alone` those of jobs by themselves, by number. None for what is not known.
    """
    rows = []
    for number, job in enumerate(together.summary["jobs"]):
        own = alone.get(number)
        alone_s = own.summary["jobs"][0]["iteration_s"] if own is not None and own.summary["jobs"] else None
        fct_s, alone_fct_s = _mean_fct_s(together, number), None if own is None else _mean_fct_s(own, number)
        rows.append(
            {
                "name": job["name"], "iteration_s": job["iteration_s"], "alone_s": alone_s, "slowdown": _ratio(job["iteration_s"], alone_s),
                "mean_fct_s": fct_s, "alone_mean_fct_s": alone_fct_s, "fct_slowdown": _ratio(fct_s, alone_fct_s),
            }
        )  # fmt: skip
    return rows


def _mean_fct_s(result, job: int) -> float | None:
    raw = result.raw
    done = (result.dag.flow_job == job) & (raw.acked_ps >= 0) & (result.dag.flow_bytes > 0)
    return float((raw.acked_ps - raw.start_ps[result.dag.n_tasks :])[done].mean() / PS_PER_S) if done.any() else None


def _ratio(together: float | None, alone: float | None) -> float | None:
    return together / alone if together is not None and alone else None
