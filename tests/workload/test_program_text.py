"""Canonical texts: short ones stay readable, long ones are packed, damaged ones are refused."""

import base64
import zlib

import numpy as np
import pytest

from sim.errors import ScenarioError
from sim.workload import program_text
from sim.workload.program_text import count, pack, unpack, whole_column, word_column


def test_short_and_long_texts():
    short, long = {"a": [1, 2], "b": "ü\n"}, {"a": list(range(5000)), "b": ""}
    assert pack(short) == '{"a":[1,2],"b":"ü\\n"}' and unpack(pack(short), ("a", "b")) == short
    assert pack(long).startswith("zlib:") and len(pack(long)) < 20_000 and unpack(pack(long), ("a", "b")) == long


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "is damaged"), ("{", "is damaged"), ("zlib:", "is damaged|is cut short"), ("zlib:$$$", "is damaged"), ("[" * 100_000, "is damaged"),
        ("[1]", "must be a JSON object with a, b"), ('{"a": 1}', "'b' is missing; it holds a, b"), ('{"a": 1, "b": 2, "c": 3}', "'c' is not a known key"),
        (pack({"a": list(range(5000)), "b": 0})[:-40], "is damaged|is cut short"),
    ],
)  # fmt: skip
def test_damaged(text, words):
    with pytest.raises(ScenarioError, match=words) as caught:
        unpack(text, ("a", "b"))
    assert "\n" not in str(caught.value)


def test_a_text_that_swells_is_cut_off(monkeypatch):
    monkeypatch.setattr(program_text, "MAX_TEXT_BYTES", 1000)
    with pytest.raises(ScenarioError, match="holds more than 1000 bytes"):
        unpack("zlib:" + base64.b64encode(zlib.compress(b" " * 10**6)).decode(), ("a",))


def test_columns():
    assert whole_column([1, 2], "x", 0, 2).dtype == np.int64 and word_column(["a"], "x", 1) == ["a"] and count({"x": 3}, "x", 3, 3) == 3
    for values in (3, [1.5], [True], ["1"]):
        with pytest.raises(ScenarioError, match="x must be a list of whole numbers"):
            whole_column(values, "x", 0, 2)
    with pytest.raises(ScenarioError, match=r"x\[0\] = 3: must be from 0 to 2"):
        whole_column([3], "x", 0, 2)
    with pytest.raises(ScenarioError, match="x has 1 entries, 2 are needed"):
        whole_column([1], "x", 0, 2, 2)
    with pytest.raises(ScenarioError, match="x must be a list of words"):
        word_column([1], "x")
    with pytest.raises(ScenarioError, match="x = '3': must be a whole number from 0 to 5"):
        count({"x": "3"}, "x", 0, 5)
