"""The tables of packet mode from a run at level `paper`, with the episodes, partitions and patterns of the wormhole kernel."""

import numpy as np

from sim.flow_level_result import notices_of, raw_of
from sim.paper.books import SEEN
from sim.result import Result
from sim.wormhole.records import PATTERN, Records, partitions_of

SEPARATOR = -1  # behind each path in the words of a pattern


def counters(run) -> dict:
    """As `WormholeSimulation.kernel_counters`; `rollbacks` are replayed transients that were cut short."""
    books, memo, census = run.books, run.memo, run.census
    executed = books.executed
    entered = sum(start >= 0 for start in run.started[run.case.dag.n_tasks :])
    return {
        "interrupts": entered + sum(acked >= 0 for acked in run.acked), "rollbacks": int(run.cut_short),
        "packet_hops": {
            "total": round(books.total), "executed": executed, "replayed": round(books.replayed), "skipped": round(books.skipped), "irreducible": executed,
        },
        "memo": {"patterns": memo.patterns, "hits": memo.hits, "misses": memo.misses, "bytes": int(memo.nbytes)},
        "partitions": {"formed": census.formed, "merges": census.merges, "splits": census.splits, "max_flows": census.most_flows},
    }  # fmt: skip


def result_of(run) -> Result:
    """Tables, series and summary of a `PaperLevel` run as far as it got."""
    run.memo.drop_all()
    books, settings = run.books, run.case.settings
    _, port_bytes = books.with_shares(run.table, run.shares())
    shift, curves = books.byte_curves(run.table, run.end_ps, settings.bins, port_bytes, run.volumes.ack_share)
    seen = {f"port_{name}": books.seen[name] for name in SEEN}
    counted = {
        "ecn_marks": int(books.seen["marks"].sum()), "pfc_pauses": int(books.seen["pauses"].sum()), "drops": int(books.seen["drops"].sum()),
        "max_queue_bytes": int(books.max_queue.max(initial=0)),
    }  # fmt: skip
    return Result(
        raw_of(
            run, bin_ps=1 << shift, series_tx_bytes=curves, **seen, port_max_queue_bytes=books.max_queue, flow_marks=books.flow_marks,
            counters=counted, notices=_notices(run), mode=run.mode, level=run.level, kernel=run.kernel_counters(), records=records(run),
            fct_err_ps=np.full(run.case.dag.n_flows, np.nan),
        )
    )  # fmt: skip


def _notices(run) -> list[str]:
    simulation, hits = run.scenario.simulation, run.memo.hits
    nature = [
        f"Level paper, as published, for study: inexact, and nothing promises how far off a flow is. Rates within {simulation.paper_theta:.3g} of their mean "
        f"over {simulation.paper_samples:,} samples of 1 us count as steady; conflict graphs with equal rates count as equal, whatever their round "
        "trips, link rates, queues and controllers. Queues, marks and pauses are those of the packets simulated, not of what was replayed or skipped."
    ]
    if run.cut_short:
        nature.append(
            f"{run.cut_short:,} of {hits:,} replayed transients were cut short by the next change: flows had moved by what the memo says up to then."
        )
    if run.case.faults:
        nature.append("Level paper forgets at every fault what it has learnt: its memo does not know what links can do.")
    waiting = [f for partition in run.census.active.values() for f in partition.flows]
    return notices_of(run, nature, np.array(waiting + run._held, np.int64))


def records(run) -> Records:
    """Episodes, partitions and patterns, as the wormhole kernel's."""
    episodes, books, network = run.books.episodes(), run.books, run.case.network
    classes, of_port = np.unique(np.stack([network.port_rate_bps, network.port_delay_ps]), axis=1, return_inverse=True)
    words = [_words([fabric.paths(f) for f in flows], of_port.reshape(-1)) for _, fabric, flows in books.patterns]
    return Records(
        episodes, partitions_of(episodes), _patterns(episodes, words), words, [outcome.end_bps() for outcome, *_ in books.patterns],
        classes[0], classes[1], (books.episodes_left_out, 0), np.zeros((0, 3), np.int64),
    )  # fmt: skip


def _words(paths: list, of_port: np.ndarray) -> np.ndarray:
    """A pattern as `sim.wormhole.pattern.pattern_of` reads it."""
    number: dict[int, int] = {}
    found = [number.setdefault(p, len(number)) if p >= 0 else p for data, acks in paths for p in (*data, SEPARATOR, *acks, SEPARATOR)]
    return np.array([len(paths), len(number), *found, *of_port[list(number)].tolist()], np.int64)


def _patterns(episodes: np.ndarray, words: list) -> np.ndarray:
    found = np.zeros(len(words), PATTERN)
    found["pattern_id"], found["states"] = np.arange(len(words)), 1
    found["flows"], found["ports"] = [int(some[0]) for some in words], [int(some[1]) for some in words]
    for name, values in (
        ("count", 1), ("hits", episodes["replayed"]), ("hops_saved", episodes["packet_hops"] - episodes["executed_hops"]),
        ("total_ps", episodes["end_ps"] - episodes["start_ps"]),
    ):  # fmt: skip
        np.add.at(found[name], episodes["pattern_id"], values)
    return found
