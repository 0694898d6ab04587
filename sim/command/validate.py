"""`validate`: packet mode against the reference results, or predictions against published measurements."""

import sys

from tqdm import tqdm

from sim.command.options import Parser, UsageError, check_outputs, write_text
from sim.command.reference import reference_cases, validated
from sim.command.report import OK, as_json
from sim.command.watch import ready
from sim.published import REFERENCE, validate
from sim.published_report import as_data, as_lines
from sim.published_rows import read_file

HELP = "run every case of presets/reference in packet mode and compare flow by flow; --published: compare with published measurements instead"
FAILED = 1
HEAD = (
    f"{'case':29}{'flows':>6}{'equal':>7}{'mean':>10}{'last':>10}{'worst flow':>12}  {'links':6}{'pauses':>7}  must be"
)


def add(parser: Parser) -> None:
    """Options of `validate`."""
    parser.add_argument(
        "case", nargs="*", metavar="CASE", help="only cases whose name contains this, like S7 or S2_8to1/dctcp"
    )
    parser.add_argument(
        "--published", nargs="?", const=str(REFERENCE), metavar="CSV",
        help="step times, memory and collectives that were published, against what is predicted; a table like presets/reference/published.csv, "
        "which is taken if none is named",
    )  # fmt: skip
    parser.add_argument("--json", metavar="OUT", help="write everything as JSON; - for standard output")


def execute(args) -> int:
    """Compare every case wanted; exit status 1 if one fails."""
    check_outputs(json=args.json)
    if args.published is not None:
        return _published(args)
    cases = reference_cases(args.case)
    ready()
    found = [validated(case) for case in tqdm(cases, disable=None, file=sys.stderr, unit="case", leave=False)]
    total = totals(found)
    if args.json is not None:
        write_text(args.json, as_json({"cases": found, **total}))
    if args.json != "-":
        print("\n".join([HEAD, *map(line, found), last_line(total)]))
    return OK if total["passed"] else FAILED


def _published(args) -> int:
    if args.case:
        raise UsageError(f"validate {args.case[0]} --published: cases are of the packet comparison; give one of the two")
    found = validate(read_file(args.published), args.published)
    if args.json is not None:
        write_text(args.json, as_json(as_data(found)))
    if args.json != "-":
        print("\n".join(as_lines(found)))
    return OK


def totals(found: list[dict]) -> dict:
    """The counts under the table."""
    failed = sum(not case["passed"] for case in found)
    return {
        "cases_passed": len(found) - failed,
        "cases_failed": failed,
        "flows": sum(case["flows"] for case in found),
        "flows_equal_ns": sum(case["equal_ns"] for case in found),
        "passed": failed == 0,
    }


def line(case: dict) -> str:
    """One case as a row of the table."""
    links = {True: "equal", False: "differ", None: "-"}[case["links_equal"]]
    seeds = f" (is {case['seeds_error']:+.2%})" if "seeds_error" in case else ""
    verdict = "" if case["passed"] else f"  FAILED: {', '.join(case['missed'])}"
    return (
        f"{case['scenario'] + '/' + case['variant']:29}{case['flows']:6}{case['equal_ns']:7}{case['mean_error']:10.4%}{case['last_error']:10.4%}"
        f"{case['worst_flow_error']:12.4%}  {links:6}{case['pfc_pauses']['here']:7}  {case['must']}{seeds}{verdict}"
    )


def last_line(total: dict) -> str:
    """The totals in words."""
    return (
        f"{total['cases_passed']} of {total['cases_passed'] + total['cases_failed']} cases pass; "
        f"{total['flows_equal_ns']} of {total['flows']} flows are equal to the ns"
    )
