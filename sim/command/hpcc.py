"""`hpcc`: files of the HPCC simulator in, its fct.txt out."""

from pathlib import Path

import numpy as np

from sim.command.options import Parser, add_run_options, check_outputs, job_options, notes, one_of, whole, write_text
from sim.command.report import report
from sim.command.watch import clocks, watch
from sim.formats.hpcc import read_hpcc
from sim.formats.hpcc_fct import fct_text
from sim.formats.hpcc_run import run_of
from sim.job import Job, warm_up

HELP = "simulate files of the HPCC simulator (ns-3) and write its fct.txt"


def add(parser: Parser) -> None:
    """Options of `hpcc`."""
    for name, meaning in (("topology", "topology file"), ("flows", "flow file"), ("config", "configuration file")):
        parser.add_argument(f"--{name}", required=True, metavar=name[0].upper(), help=meaning)
    parser.add_argument(
        "--paths", metavar="P", help="CSV src,dst,path,ack_path with node ids joined by -; others take ECMP's"
    )
    parser.add_argument(
        "--fct", required=True, metavar="OUT", help="completion times in the simulator's format; - for standard output"
    )
    parser.add_argument(
        "--resolution",
        type=one_of("--resolution", ("1ps", "1ns")),
        default="1ps",
        metavar="R",
        help="clock: 1ps, or 1ns truncated as in ns-3",
    )
    parser.add_argument(
        "--seed", type=whole("--seed", 0), default=1, metavar="S", help="seed of random marking and loss"
    )
    add_run_options(parser, default="packet")


def execute(args) -> int:
    """Read the files, simulate, write the completion times and what else is asked for."""
    began = clocks()
    check_outputs(fct=args.fct, json=args.json, tables=args.tables)
    mode = args.mode or "packet"
    if mode != "flow":
        warm_up()
    source = read_hpcc(args.topology, args.flows, args.config, args.paths)
    run = run_of(source, args.resolution, args.seed, name=Path(args.flows).stem)
    result = watch(Job(run.case, mode, **job_options(args)), began)
    if result is not None:
        raw = result.raw
        write_text(args.fct, fct_text(source, np.where(raw.acked_ps >= 0, raw.acked_ps - raw.start_ps, -1)))
    return report(result, args, notes(args, mode), quiet=args.fct == "-")
