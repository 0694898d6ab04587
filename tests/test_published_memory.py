"""Published activation memory, exactly; and what a memory row must say."""

import pytest

from sim.published import REFERENCE
from sim.published_memory import activation_bytes, unit_bytes
from sim.published_models import NotGiven
from sim.published_rows import read_file
from tests.published_rows import row

FIGURE_1 = [row for row in read_file(REFERENCE) if row.kind == "memory"]
BARE = dict(kind="memory", metric="activation memory per GPU, first stage", unit="GiB", micro_batch=None, pp=None, dp=None, recompute="none")


@pytest.mark.parametrize("published", FIGURE_1, ids=lambda row: row.id)
def test_the_bars_of_figure_1(published):
    assert activation_bytes(published) / unit_bytes(published) == pytest.approx(float(published.value), rel=1e-12)


def test_530b_by_hand():
    """34sbh/t x 105 layers x (1 + 34/(35 x 3)), selective with sequence parallelism (arXiv 2205.05198 table 3 has p, v and b)."""
    found = activation_bytes(row(**{**BARE, "layers": 105, "hidden": 20_480, "heads": 128, "ffn": None, "recompute": "selective+SP"}))
    assert found == pytest.approx(34 * 2048 * 20_480 / 8 * 105 * (1 + 34 / 105))


def test_what_the_row_says_goes_first():
    given = row(**{**BARE, "pp": 4, "micro_batch": 2, "source": "elsewhere", "recompute": "full"})
    assert activation_bytes(given) == 2 * 2 * 2048 * 12_288 * 96


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"metric": "memory allocated"}, "is not activation memory of the first stage"),
        ({"source": "elsewhere"}, "micro_batch is not given"),
        ({"source": "elsewhere", "micro_batch": 1}, "pp is not given"),
        ({"recompute": ""}, "recompute '' is not none, selective"),
        ({"tp": None}, "tp is not given"),
        ({"pp": 7, "micro_batch": 1}, "pp 7 x vp 3 does not divide 96 layers"),
    ],
)
def test_what_is_missing_is_named(changes, words):
    with pytest.raises(NotGiven, match=words):
        activation_bytes(row(**{**BARE, **changes}))


def test_units():
    assert unit_bytes(row(unit="GB")) == 10**9
    with pytest.raises(NotGiven, match="unit 'TB' is not one of GiB, GB, MiB, MB"):
        unit_bytes(row(unit="TB"))
