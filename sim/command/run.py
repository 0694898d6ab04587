"""`run`: simulate one scenario."""

import sys
import time

from tqdm import tqdm

from sim.command.options import Parser, add_run_options, check_outputs, notes
from sim.command.report import report
from sim.command.watch import _interrupted, clocks, watch
from sim.estimate import estimate
from sim.job import Job
from sim.modes import MODES, make_simulation
from sim.preset import apply_settings, load_preset
from sim.result import Result
from sim.scenario import Scenario

HELP = "simulate a scenario: a preset's name or a TOML file"
SLICE_HOPS = 5_000_000  # between two looks at the progress of a run in the foreground


def add(parser: Parser) -> None:
    """Options of `run`."""
    parser.add_argument("scenario", metavar="SCENARIO", help="name of a preset, or a .toml file")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a key, like transport.congestion_control=hpcc; repeatable",
    )
    add_run_options(parser, tuple(MODES))


def execute(args) -> int:
    """Check everything that can be checked, simulate, report."""
    began = clocks()
    check_outputs(json=args.json, tables=args.tables)
    scenario = apply_settings(load_preset(args.scenario), args.set)
    estimate(scenario)  # refuses at once what cannot run
    result = watch(Job(scenario), began) if args.mode == "packet" else in_foreground(scenario, args.mode, began)
    return report(result, args, notes(args))


def in_foreground(scenario: Scenario, mode: str, began: tuple[float, float]) -> Result:
    """Run in this thread, for modes that do not need the packet kernel; as `watch` otherwise."""
    before_s = time.thread_time() - began[1]
    simulation = make_simulation(scenario, mode)
    with (
        _interrupted(simulation.cancel),
        tqdm(disable=None, file=sys.stderr, unit="hop", unit_scale=True, leave=False, desc="simulating") as bar,
    ):
        while not simulation.advance(SLICE_HOPS):
            progress = simulation.progress()
            bar.total, bar.n = progress.packet_hops_expected, progress.packet_hops
            bar.refresh()
    simulation.cpu_s["build"] += before_s
    simulation.wall_s = time.perf_counter() - began[0]
    return simulation.result()
