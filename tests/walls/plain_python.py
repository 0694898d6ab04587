"""Runs the scenarios given on standard input and writes every result; started with NUMBA_DISABLE_JIT=1 it is plain Python."""

import json
import sys

from sim.jit import COMPILED
from tests.walls.runs import run


def main() -> None:
    """JSON in: {name: scenario data}; JSON out: {"compiled": ..., "runs": {name: {array: values}}}."""
    runs = {name: run(data) for name, data in json.load(sys.stdin).items()}
    plain = {name: {key: array.tolist() for key, array in found.items()} for name, found in runs.items()}
    json.dump({"compiled": COMPILED, "runs": plain}, sys.stdout)


if __name__ == "__main__":
    main()
