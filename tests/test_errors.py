"""Errors: one family, and the nearest known word."""

from sim.errors import FormatError, LabError, RunError, ScenarioError, did_you_mean, nearest_words, one_line, quoted


def test_one_family():
    assert all(issubclass(kind, LabError) for kind in (ScenarioError, FormatError, RunError))
    assert not issubclass(LabError, ValueError), "pydantic would swallow it"


def test_the_nearest_word_comes_first():
    assert did_you_mean("fattree", ["leaf-spine", "fat-tree"]) == "did you mean 'fat-tree'? known: leaf-spine, fat-tree"


def test_a_word_unlike_all_gets_the_list():
    assert did_you_mean("zzz", ["a1", "b2"]) == "known: a1, b2"


def test_of_a_long_list_only_the_nearest_are_named():
    keys = ["RATE_AI", "RATE_HAI", "MIN_RATE", "U_TARGET", "GLOBAL_T"]
    assert nearest_words("rate_a", keys) == "did you mean 'RATE_AI'?"
    told = nearest_words("zzzz_t", keys)
    assert told.startswith("the nearest are ") and told.count("'") == 6


def test_every_message_is_one_line():
    for end in ("\n", "\r", "\x0b", "\x1c", "\x85", "\u2028", "\udcff"):
        text = str(FormatError(f"a{end}b.txt:3: wrong"))
        assert len(text.splitlines()) == 1 and text.startswith("a\\") and text.encode()
    assert str(ScenarioError("µ: 8 Gb/s – 'ü'")) == "µ: 8 Gb/s – 'ü'" and one_line(one_line("a\nb")) == "a\\nb"


def test_endless_words_are_cut():
    assert str(LabError("x" * 400)) == "x" * 400
    assert str(LabError(f"rate {'x' * 100_000}: no")) == f"rate {'x' * 57}... no"
    assert quoted("y" * 56) == "'" + "y" * 56 + "'" and quoted("y" * 100_000) == "'" + "y" * 55 + "...'" and len(quoted("\n" * 99)) == 60
