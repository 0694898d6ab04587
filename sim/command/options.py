"""Reading a command line strictly: a fault is one line with the nearest thing that works."""

import argparse
import os
import sys
from pathlib import Path

from sim.errors import LabError, did_you_mean
from sim.modes import LEVELS, MODES


class UsageError(LabError):
    """A command line that does not say what it should."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are one line and raise UsageError."""

    def __init__(self, **settings):
        super().__init__(**{"allow_abbrev": False, "formatter_class": argparse.RawDescriptionHelpFormatter, **settings})

    def error(self, message: str):
        """Raise what argparse would print."""
        raise UsageError(f"{message} (see {self.prog} --help)")

    def option_names(self) -> list[str]:
        """The long options, for did-you-mean."""
        return [name for action in self._actions for name in action.option_strings if name.startswith("--")]


def one_of(option: str, choices: tuple[str, ...]):
    """An argument type: one of `choices`, or UsageError with the nearest."""

    def read(text: str) -> str:
        if text not in choices:
            raise UsageError(f"{option} {text}: {did_you_mean(text, choices)}")
        return text

    return read


def _mode_of(modes: tuple[str, ...]):
    def read(text: str) -> str:
        if text not in modes:
            what = "not in this command" if text in MODES else "is not a mode"
            raise UsageError(f"--mode {text}: {what}; what works: {', '.join(f'--mode {mode}' for mode in modes)}")
        return text

    return read


def whole(option: str, least: int, most: int = 2**31 - 1):
    """An argument type: a whole number from `least` to `most`."""

    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise UsageError(f"{option} {text}: must be a whole number from {least} to {most}")
        return int(text)

    return read


def add_run_options(parser: Parser, modes: tuple[str, ...] = tuple(MODES), default: str = "the scenario's") -> None:
    """The options that every command that runs something has; `modes` are those that it offers."""
    parser.add_argument(
        "--mode", type=_mode_of(modes), metavar="M", help="; ".join(f"{mode}: {MODES[mode]}" for mode in modes) + f"; {default} if not given"
    )
    parser.add_argument(
        "--level",
        type=one_of("--level", tuple(LEVELS)),
        metavar="L",
        help="; ".join(f"{level}: {LEVELS[level]}" for level in LEVELS) + "; in mode wormhole only",
    )
    parser.add_argument("--no-replay", action="store_true", help="mode wormhole: simulate anew what is known already")
    parser.add_argument("--no-skip", action="store_true", help="mode wormhole: simulate exactly periodic stretches too")
    parser.add_argument(
        "--threads",
        type=whole("--threads", 1, 4096),
        metavar="N",
        help="mode wormhole: threads that work on the run, all cores up to 16 if not given; results do not depend on it",
    )
    parser.add_argument(
        "--memo",
        metavar="PATH",
        help="mode wormhole: database of what runs have learnt, to begin with and to add to; user: the one in the user's cache; none if not given",
    )
    parser.add_argument("--json", metavar="OUT", help="write the summary as JSON; - for standard output")
    parser.add_argument("--tables", metavar="DIR", help="write every table as CSV, with the data dictionary")


def job_options(args: argparse.Namespace) -> dict:
    """What a `Job` takes of these options, its mode apart."""
    return dict(level=args.level, replay=not args.no_replay, skip=not args.no_skip, memo=args.memo, threads=args.threads)


def notes(args: argparse.Namespace, mode: str) -> list[str]:
    """What was asked for but has no effect in the mode that runs."""
    if mode == "wormhole":
        return []
    said = []
    if args.level not in (None, "exact"):
        said.append(f"--level {args.level} has no effect in {mode} mode: {MODES[mode]}")
    if (args.threads or 1) > 1:
        said.append(f"--threads {args.threads} has no effect in {mode} mode: one run takes one thread")
    if args.no_replay or args.no_skip:
        said.append(f"{'--no-replay' if args.no_replay else '--no-skip'} has no effect in {mode} mode: nothing is replayed or skipped")
    if args.memo not in (None, "none"):
        said.append(f"--memo {args.memo} is not used in {mode} mode: nothing is remembered")
    return said


def check_outputs(**paths: str | None) -> None:
    """Refuse, before a long run, a file or directory that could not be written after it. Keys are option names."""
    given = {f"--{name}": path for name, path in paths.items() if path is not None}
    to_stdout = [option for option, path in given.items() if path == "-"]
    if len(to_stdout) > 1:
        raise UsageError(f"{' and '.join(to_stdout)} cannot both go to standard output; give one of them a file name")
    for option, path in given.items():
        if not path:
            raise UsageError(f"{option} needs a name that is not empty")
        if path == "-":
            continue
        target = Path(path)
        if option == "--tables":
            _check_directory(target, option, path)
        elif target.is_dir():
            raise UsageError(
                f"{option} {path}: is a directory; give a file name in it, like {target / option.strip('-')}.txt"
            )
        elif not target.parent.is_dir():
            raise UsageError(f"{option} {path}: there is no directory {target.parent}")
        elif not os.access(target if target.exists() else target.parent, os.W_OK):
            raise UsageError(f"{option} {path}: may not be written")


def _check_directory(target: Path, option: str, path: str) -> None:
    existing = next(parent for parent in (target, *target.absolute().parents) if parent.exists())
    if not existing.is_dir():
        raise UsageError(f"{option} {path}: {existing} is a file; a directory is needed")
    if not os.access(existing, os.W_OK):
        raise UsageError(f"{option} {path}: nothing may be written in {existing}")


def write_text(path: str, text: str) -> None:
    """Write to a file, or to standard output for "-"."""
    if path == "-":
        sys.stdout.write(text)
        return
    try:
        Path(path).write_text(text, "utf-8")
    except OSError as problem:
        raise UsageError(f"{path}: cannot be written: {problem.strerror}") from None
