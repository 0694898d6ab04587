"""`run`: simulate one scenario."""

from sim.command.options import Parser, add_run_options, check_outputs, job_options, notes
from sim.command.report import report
from sim.command.watch import clocks, watch
from sim.estimate import estimate
from sim.job import Job
from sim.preset import apply_settings, load_preset
from sim.scenario import Scenario

HELP = "simulate a scenario: a preset's name or a TOML file"


def add_scenario(parser: Parser) -> None:
    """The scenario, and changes to it."""
    parser.add_argument("scenario", metavar="SCENARIO", help="name of a preset, or a .toml file")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a key, like transport.congestion_control=hpcc; repeatable",
    )


def add(parser: Parser) -> None:
    """Options of `run`."""
    add_scenario(parser)
    add_run_options(parser)


def scenario_of(args) -> Scenario:
    """The scenario that was asked for; refuses at once what cannot run."""
    scenario = apply_settings(load_preset(args.scenario), args.set)
    estimate(scenario)
    return scenario


def execute(args) -> int:
    """Check everything that can be checked, simulate, report."""
    began = clocks()
    check_outputs(json=args.json, tables=args.tables)
    job = Job(scenario_of(args), args.mode, **job_options(args))
    return report(watch(job, began), args, notes(args, job.mode))
