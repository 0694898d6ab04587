"""Numbers in words that charts write beside their marks."""

import pytest

from views.parts.words import off, signed, times


@pytest.mark.parametrize(
    ("share", "words"), [(0.0, "0 %"), (1e-16, "0 %"), (4e-11, "under 0.001 %"), (0.0052, "0.52 %"), (0.021, "2.1 %"), (1.174, "120 %")]
)
def test_an_error_that_is_there_is_never_nothing(share, words):
    assert off(share) == words


@pytest.mark.parametrize(("ratio", "words"), [(224.4, "224 ×"), (2.44, "2.4 ×"), (0.62, "0.6 ×"), (0.042, "0.04 ×")])
def test_a_slow_down_has_a_figure_too(ratio, words):
    assert times(ratio) == words


@pytest.mark.parametrize(
    ("share", "words"), [(0.0, "equal"), (0.1234, "+12.3 %"), (-0.0052, "−0.52 %"), (4e-7, "under +0.001 %"), (-4e-7, "under −0.001 %"), (1.5, "+150 %")]
)
def test_a_difference_has_its_sign(share, words):
    assert signed(share) == words
