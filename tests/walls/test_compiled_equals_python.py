"""The compiled kernel does what its Python source says: every number of tiny runs, with and without the compiler."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.walls.runs import EVERY_CONTROLLER, differences, fabric, incast, ring, run, training, with_faults
from tests.walls.source import ROOT

LOSS = {"kind": "loss", "a": "gpu0", "b": "switch0", "at_us": 0, "probability": 0.1}
DOWN = {"kind": "link-down", "a": "leaf0", "b": "spine0", "at_us": 1.5}
UP = {"kind": "link-up", "a": "leaf0", "b": "spine0", "at_us": 4}
SLOW = {"kind": "degrade", "a": "leaf1", "b": "spine1", "at_us": 2, "rate_factor": 0.25}

VARIANTS = {
    "marked": lambda control: incast(control, ecn_kmin_kb=2, ecn_kmax_kb=12, ecn_pmax=0.5),
    "paused": lambda control: incast(control, pfc="fixed", pfc_xoff_kb=5),
    "lossy": lambda control: with_faults(incast(control), LOSS, retransmit_timeout_us=50),
    "dropping": lambda control: incast(control, pfc="off", buffer_mb=0.01, retransmit_timeout_us=50),
    "on the 1 ns clock": lambda control: {
        **incast(control, ack_every=2, int_telemetry="ns3", window="none"), "simulation": {"resolution": "1ns"},
    },
    "failing": lambda control: with_faults(fabric(control, 3000, pattern="ring", ack_priority="strict"), DOWN, SLOW, UP),
}  # fmt: skip
SCENARIOS = {f"{control} {name}": make(control) for control in EVERY_CONTROLLER for name, make in VARIANTS.items()}
SCENARIOS["training"] = training()
SCENARIOS |= {f"{control} forwarding": ring(control, ecn_kmin_kb=1, ecn_kmax_kb=4, ecn_pmax=0.5) for control in EVERY_CONTROLLER}
SHOWS = {"marked": "ecn_marks", "paused": "pfc_pauses", "lossy": "losses", "dropping": "drops"}


@pytest.fixture(scope="module")
def plain():
    """Every scenario run by plain Python."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.walls.plain_python"],
        input=json.dumps(SCENARIOS), env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["compiled"] is False
    return {name: {key: np.array(values) for key, values in arrays.items()} for name, arrays in found["runs"].items()}


@pytest.mark.parametrize("name", SCENARIOS)
def test_compiled_equals_plain_python(plain, name):
    compiled = run(SCENARIOS[name])
    assert differences(compiled, plain[name]) == {}
    shown = SHOWS.get(name.partition(" ")[2])
    assert shown is None or compiled[shown] > 0, "the scenario does not show what it is for"
