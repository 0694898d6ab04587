"""`python -m sim`: the engine without a browser."""

import contextlib
import os
import sys
import threading
import warnings

try:
    from sim.command import bench, compare, exporting, hpcc, importing, run, validate
    from sim.command.options import Parser, UsageError
    from sim.command.report import INTERRUPTED
    from sim.errors import LabError, did_you_mean
except KeyboardInterrupt:
    sys.exit(130)

COMMANDS = {"run": run, "compare": compare, "hpcc": hpcc, "validate": validate, "bench": bench, "import": importing, "export": exporting}
REFUSED = 2
EPILOG = """exit status: 0 done, 1 a validation failed or a run cannot go on, 2 bad input (one line on standard error),
130 interrupted: what had been simulated by then is written, marked as partial"""


def parse(arguments: list[str]):
    """The parsed command line; UsageError for the first thing wrong with it."""
    parser = Parser(
        prog="python -m sim", description="Packet-level simulation of LLM training networks.", epilog=EPILOG
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    of_command = {}
    for name, module in COMMANDS.items():
        of_command[name] = commands.add_parser(name, help=module.HELP, description=module.HELP, epilog=EPILOG)
        module.add(of_command[name])
    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        raise UsageError(f"{arguments[0]!r} is not a command: {did_you_mean(arguments[0], COMMANDS)}")
    args, rest = parser.parse_known_args(arguments)
    if rest:
        raise UsageError(
            f"{args.command}: {rest[0]!r} is too much: {did_you_mean(rest[0].split('=')[0], of_command[args.command].option_names())}"
        )
    return args


def main(arguments: list[str] | None = None) -> int:
    """Run a command line; the exit status."""
    try:
        args = parse(sys.argv[1:] if arguments is None else arguments)
        status = COMMANDS[args.command].execute(args)
        sys.stdout.flush()
        return status
    except LabError as problem:
        print(f"python -m sim: {problem}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _silence_output()
        return 0
    except OSError as problem:
        _silence_output()
        print(f"python -m sim: {problem.filename or 'standard output'}: {problem.strerror or problem}", file=sys.stderr)
        return REFUSED


def _silence_output() -> None:
    """What standard output still holds goes nowhere, so that no exit tries to write it again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: Warning | str, category: type[Warning], *place: object) -> None:
    """A warning as the notes of a run are said: one line, without the place in the source that it comes from."""
    print(f"note: {' '.join(str(message).split())}", file=sys.stderr)


def leave(status: int) -> None:
    """End the process. A thread inside the compiler cannot be unwound: the interpreter's own way out would abort."""
    if not any(thread.daemon for thread in threading.enumerate()):
        sys.exit(status)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    warnings.showwarning = _say
    leave(main())
