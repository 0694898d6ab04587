"""`run`: simulate one scenario."""

from sim.command.options import Parser, add_run_options, check_outputs, notes
from sim.command.report import report
from sim.command.watch import clocks, watch
from sim.estimate import estimate
from sim.job import Job
from sim.preset import apply_settings, load_preset

HELP = "simulate a scenario: a preset's name or a TOML file"


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
    add_run_options(parser)


def execute(args) -> int:
    """Check everything that can be checked, simulate, report."""
    began = clocks()
    check_outputs(json=args.json, tables=args.tables)
    scenario = apply_settings(load_preset(args.scenario), args.set)
    estimate(scenario)  # refuses at once what cannot run
    return report(watch(Job(scenario), began), args, notes(args))
