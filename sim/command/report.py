"""What a run says at its end: a page of text on standard output, notices on standard error, JSON and tables."""

import json
import sys

from sim.command.options import write_text
from sim.errors import one_line
from sim.result import Result
from sim.result_collectives import overall
from sim.result_summary import simulated_hops
from sim.result_writers import write_tables
from sim.scenario import Scenario
from sim.scenario_rules import trains
from sim.units import show_bytes, show_count, show_time

OK, STUCK, INTERRUPTED = 0, 1, 130  # exit codes
ENDED = {"cancelled": INTERRUPTED, "deadlock": STUCK}  # of runs that have not reached their end


def report(result: Result | None, args, notes: list[str], quiet: bool = False) -> int:
    """Write everything that `args` ask for; the exit code. `quiet`: standard output has been taken."""
    if result is None:
        say_notes([*notes, "stopped before anything was simulated"])
        return INTERRUPTED
    say_notes([*notes, *result.notices])
    if args.json is not None:
        write_text(args.json, as_json({**result.summary, "notices": result.notices}))
    if args.tables is not None:
        write_tables(result, args.tables)
    if args.json != "-" and not quiet:
        print(page(result))
    return ENDED.get(result.status, OK)


def say_notes(notes: list[str]) -> None:
    """One line each on standard error."""
    for note in notes:
        print(f"note: {one_line(note)}", file=sys.stderr)


def as_json(value: object) -> str:
    """JSON as it is written to a file."""
    return json.dumps(value, indent=2, allow_nan=False) + "\n"


def page(result: Result) -> str:
    """The summary in a few lines."""
    summary, spent = result.summary, result.summary["cpu_s"]
    hops = summary["packet_hops"]
    each = f" ({spent['kernel'] / hops['executed'] * 1e9:.0f} ns a packet-hop simulated)" if hops["executed"] else ""
    ended = (
        f"{of_time(result.scenario)} {show_time(summary['iteration_s'])}"
        if result.finished
        else f"PARTIAL RESULT, stopped at {show_time(result.end_s)}"
    )
    flows = f"{summary['flows_finished']:,} of {summary['flows']:,} finished"
    if summary["mean_fct_s"] is not None:
        times = (show_time(summary[name]) for name in ("mean_fct_s", "p99_fct_s", "max_fct_s"))
        flows += "; completion mean {}, 99th percentile {}, slowest {}".format(*times)
    if summary["bytes_left"]:
        flows += f"; {show_bytes(summary['bytes_left'])} left"
    network = (
        f"max-min fair rates instead of {show_count(hops['total'])} packet-hops (mode flow)"
        if summary["mode"] == "flow"
        else f"{show_count(hops['total'])} packet-hops, {summary['ecn_marks']:,} ECN marks, {summary['pfc_pauses']:,} PFC pauses, "
        f"{summary['drops'] + summary['losses']:,} packets lost, deepest queue {show_bytes(summary['max_queue_bytes'])}"
    )
    return "\n".join(
        [
            f"{summary['scenario']}: {result.status}, {ended}",
            f"  flows    {flows}",
            *collective_lines(summary),
            f"  network  {network}",
            *([f"  kernel   {kernel_line(summary)}"] if summary["mode"] == "wormhole" else []),
            f"  cost     {show_time(spent['kernel'])} of CPU in the kernel{each}, {show_time(spent['build'])} to build, "
            f"{show_time(spent['compile'])} to compile; {show_bytes(summary['peak_rss_bytes'])} of memory at most",
        ]
    )


def of_time(scenario: Scenario) -> str:
    """What the time is of that a run takes: an iteration of training, or the completion of plain traffic."""
    return "iteration" if trains(scenario) else "completion"


def collective_lines(summary: dict) -> list[str]:
    """Time and bus bandwidth of the collectives of a run, if it is one of collectives."""
    mean = overall(summary["collectives"])
    if mean is None:
        return []
    many = f" each ({mean['finished']} in turn, {show_time(mean['fastest_s'])} to {show_time(mean['slowest_s'])})" if mean["finished"] > 1 else ""
    model = "" if mean["nccl_model_s"] is None else f"; NCCL's latency model without contention: {show_time(mean['nccl_model_s'])}"
    return [
        f"  together {mean['collective']}, {mean['algorithm']}, {mean['ranks']} GPUs: {show_time(mean['time_s'])}{many}{model}",
        f"           {mean['formula']}",
    ]


def kernel_line(summary: dict) -> str:
    """How the packet-hops of a run in mode wormhole came about."""
    hops, memo, partitions = summary["packet_hops"], summary["memo"], summary["partitions"]
    own, beyond = simulated_hops(hops)
    parts = {"simulated": own, "replayed": hops["replayed"], "skipped": hops["skipped"]}
    shares = ", ".join(f"{count / max(1, hops['total']):.2%} {word}" for word, count in parts.items())
    more = f", {show_count(beyond)} packet-hops more simulated beyond the run's own" if beyond else ""
    return (
        f"{shares}{more}; {memo['patterns']:,} states known, {memo['hits']:,} of {memo['hits'] + memo['misses']:,} look-ups found; "
        f"{partitions['formed']:,} partitions of up to {partitions['max_flows']:,} flows"
    )
