"""What a scenario asks for without effect, or in a way that surprises, is said."""

import pytest

from sim.scenario import Scenario, notices


@pytest.fixture
def gpt():
    return Scenario.from_data(
        {
            "cluster": {"topology": "rail-optimised", "gpus": 64},
            "model": {"name": "gpt-7b"},
            "parallelism": {"tp": 8, "pp": 2, "dp": 4},
        }
    )


@pytest.fixture
def incast():
    return Scenario.from_data({"cluster": {"topology": "one-switch", "gpus": 16, "nvlink_gbps": 0.0}, "traffic": {"pattern": "incast"}})


def test_what_has_no_effect_is_said(gpt):
    assert "cluster.leaves has no effect on topology one-switch" in notices(
        gpt.replace_all({"cluster.topology": "one-switch", "cluster.leaves": 8})
    )


def test_what_has_no_effect_on_training_is_said(gpt):
    changes = {"parallelism.expert_skew": 0.5, "parallelism.context_form": "ring", "parallelism.optimizer": "zero-3", "parallelism.bucket_parameters": 5}
    assert notices(gpt.replace_all(changes)) == [
        "parallelism.expert_skew has no effect with ep = 1", "parallelism.context_form has no effect with cp = 1",
        "parallelism.bucket_parameters has no effect with optimizer 'zero-3'",
    ]  # fmt: skip
    jobs = [{"model": {"name": "gpt-125m"}, "parallelism": {"dp": 4, "capacity_factor": 1.25}}]
    slow = [{"gpu": 3, "speed": 0.5}, {"gpu": 99, "speed": 0.5}]
    said = notices(gpt.replace_all({"cluster.gpus": 128, "parallelism.dp": 4, "jobs": jobs, "stragglers": slow}))
    assert "jobs.0.parallelism.capacity_factor has no effect with ep = 1" in said
    assert "stragglers.1.gpu = 99 has no effect: that GPU is idle" in said and not any("stragglers.0" in line for line in said)


def test_nvlink_times_what_tensor_parallel_gpus_do_in_any_network(gpt):
    graph = "9 1 8\n8\n" + "\n".join(f"{host} 8 400Gbps 0.001ms 0" for host in range(8))
    data = {"cluster": {"topology": "file", "graph": graph, "nvlink_gbps": 900.0}, "model": {"name": "gpt-125m"}}
    unused = "cluster.nvlink_gbps has no effect on topology file"
    assert unused in notices(Scenario.from_data({**data, "parallelism": {"dp": 8}}))
    assert unused not in notices(Scenario.from_data({**data, "parallelism": {"tp": 4, "dp": 2}}))


def test_a_long_link_and_scaled_thresholds_are_said(incast):
    slow = incast.replace_all({"cluster.nic_delay_ns": 1e7, "transport.ecn_kmin_kb": 400.0})
    assert any("large bandwidth-delay product" in line for line in notices(slow))
    assert any("given at 100 Gb/s and scaled with the rate for 400 Gb/s" in line for line in notices(slow))


def test_idle_gpus_before_between_and_within_jobs_are_named(gpt):
    small = gpt.replace_all({"model.name": "gpt-125m", "parallelism.tp": 1, "parallelism.dp": 4})
    job = {"model": {"name": "gpt-125m"}, "parallelism": {"dp": 4}}

    def idle(**changes):
        return [line for line in notices(small.replace_all(changes)) if " idle" in line]

    assert idle() == ["56 of 64 GPUs are idle: gpu8 to gpu63"]
    assert idle(jobs=[{**job, "first_gpu": 16}]) == ["52 of 64 GPUs are idle: gpu8 to gpu15, gpu20 to gpu63"]
    assert idle(jobs=[{**job, "first_gpu": 60}, {**job, "first_gpu": 9}]) == ["48 of 64 GPUs are idle: gpu8, gpu13 to gpu59"]
    roomy = {**job, "gpus": 8}
    assert idle(jobs=[{**roomy, "first_gpu": 56}]) == ["52 of 64 GPUs are idle: gpu8 to gpu55, gpu60 to gpu63"]
    strewn = {**roomy, "parallelism": {"dp": 4, "placement": "random"}}
    assert idle(jobs=[{**strewn, "first_gpu": 56}]) == ["52 of 64 GPUs are idle: gpu8 to gpu55, 4 of gpu56 to gpu63"]
    assert idle(jobs=[{**job, "parallelism": {"dp": 56}}]) == []
    slow = [{"gpu": 12, "speed": 0.5}, {"gpu": 17, "speed": 0.5}]
    said = notices(small.replace_all({"jobs": [{**job, "first_gpu": 16}], "stragglers": slow}))
    assert "stragglers.0.gpu = 12 has no effect: that GPU is idle" in said and not any("stragglers.1" in line for line in said)
