"""`import`: files of another tool in, a scenario out."""

from pathlib import Path

from sim.command.options import Parser, UsageError, check_outputs, one_of, write_text
from sim.command.report import say_notes
from sim.errors import one_line
from sim.formats.importing import IMPORTERS, MAX_IMPORT_BYTES, import_with_notices
from sim.formats.text import read_bytes
from sim.preset import to_toml
from sim.units import show_bytes

HELP = "make a scenario from files of another tool: " + ", ".join(IMPORTERS)


def add(parser: Parser) -> None:
    """Options of `import`."""
    takes = "; ".join(f"{kind}: {importer.TAKES}" for kind, importer in IMPORTERS.items() if kind != "chakra")
    parser.add_argument("kind", type=one_of("import", tuple(IMPORTERS)), metavar="KIND", help=", ".join(IMPORTERS))
    parser.add_argument("files", nargs="+", metavar="FILE", help=f"files in any order, told apart by what is in them ({takes})".replace("%", "%%"))
    parser.add_argument("--out", required=True, metavar="OUT", help="the scenario, a .toml file; - for standard output")


def execute(args) -> int:
    """Read the files, write the scenario, and say what was assumed."""
    check_outputs(out=args.out)
    if args.out != "-" and not args.out.endswith(".toml"):
        raise UsageError(f"--out {args.out}: must end in .toml; the nearest is {args.out}.toml")
    scenario, said = import_with_notices(args.kind, _contents(args.files))
    write_text(args.out, to_toml(scenario))
    say_notes(said)
    if args.out != "-":
        print(one_line(f"{args.out}: {scenario.description} Run it with: python -m sim run {args.out}"))
    return 0


def _contents(paths: list[str]) -> dict[str, bytes]:
    """Bytes by file name, all together at most `MAX_IMPORT_BYTES`."""
    found: dict[str, bytes] = {}
    total = 0
    for path in paths:
        name = Path(path).name
        if name in found:
            raise UsageError(f"{path}: a second file is named {name}; files of one import have different names")
        found[name] = read_bytes(path)
        total += len(found[name])
        if total > MAX_IMPORT_BYTES:
            raise UsageError(f"{path}: the files up to here hold {show_bytes(total)}; at most {show_bytes(MAX_IMPORT_BYTES)} are read")
    return found
