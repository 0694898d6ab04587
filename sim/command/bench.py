"""`bench`: what the engine costs, in CPU time, which other work on the machine does not blur."""

import sys

from tqdm import tqdm

from sim.command import bench_build, bench_orchestrate, bench_packet, bench_wormhole
from sim.command.options import Parser, UsageError, check_outputs, write_text
from sim.command.report import OK, as_json
from sim.errors import did_you_mean

HELP = "measure the packet kernel, the wormhole kernel (orchestrate, wormhole), or the building of networks and workloads"
SUBJECTS = {"packet": bench_packet, "orchestrate": bench_orchestrate, "build": bench_build, "wormhole": bench_wormhole}


def _subject(text: str) -> str:
    if text not in SUBJECTS:
        raise UsageError(f"bench {text}: is not known; what works: {', '.join(f'bench {name}' for name in SUBJECTS)}")
    return text


def add(parser: Parser) -> None:
    """Options of `bench`."""
    parser.add_argument(
        "subject", nargs="?", type=_subject, default="packet", metavar="|".join(SUBJECTS), help="what to measure (packet)"
    )
    parser.add_argument("--case", action="append", default=[], metavar="NAME", help="only this case; repeatable")
    parser.add_argument("--json", metavar="OUT", help="write everything as JSON; - for standard output")


def execute(args) -> int:
    """Measure every case of a subject, a row as each is done."""
    check_outputs(json=args.json)
    subject = SUBJECTS[args.subject]
    for name in args.case:
        if name not in subject.CASES:
            raise UsageError(f"--case {name}: {did_you_mean(name, subject.CASES)}")
    names = args.case or list(subject.CASES)
    shown = args.json != "-"
    if shown:
        print(subject.HEAD, flush=True)
    found = []
    for name in tqdm(names, disable=None, file=sys.stderr, unit="case", leave=False):
        found.append(subject.measured(name))
        if shown:
            tqdm.write(subject.line(found[-1]), file=sys.stdout)
            sys.stdout.flush()
    result = {"cases": found, **({} if args.case else subject.once())}
    if shown and not args.case:
        print(subject.last_line(result))
    if args.json is not None:
        write_text(args.json, as_json(result))
    return OK
