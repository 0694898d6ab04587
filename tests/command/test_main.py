"""`python -m sim` as a process: how it ends."""

import subprocess
import sys

import pytest

LEAVE = """
import atexit, sys, threading
from sim.__main__ import leave
atexit.register(print, "the interpreter's own way out", flush=True)
if {in_compiler}:
    threading.Thread(target=threading.Event().wait, daemon=True).start()
print("said")
leave(2)
"""


@pytest.mark.parametrize("in_compiler", [True, False])
def test_a_thread_in_the_compiler_is_not_torn_off_by_the_interpreters_end(in_compiler):
    ended = subprocess.run([sys.executable, "-c", LEAVE.format(in_compiler=in_compiler)], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (2, "")
    assert ended.stdout.splitlines() == ["said"] + ["the interpreter's own way out"] * (not in_compiler)


@pytest.mark.parametrize("more", [(), ("--json", "-")])
def test_standard_output_that_is_full_is_one_line(more):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "sim", "run", "incast-16", "--mode", "flow", *more]
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    said = [line for line in ended.stderr.splitlines() if not line.startswith("note:")]
    assert (ended.returncode, said) == (2, ["python -m sim: standard output: No space left on device"])


def test_a_memo_that_cannot_be_used_is_one_note(process, tmp_path):
    memo = tmp_path / "memo.sqlite"
    memo.write_text("no database")
    child = process("run", "incast-16", "--memo", memo, "--json", "-")
    _, error = child.communicate(timeout=120)
    said = error.splitlines()
    assert child.returncode == 0 and all(line.startswith("note: ") for line in said), error
    assert said[0].startswith(f"note: {memo} cannot be used (file is not a database); it is set aside as memo.sqlite.aside-")
