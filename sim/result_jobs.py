"""When the iterations of each job ended: what a run with several tells of each."""

import numpy as np

from sim.units import PS_PER_S


def ends_ps(raw) -> dict[int, np.ndarray]:
    """For every job its iterations' ends, int64[iterations] ps; -1 where something of it is left. Background is no job.

    Plain traffic is a job of one iteration.
    """
    dag, tasks = raw.dag, raw.dag.n_tasks
    job = np.concatenate([dag.task_job, dag.flow_job]).astype(np.int64)
    iteration = np.concatenate([dag.task_iteration, dag.flow_iteration]).astype(np.int64)
    end = np.concatenate([raw.end_ps[:tasks], raw.acked_ps])
    found = {}
    for one in np.unique(job[job >= 0]).tolist():
        mine = job == one
        last = np.zeros(int(iteration[mine].max()) + 1, np.int64)
        np.maximum.at(last, iteration[mine], end[mine])
        last[np.unique(iteration[mine][end[mine] < 0])] = -1
        found[one] = last
    return found


def summarise_jobs(raw) -> dict:
    """`iteration_s`, the mean over the iterations of the scenario's own job; `iterations_s`, each of them; `jobs`, the same of all jobs.

    None for what was not simulated to its end.
    """
    names = [raw.scenario.name, *(job.name for job in raw.scenario.jobs)]
    starts_s = [0.0, *(job.start_us * 1e-6 for job in raw.scenario.jobs)]
    jobs = []
    for job, last in ends_ps(raw).items():
        whole = last >= 0
        each = np.diff(last / PS_PER_S, prepend=starts_s[job])
        done = [float(s) if ok else None for s, ok in zip(each, whole & np.concatenate([[True], whole[:-1]]), strict=True)]
        mean = (last[-1] / PS_PER_S - starts_s[job]) / len(last) if whole.all() else None
        jobs.append({"name": names[job], "iteration_s": None if mean is None else float(mean), "iterations_s": done})
    if not jobs:
        return {"iteration_s": raw.end_ps_last / PS_PER_S if raw.status == "finished" else None, "iterations_s": [], "jobs": []}
    return {"iteration_s": jobs[0]["iteration_s"], "iterations_s": jobs[0]["iterations_s"], "jobs": jobs}
