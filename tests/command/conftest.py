"""Calling the command line in this process, or in one of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from sim.__main__ import main

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def sim(capsys):
    """Runs `python -m sim ...` here: exit status, standard output (as JSON too) and standard error."""

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        out, error = capsys.readouterr()
        return SimpleNamespace(code=code, out=out, error=error, json=lambda: json.loads(out))

    return call


@pytest.fixture
def process():
    """Starts `python -m sim ...` as a process of its own, anywhere."""

    def start(*arguments, cwd=None):
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "sim", *map(str, arguments)]
        return subprocess.Popen(
            command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    return start
