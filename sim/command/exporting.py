"""`export`: a scenario or its result as files of another tool."""

import contextlib
import gzip
import importlib
import os
from collections.abc import Iterator
from pathlib import Path

from sim.command.options import Parser, UsageError, job_options, one_of
from sim.command.report import ENDED, INTERRUPTED, OK, say_notes
from sim.command.run import scenario_of
from sim.command.watch import clocks, watch
from sim.errors import did_you_mean
from sim.formats import exporting
from sim.formats.perfetto import trace
from sim.formats.tables import as_run, read_tables
from sim.job import Job
from sim.modes import LEVELS, MODES
from sim.result_writers import archive_of, encoded, tables_archive, write_tables
from sim.topology.build import build_network
from sim.workload.build import build_dag

HELP = "write a scenario or its result for another tool: hpcc, htsim, perfetto, csv, parquet, html"
KINDS = {
    "hpcc": "topology.txt, flow.txt and config.txt of the HPCC simulator, in a directory",
    "htsim": "connections.cm, and network.topo if it is a folded Clos, in a directory",
    "perfetto": "a trace for ui.perfetto.dev or chrome://tracing, .json or .json.gz",
    "csv": "every table, in a directory or a .zip",
    "parquet": "every table, in a directory or a .zip",
    "html": "a report in one .html file",
}
ENDINGS = {"perfetto": (".json", ".json.gz"), "html": (".html",)}
REPORT = "views.figures.html_report"  # made of the pages' figures: found by name, for nothing here imports what draws


def add(parser: Parser) -> None:
    """Options of `export`."""
    kinds = "; ".join(f"{kind}: {told}" for kind, told in KINDS.items())
    parser.add_argument("what", nargs="+", metavar="SCENARIO KIND", help=f"a preset's name or a .toml file, then a kind: {kinds}")
    parser.add_argument("--tables", metavar="DIR", help="in the place of SCENARIO: tables that `run --tables` has written (perfetto, csv, parquet)")
    parser.add_argument("--out", required=True, metavar="OUT", help="file or directory, as the kind says")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a key of the scenario; repeatable")
    parser.add_argument("--mode", type=one_of("--mode", tuple(MODES)), metavar="M", help="of the run, where one is needed")
    parser.add_argument("--level", type=one_of("--level", tuple(LEVELS)), metavar="L", help="of the run, in mode wormhole")
    parser.add_argument("--memo", metavar="PATH", help="mode wormhole: database of what runs have learnt")
    parser.set_defaults(no_replay=False, no_skip=False, threads=None)


def execute(args) -> int:
    """Check, run if the kind needs it, write, and say what the format could not carry."""
    began = clocks()
    kind = _kind(args)
    _check_out(kind, args.out)
    if args.tables is not None:
        say_notes(_from_tables(kind, args.tables, args.out))
        return 0
    args.scenario = args.what[0]
    scenario = scenario_of(args)
    result = None
    network, dag = None, None
    if kind in exporting.DIRECTORIES:
        network, dag = build_network(scenario.cluster), build_dag(scenario)
    if dag is None or exporting.needs_a_run(kind, scenario, dag):
        result = watch(Job(scenario, args.mode, **job_options(args)), began)
        if result is None:
            say_notes(["stopped before anything was simulated"])
            return INTERRUPTED
    say_notes(_write(kind, args.out, scenario, network, dag, result))
    return OK if result is None else ENDED.get(result.status, OK)


def _kind(args) -> str:
    wanted = 1 if args.tables is not None else 2
    kind = args.what[-1]
    if kind not in KINDS:
        raise UsageError(f"export {kind}: is not a kind of file: {did_you_mean(kind, KINDS)}")
    if len(args.what) != wanted:
        rule = "KIND alone, beside --tables" if wanted == 1 else "SCENARIO KIND, like gpt-small-16 perfetto"
        raise UsageError(f"export {' '.join(args.what)}: must be {rule}")
    if args.tables is not None and kind not in ("perfetto", "csv", "parquet"):
        raise UsageError(f"export --tables {args.tables} {kind}: tables do not hold what {kind} needs; what works: perfetto, csv, parquet, or a SCENARIO")
    return kind


def _check_out(kind: str, out: str) -> None:
    """Refuse, before a long run, what could not be written after it."""
    target = Path(out)
    if kind in ENDINGS and not out.endswith(ENDINGS[kind]):
        raise UsageError(f"--out {out}: {kind} is written to a file that ends in {' or '.join(ENDINGS[kind])}; the nearest is {out}{ENDINGS[kind][0]}")
    single = kind in ENDINGS or (kind in ("csv", "parquet") and out.endswith(".zip"))
    if single and (target.is_dir() or not target.parent.is_dir()):
        raise UsageError(f"--out {out}: " + ("is a directory; a file name is needed" if target.is_dir() else f"there is no directory {target.parent}"))
    existing = next(parent for parent in (target, *target.absolute().parents) if parent.exists())
    if not single and not existing.is_dir():
        raise UsageError(f"--out {out}: {existing} is a file; {kind} is written to a directory")
    if not os.access(existing, os.W_OK):
        raise UsageError(f"--out {out}: may not be written")


def _write(kind: str, out: str, scenario, network, dag, result) -> list[str]:
    """Write the files; what to say."""
    said = [] if result is None else list(result.notices)
    if kind in exporting.DIRECTORIES:
        found = getattr(exporting, kind)(scenario, network, dag, result)
        with _writable(out):
            Path(out).mkdir(parents=True, exist_ok=True)
            for name, pieces in found.files.items():
                _write_pieces(Path(out) / name, pieces)
        return said + found.notices
    if kind == "perfetto":
        _write_pieces(Path(out), trace(result))
    elif kind == "html":
        _write_pieces(Path(out), iter([importlib.import_module(REPORT).html_report(result)]))
    elif out.endswith(".zip"):
        with _writable(out):
            Path(out).write_bytes(tables_archive(result, kind))
    else:
        write_tables(result, out, kind)
    return said


def _from_tables(kind: str, directory: str, out: str) -> list[str]:
    tables, summary = read_tables(directory)
    if kind == "perfetto":
        _write_pieces(Path(out), trace(as_run(tables, summary)))
        return []
    with _writable(out):
        files = [(f"{name}.{kind}", encoded(table, kind)) for name, table in tables.items()]
        files.append(("summary.json", (Path(directory) / "summary.json").read_bytes()))
        if out.endswith(".zip"):
            Path(out).write_bytes(archive_of(files))
        else:
            Path(out).mkdir(parents=True, exist_ok=True)
            for name, content in files:
                (Path(out) / name).write_bytes(content)
    return []


def _write_pieces(path: Path, pieces: Iterator[str]) -> None:
    with _writable(path), gzip.open(path, "wt", encoding="utf-8") if path.suffix == ".gz" else path.open("w", encoding="utf-8") as file:
        file.writelines(pieces)


@contextlib.contextmanager
def _writable(path: str | Path):
    try:
        yield
    except OSError as problem:
        raise UsageError(f"{path}: cannot be written: {problem.strerror or problem}") from None
