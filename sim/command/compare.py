"""`compare`: one scenario in mode wormhole and in mode flow against packet mode."""

from pathlib import Path

from sim.accuracy import comparison
from sim.command import alone
from sim.command.options import Parser, add_run_options, check_outputs, job_options, write_text
from sim.command.report import INTERRUPTED, OK, STUCK, as_json, kernel_line, of_time, say_notes
from sim.command.run import add_scenario, scenario_of
from sim.command.watch import clocks, watch
from sim.errors import RunError
from sim.job import Job
from sim.result_writers import write_tables
from sim.units import show_time

HELP = "a scenario in mode wormhole and in mode flow against packet mode: speed-up and errors"
DIFFERENT = 1  # exit status: level exact promises identical runs
NOTHING = "stopped before there was anything to compare"


def add(parser: Parser) -> None:
    """Options of `compare`: those of `run`; --mode can only say what is compared anyway."""
    add_scenario(parser)
    add_run_options(parser, ("wormhole",), default="wormhole")
    parser.add_argument("--alone", action="store_true", help=alone.HELP)


def execute(args) -> int:
    """Run the scenario in every mode, one after the other, and say how far they are apart."""
    check_outputs(json=args.json, tables=args.tables)
    scenario = scenario_of(args)
    if args.alone:
        return alone.execute(args, scenario)
    results, notes = {}, []
    jobs = {"wormhole": job_options(args), "packet": {}, "flow": {}}
    for mode, options in jobs.items():
        try:
            result = watch(Job(scenario, mode, **options), clocks())
        except RunError as problem:
            if mode != "flow":
                raise
            notes.append(str(problem))  # what mode flow cannot do is no reason not to compare the others
            continue
        if result is None or result.status == "cancelled":
            say_notes([NOTHING])
            return INTERRUPTED
        results[mode] = result
    found = comparison(**results)
    found["notes"] += notes
    say_notes(notes)
    if args.json is not None:
        write_text(args.json, as_json(found))
    if args.tables is not None:
        for mode, result in results.items():
            write_tables(result, Path(args.tables) / mode)
    if args.json != "-":
        print(page(found, of_time(scenario)))
    exact = found["wormhole"]["level"] == "exact"
    return DIFFERENT if exact and not found["identical"] else STUCK if found["packet"]["status"] == "deadlock" else OK


def page(found: dict, whole: str = "iteration") -> str:
    """The comparison in a few lines; `whole` is what the time of a run is of."""
    rows = []
    for mode in ("packet", "wormhole", "flow"):
        if (run := found[mode]) is not None:
            spent = run["cpu_s"]["kernel"] + run["cpu_s"]["orchestrate"]
            ended = "-" if run["iteration_s"] is None else show_time(run["iteration_s"])
            mean = "-" if run["mean_fct_s"] is None else show_time(run["mean_fct_s"])
            rows.append(f"  {mode:9}{run['status']}, {whole} {ended}, mean flow {mean}, {show_time(spent)} of CPU")
    apart = "identical to the bit" if found["identical"] else f"they differ: {_counted(found['differing'])}"
    speedup = found["speedup_cpu"]
    return "\n".join(
        [
            f"{found['wormhole']['scenario']}: wormhole and packet mode: {apart}",
            *rows,
            f"  kernel   {kernel_line(found['wormhole'])}",
            f"  faster   {'-' if speedup is None else f'{speedup:,.1f} times'} less CPU than packet mode, without compiling and building",
            f"  errors   wormhole {_errors(found['fct_error'], found['iteration_error'], whole)}",
            *([f"           flow {_errors(found['flow_fct_error'], found['flow_iteration_error'], whole)}"] if found["flow"] else []),
        ]
    )


def _counted(differing: dict) -> str:
    return ", ".join(f"{name} of {count:,}" for name, count in differing.items()) or "in how they ended"


def _errors(of_flows: dict | None, of_iteration: float | None, whole: str) -> str:
    if of_flows is None:
        return "unknown: no flow finished in both"
    of_whole = "unknown" if of_iteration is None else f"{of_iteration:.3%}"
    each = "of flows mean {mean:.3%}, median {p50:.3%}, 99th percentile {p99:.3%}, worst {max:.3%}".format(**of_flows)
    return f"completion times {each}; of the {whole} {of_whole}"
