"""Text from bytes, words with their lines, whole numbers."""

import pytest

from sim.errors import FormatError
from sim.formats.text import quoted, read_bytes, read_text, rows_of, text_of, whole


def test_a_byte_order_mark_and_any_line_ends_are_fine():
    assert text_of(b"\xef\xbb\xbfa b\r\nc\rd\n", "f") == "a b\nc\nd\n"
    assert rows_of("a b\n\n c\n") == [(1, ["a", "b"]), (3, ["c"])]


@pytest.mark.parametrize(
    "content, words",
    [(b"", "f: is empty"), (b" \r\n\t", "f: is empty"), (b"ab\xff", "byte 2 is not UTF-8"), (b"a\n" + b"9" * 41, "f:2: a number of 41 digits")],
)
def test_no_text(content, words):
    with pytest.raises(FormatError, match=words):
        text_of(content, "f")


def test_files(tmp_path):
    (tmp_path / "topology.txt").write_bytes(b"x\r\n")
    assert read_text(tmp_path / "topology.txt") == "x\n" and read_bytes(tmp_path / "topology.txt") == b"x\r\n"
    with pytest.raises(FormatError, match="there is no such file: did you mean 'topology.txt'"):
        read_text(tmp_path / "topolgy.txt")
    with pytest.raises(FormatError, match="is not a file"):
        read_bytes(tmp_path)


@pytest.mark.parametrize("word, value", [("0", 0), ("12", 12), ("12.0", 12), ("9223372036854775807", 2**63 - 1)])
def test_whole_numbers(word, value):
    assert whole(word, "f:1", "size") == value


@pytest.mark.parametrize(
    "word, words",
    [
        ("-1", "f:1: size '-1': must be a whole number from 1 to 9"), ("10", "the nearest is 9"), ("0", "the nearest is 1"), ("1.5", "the nearest is 2$"),
        ("-7", "the nearest is 1$"), ("1e3", "the nearest is 9$"), ("٣", "from 1 to 9, like 1$"),
        ("", "size ''"), ("9" * 41, "whole number"), ("x" * 500, r"\.\.\.'"),
    ],
)  # fmt: skip
def test_no_whole_number(word, words):
    with pytest.raises(FormatError, match=words):
        whole(word, "f:1", "size", 1, 9)


def test_long_words_are_cut():
    assert len(quoted("y" * 1000)) <= 60
