"""The one-page summary of a run: the JSON of `python -m sim run` and the headline figures of the app."""

import numpy as np

from sim.result_collectives import collectives
from sim.result_jobs import summarise_jobs
from sim.units import PS_PER_S

# In packet mode every packet is executed; nothing is remembered, so there is no memo and no partition to count. In flow mode
# there are no packets: its packet-hops are those of the same traffic, none of them executed.
NO_MEMO = {"patterns": 0, "hits": 0, "misses": 0, "bytes": 0}
NO_PARTITIONS = {"formed": None, "merges": None, "splits": None, "max_flows": None}


def fct_statistics(raw) -> dict:
    """Mean, 99th percentile and maximum of the finished flows' completion times; None if none finished."""
    start_ps = raw.start_ps[raw.dag.n_tasks :]
    done = raw.acked_ps >= 0
    if not done.any():
        return {"mean_fct_s": None, "p99_fct_s": None, "max_fct_s": None}
    fct_s = (raw.acked_ps[done] - start_ps[done]) / PS_PER_S
    return {
        "mean_fct_s": float(fct_s.mean()),
        "p99_fct_s": float(np.percentile(fct_s, 99)),
        "max_fct_s": float(fct_s.max()),
    }


def simulated_hops(packet_hops: dict) -> tuple[int, int]:
    """Of the `packet_hops` of a summary: those of the run that were simulated, and those simulated beyond it.

    What is found out of a state is found out further than the run may go: another flow enters first, and it is of no use.
    """
    own = max(0, packet_hops["total"] - packet_hops["replayed"] - packet_hops["skipped"])
    return own, max(0, packet_hops["executed"] - own)


def _reroutes(raw) -> list[dict]:
    """When flows under way were sent another way, and how many."""
    times, counts = np.unique(raw.reroutes.at_ps, return_counts=True)
    return [{"at_s": at_ps / PS_PER_S, "flows": flows} for at_ps, flows in zip(times.tolist(), counts.tolist(), strict=True)]


def _without_kernel(raw, interrupts: int, hops: int) -> dict:
    """What the wormhole kernel would have counted, in a run without it."""
    flow = raw.mode == "flow"
    executed = 0 if flow else hops
    return {
        "interrupts": interrupts,
        "rollbacks": 0,
        "packet_hops": {"total": hops, "executed": executed, "replayed": 0, "skipped": hops - executed, "irreducible": executed},
        "memo": None if flow else dict(NO_MEMO),
        "partitions": None if flow else dict(NO_PARTITIONS),
    }


def summarise(raw) -> dict:
    """JSON-ready summary; `iteration_s` is None unless every iteration was simulated to its end."""
    started = raw.start_ps[raw.dag.n_tasks :] >= 0
    finished = raw.acked_ps >= 0
    hops = int(raw.counters["packet_hops"])
    kernel = raw.kernel if raw.kernel is not None else _without_kernel(raw, int(started.sum() + finished.sum()), hops)
    return {
        "scenario": raw.scenario.name,
        "hash": raw.scenario.digest(),
        "mode": raw.mode,
        "level": raw.level,
        "status": raw.status,
        **summarise_jobs(raw),
        "simulated_s": raw.end_ps_last / PS_PER_S,
        "flows": len(raw.acked_ps),
        "flows_finished": int(finished.sum()),
        "bytes_left": int(np.where(finished, 0, raw.dag.flow_bytes - raw.flow_acked_bytes).sum()),
        **fct_statistics(raw),
        "reroutes": _reroutes(raw),
        "collectives": collectives(raw),
        **kernel,
        "ecn_marks": int(raw.counters["ecn_marks"]),
        "pfc_pauses": int(raw.counters["pfc_pauses"]),
        "drops": int(raw.counters["drops"]),
        "losses": int(raw.counters["losses"]),
        "retransmits": int(raw.counters["retransmits"]),
        "timeouts": int(raw.counters["timeouts"]),
        "max_queue_bytes": int(raw.counters["max_queue_bytes"]),
        "cpu_s": {phase: float(seconds) for phase, seconds in raw.cpu_s.items()},
        "wall_s": float(raw.wall_s),
        "peak_rss_bytes": int(raw.peak_rss_bytes),
    }
