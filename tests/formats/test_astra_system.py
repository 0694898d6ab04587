"""ASTRA-sim systems: algorithms by dimension, and every way to be refused."""

import pytest
from hypothesis import given, settings

from sim.errors import FormatError
from sim.formats.astra_system import is_astra_system, read_astra_system
from sim.formats.text import text_of
from tests.formats.mutate import mutated_texts, one_line_or_answer

SYSTEM = """{
  "scheduling-policy": "LIFO",
  "endpoint-delay": 10,
  "preferred-dataset-splits": 4,
  "all-reduce-implementation": ["ring", "halvingDoubling"],
  "all-gather-implementation": ["ring", "direct"],
  "all-to-all-implementation": ["oneDirect"],
  "roofline-enabled": 0,
  "peak-perf": 900,
  "local-mem-bw": 50
}
"""


def test_a_system():
    found = read_astra_system(SYSTEM)
    assert found.algorithms == {"all-reduce": ("ring", "halvingDoubling"), "all-gather": ("ring", "direct"), "all-to-all": ("direct",)}
    assert found.whole_group == {"all-to-all"} and found.splits == 4 and found.peak_tflops is None
    assert found.notices == ("system.json: without effect here: scheduling-policy, endpoint-delay",)


def test_a_roofline():
    found = read_astra_system(SYSTEM.replace('enabled": 0', 'enabled": 1'))
    assert found.peak_tflops == 900 and found.memory_gb_per_s == 50


def test_recognised():
    assert is_astra_system(SYSTEM) and not is_astra_system('{"0": [0, 1]}')
    assert not is_astra_system('{"g": [0, 1], "o": [2]}') and not is_astra_system('{"group": [0, 1], "global": [2], "Late": [3]}')
    assert is_astra_system('{"preferred-dataset-splits": 4}') and is_astra_system('{"peak-perf": 900, "local-mem-bw": 50}')


@pytest.mark.parametrize(
    "text, words",
    [
        ("[]", ["s:1: must be a JSON object"]),
        ("{", ["s:1: is not JSON"]),
        (SYSTEM.replace("10,", "10"), ["s:4: is not JSON"]),
        ("[" * 100_000, ["s: is not JSON"]),
        (SYSTEM.replace("endpoint-delay", "endpoint-dely"), ["s:3: 'endpoint-dely' is not a known key: did you mean 'endpoint-delay'?"]),
        (SYSTEM.replace("endpoint-delay", "scheduling-policy"), ["'scheduling-policy' stands twice"]),
        (SYSTEM.replace('"ring", "halv', '"rng", "halv'), ["s:5: all-reduce-implementation 'rng' is not known: did you mean 'ring'?", "oneRing"]),
        (SYSTEM.replace('["oneDirect"]', '["oneDirect", "ring"]'), ["s:7:", "oneDirect covers all dimensions, but 2 algorithms are listed"]),
        (SYSTEM.replace('["oneDirect"]', '"ring"'), ["s:7:", "must be a list with an algorithm for each dimension"]),
        (SYSTEM.replace("all-to-all-implementation", "all-to-all-implementation-custom"), ["s:7: all-to-all-implementation-custom: only ring, direct"]),
        (SYSTEM.replace('splits": 4', 'splits": 0'), ["s:4: preferred-dataset-splits '0': must be a whole number from 1 to 1024; the nearest is 1"]),
        (SYSTEM.replace('splits": 4', 'splits": "4"'), ["s:4: preferred-dataset-splits '4': must be a whole number"]),
        (SYSTEM.replace('enabled": 0', 'enabled": 1').replace('"peak-perf": 900,\n', ""), ["s:8: roofline-enabled 1: needs peak-perf"]),
    ],
)
def test_refused_in_one_line(text, words):
    with pytest.raises(FormatError) as caught:
        read_astra_system(text, "s")
    assert "\n" not in str(caught.value) and all(word in str(caught.value) for word in words), caught.value


@settings(max_examples=150, deadline=None)
@given(mutated_texts(SYSTEM))
def test_any_damage_ends_in_one_line_or_in_a_system(content):
    one_line_or_answer(lambda: read_astra_system(text_of(content, "s"), "s"))
