"""Test helper: files as a careless hand or a broken disk leaves them, and what every reader owes them: one line, or an answer."""

import re

from hypothesis import strategies as st

from sim.errors import LabError

WORDS = (
    "", "0", "1", "-1", "2", "3.5", "1e6", "1e400", "nan", "inf", "99999999999999999999", "9" * 50, "2147483648", "5000000000", "x", "#", "->", "0->0",
    "trigger", "Tier", "NONE", "ALLREDUCE_EP", "100", "100Gbps", "1us", "[", "]", "{", "}", "&a", "*a", ":", "\x00", "é", "²", "٣", "\ufeff",
)  # fmt: skip


@st.composite
def mutated_texts(draw, text):
    """`text` after a few changes of words, lines and characters, in any line ends, as bytes."""
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(("word", "drop", "twice", "line", "swap", "cut", "insert", "digit")))
        spots = [match.span() for match in re.finditer(r"[^\s:\[\],{}\"]+", text)]
        lines = text.split("\n")
        if kind in ("word", "drop", "twice", "digit") and spots:
            low, high = draw(st.sampled_from(spots))
            old = text[low:high]
            new = {"word": draw(st.sampled_from(WORDS)), "drop": "", "twice": f"{old} {old}", "digit": str(draw(st.integers(-2, 70_000)))}[kind]
            text = text[:low] + new + text[high:]
        elif kind in ("line", "swap") and len(lines) > 1:
            one, other = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
            lines[one : one + 1] = [lines[other]] if kind == "swap" else draw(st.sampled_from(([], [lines[one]] * 2)))
            text = "\n".join(lines)
        elif kind == "cut":
            text = text[: draw(st.integers(0, len(text)))]
        else:
            at = draw(st.integers(0, len(text)))
            text = text[:at] + draw(st.sampled_from(WORDS)) + text[at:]
    text = text.replace("\n", draw(st.sampled_from(("\n", "\r\n", "\r"))))
    return (b"\xef\xbb\xbf" if draw(st.booleans()) else b"") + text.encode()


@st.composite
def mutated_bytes(draw, content):
    """`content` with bytes flipped, cut out, repeated or appended."""
    content = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(content) - 1)))
        kind = draw(st.sampled_from(("flip", "cut", "drop", "repeat", "add")))
        if kind == "flip" and content:
            content[at] = draw(st.integers(0, 255))
        elif kind == "cut":
            content = content[:at]
        elif kind == "drop":
            del content[at : at + draw(st.integers(1, 8))]
        elif kind == "repeat":
            content[at:at] = content[at : at + draw(st.integers(1, 30))]
        else:
            content += draw(st.binary(max_size=12))
    return bytes(content)


def one_line_or_answer(read, *arguments):
    """The answer of a reader, or None after an error of the project's family that is one line."""
    try:
        return read(*arguments)
    except LabError as problem:
        text = str(problem)
        assert text and "\n" not in text and len(text) < 1500, text
        return None
