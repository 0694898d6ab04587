"""Rules of a strategy: what each refusal says, and that everything it offers works."""

import re

import pytest

from sim.errors import ScenarioError
from sim.scenario import Scenario

CLUSTER = {"topology": "rail-optimised", "gpus": 32, "gpus_per_node": 8}
BASE = {"cluster": CLUSTER, "model": {"name": "gpt-125m"}, "parallelism": {"tp": 2, "pp": 2, "dp": 8}}
MIXTURE = {"layers": 4, "hidden": 64, "heads": 8, "vocabulary": 100, "experts": 12}


def refusal(base=BASE, **parallelism):
    with pytest.raises(ScenarioError) as problem:
        Scenario.from_data(changed(base, **parallelism))
    assert "\n" not in str(problem.value)
    return str(problem.value)


def changed(base, **parallelism):
    return {**base, "parallelism": {**base["parallelism"], **parallelism}}


@pytest.mark.parametrize(
    "parallelism",
    [
        {"dp": 7}, {"tp": 3}, {"pp": 5}, {"virtual_stages": 3, "pp": 3, "dp": 5}, {"virtual_stages": 2, "tp": 16}, {"cp": 4, "dp": 3},
        {"global_batch": 60}, {"schedule": "interleaved", "virtual_stages": 2, "dp": 3, "micro_batches": 4},
    ],
)  # fmt: skip
def test_every_strategy_offered_works(parallelism):
    base = {**BASE, "model": {"name": "gpt-125m", "sequence": 48}}
    offered = re.findall(r"TP (\d+) PP (\d+) DP (\d+)", refusal(base, **parallelism))
    assert offered
    for tp, pp, dp in offered:
        Scenario.from_data(changed(base, **{**parallelism, "tp": int(tp), "pp": int(pp), "dp": int(dp)}))


def test_a_cluster_is_offered_only_if_there_can_be_one():
    assert "(set cluster.gpus = 64 for exactly this strategy)" in refusal(dp=16)
    assert "set cluster.gpus" not in refusal(dp=7)  # 28 GPUs are no whole servers
    assert "(set cluster.gpus = 28 for exactly this strategy)" in refusal({**BASE, "cluster": {**CLUSTER, "gpus_per_node": 4}}, dp=7)


@pytest.mark.parametrize(
    ("parallelism", "words"),
    [
        ({"gradient_algorithm": "double-binary-tree"}, "optimizer 'distributed' has reduce-scatters and all-gathers; use gradient_algorithm = \"ring\""),
        ({"cp": 3, "dp": 2}, "is 24 GPUs, neither all of nor an even share of cluster.gpus = 32; no strategy"),
        ({"cp": 3, "dp": 2}, "no strategy fits all 32 GPUs, and parallelism.cp = 3: 2 cp must divide model.sequence = 2048"),
        ({"virtual_stages": 5}, "pp x virtual_stages = 10 must divide model.layers = 12 (or allow uneven_stages = true); virtual_stages that work: 2, 3, 6"),
        ({"virtual_stages": 7}, "virtual_stages = 7: pp x virtual_stages = 14 must divide model.layers = 12; virtual_stages that work: 2, 3, 6"),
        ({"virtual_stages": 2, "pp": 1, "dp": 16}, "pp = 1: schedule 'interleaved' needs at least 2 of each; or use virtual_stages = 1"),
        ({"virtual_stages": 2, "pp": 1, "dp": 16, "schedule": "interleaved"}, 'or use schedule = "1f1b" and virtual_stages = 1'),
        ({"virtual_stages": 2, "pp": 1, "dp": 16, "schedule": "gpipe"}, "schedule 'gpipe' takes 1; use virtual_stages = 1"),
        ({"virtual_stages": 2, "schedule": "gpipe"}, "schedule 'gpipe' takes 1; use schedule = \"interleaved\", or virtual_stages = 1"),
        ({"virtual_stages": 2, "micro_batches": 3}, "micro_batches = 3: must be a multiple of pp = 2 with schedule 'interleaved'; the nearest are 2 and 4"),
        ({"virtual_stages": 2, "global_batch": 24}, "multiple of dp x micro_batch x pp = 8 x 1 x 2 = 16 with schedule 'interleaved'; the nearest are 16 or 32"),
        ({"micro_batches": 3, "global_batch": 60}, "micro_batches = 3: global_batch = 60 over dp x micro_batch = 8 makes 7.5; give one of the two"),
        ({"micro_batches": 32_769}, "micro_batches = 32769: must be at most 32768"),
    ],
)  # fmt: skip
def test_what_no_other_strategy_mends_says_what_does(parallelism, words):
    assert words in refusal(**parallelism)


def test_the_nearest_sequences():
    short = {**BASE, "model": {"name": "gpt-125m", "sequence": 10}}
    rule = "2 cp must divide model.sequence = 10, each rank taking one part from the front and one from the back; the nearest"
    assert f"{rule} sequences are 8 and 16" in refusal(short, cp=4, dp=2)
    assert f"{rule} sequence is 16" in refusal(short, cp=8, dp=1)


def test_sequence_parallel_ranks_have_equal_parts_of_a_sequence():
    odd = {**BASE, "model": {"name": "gpt-125m", "sequence": 1026}}
    rule = "must divide model.sequence = 1026"
    assert refusal(odd, tp=4, dp=4, sequence_parallel=True).endswith(
        f"sequence_parallel = true: tp = 4 {rule}, for each rank takes an equal part of it; the nearest sequences are 1024 and 1028, "
        "or sequence_parallel = false"
    )
    short = {**BASE, "model": {"name": "gpt-125m", "sequence": 12}}
    within = "tp = 4 must divide model.sequence = 12 / cp = 6, for each rank takes an equal part of it; the nearest sequences are 8 and 16"
    assert within in refusal(short, tp=4, dp=2, cp=2, sequence_parallel=True)
    tiny = {**BASE, "model": {"name": "gpt-125m", "sequence": 3}}
    assert "tp = 4 must divide model.sequence = 3, for each rank takes an equal part of it; the nearest sequence is 4, or" in refusal(
        tiny, tp=4, dp=4, sequence_parallel=True
    )
    for legal in (1024, 1028):
        Scenario.from_data(changed({**BASE, "model": {"name": "gpt-125m", "sequence": legal}}, tp=4, dp=4, sequence_parallel=True))
    Scenario.from_data(changed(odd, tp=2, sequence_parallel=True))
    Scenario.from_data(changed(odd, tp=4, dp=4))


def test_a_job_of_a_given_size_is_offered_what_fills_it():
    job = {"model": {"name": "gpt-125m"}, "gpus": 9, "parallelism": {"dp": 8}}
    with pytest.raises(ScenarioError) as problem:
        Scenario.from_data(changed({**BASE, "cluster": {**CLUSTER, "gpus": 48}, "jobs": [job]}))
    assert "even share of jobs.0.gpus = 9 (set jobs.0.gpus = 8 for exactly this strategy); the nearest that work: TP 1 PP 1 DP 9" in str(problem.value)


def test_the_nearest_expert_parallelism_divides_experts_and_replicas():
    base = {**BASE, "model": MIXTURE}
    assert "ep = 5: must divide model.experts = 12; the nearest is 4" in refusal(base, ep=5)
    why = "must divide parallelism.dp = 8, for experts are spread over data-parallel ranks only (order of ranks tp-cp-ep-dp-pp)"
    assert f"ep = 6: {why}; the nearest is 4" in refusal(base, ep=6)
    assert f"ep = 3: {why}; the nearest are 2 and 4" in refusal(base, ep=3)
    for legal in (2, 4):
        Scenario.from_data(changed(base, ep=legal))


def test_what_the_gpu_cannot_do():
    old = {**BASE, "cluster": {**CLUSTER, "gpu": "A100-SXM-80"}}
    assert "precision = 'fp8': cluster.gpu = 'A100-SXM-80' has no fp8 arithmetic; use precision = \"bf16\", or one of H100-SXM" in refusal(old, precision="fp8")
    bare = {**BASE, "cluster": {**CLUSTER, "nvlink_gbps": 0.0}}
    message = refusal(bare)
    assert "tp = 2: needs NVLink between the GPUs of a server, but cluster.nvlink_gbps = 0; the nearest that work: TP 1 PP 2 DP 16" in message
    Scenario.from_data(changed({**bare, "model": MIXTURE | {"heads": 16}}, tp=16, dp=1))  # wider than a server: over the network
