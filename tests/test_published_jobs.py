"""A published row as a job: GPUs, layout, software; and what makes a row incomparable."""

import pytest

from sim.published_jobs import gpu_of, job_of
from sim.published_models import NotGiven
from sim.published_stacks import OTHER, STACKS, stack_of
from tests.published_rows import row


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("A100-80", "A100-SXM-80"), ("A100", "A100-SXM-80"), ("H100-80", "H100-SXM"), ("DGX H100", "H100-SXM"), ("H800, CX7 400G", "H800-SXM"),
        ("B200", "B200-SXM"), ("GB200", "GB200"), ("GB300 NVL72", "GB300"), ("6 x H100, 8 x 400G RoCE", "H100-SXM"), ("V100", None), ("1 NIC 100G", None),
    ],
)  # fmt: skip
def test_gpus_as_people_write_them(text, name):
    found = gpu_of(text)
    assert (found.name if found else None) == name


def test_a_row_as_a_job():
    job = job_of(row(vp=3, recompute="selective+SP"))
    assert (job.gpu.name, job.precision, job.gpus_per_node, job.nic_bytes_per_s) == ("A100-SXM-80", "fp16", 8, 25e9)
    assert (job.chunks, job.micro_batches, job.tokens, job.recompute, job.sequence_parallel) == (3, 64, 2048, "selective", True)
    assert not job_of(row()).sequence_parallel, "Megatron-LM of 2022 does so only where the row says it"
    assert job_of(row(dp=None, gpus=128)).dp == 2


def test_llama_3_has_chunks_of_one_layer():
    llama = dict(model="Llama-3 405B", layers=126, hidden=16_384, heads=128, kv=8, ffn=53_248, vocab=128_256, gpu="H100-80", precision="bf16")
    job = job_of(row(**llama, gpus=8192, tp=8, pp=16, dp=64, global_batch=2048, source="arXiv 2407.21783 Table 4"))
    assert job.chunks == 8 and job.stack.name == "Llama 3"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"global_batch": None}, "global_batch is not given"),
        ({"model": "LLAMA2-70B LoRA"}, "'LLAMA2-70B LoRA' trains other parameters"),
        ({"gpu": "V100"}, "GPU 'V100' is not in the catalogue"),
        ({"gpus": 72}, "tp 8 x pp 8 x cp 1 x dp 1 is not gpus = 72"),
        ({"gpus": 32, "dp": None}, "is not gpus = 32"),
        ({"global_batch": 63, "micro_batch": 2}, "global_batch = 63 is not whole micro-batches of 1 replicas"),
        ({"precision": ""}, "precision is not given"),
        ({"precision": "nvfp4"}, "precision 'nvfp4' has no rate here"),
        ({"precision": "fp8"}, "A100-SXM-80 has no fp8 arithmetic"),
        ({"ep": 8}, "ep = 8 does not divide the 0 experts"),
        ({"layers": 4}, "pp = 8 is more than the 4 layers"),
    ],
)
def test_what_cannot_be_compared_says_why(changes, words):
    with pytest.raises(NotGiven, match=words):
        job_of(row(**changes))


@pytest.mark.parametrize(
    ("model", "source", "name"),
    [
        ("GPT 174.6B ZeRO-3", "arXiv 2104.04473 Table 2", "DeepSpeed ZeRO-3 2021"),
        ("GPT 174.6B PTD-P", "arXiv 2104.04473 Table 2", "Megatron-LM 2021"),
        ("MT-NLG 530B", "arXiv 2201.11990 sec 2.4", "DeepSpeed with Megatron 2021"),
        ("GPT 175B Megatron-LM", "arXiv 2402.15627 Table 2", "Megatron-LM 2023"),
        ("GPT 175B MegaScale", "arXiv 2402.15627 Table 2", "MegaScale"),
        ("LLAMA3_70B", "NVIDIA-NeMo/Megatron-Bridge docs/performance-summary.md", "Megatron-Bridge"),
        ("DeepSeekV3", "NVIDIA-NeMo/Megatron-Bridge docs/performance-summary.md", "Megatron-Bridge, DeepEP"),
        ("LLAMA3-8B", "NVIDIA/NeMo docs/source/performance/performance_summary.md", "NeMo"),
        ("GPT 22B", "somewhere else", OTHER.name),
    ],
)
def test_the_software_of_a_row(model, source, name):
    assert stack_of(row(model=model, source=source)).name == name


def test_a_metric_may_name_the_software():
    weak = row(model="GPT 530B weak scaling", source="arXiv 2402.15627 Fig 9")
    assert stack_of(weak, "MFU Megatron-LM").name == "Megatron-LM 2023"
    assert stack_of(weak, "MegaScale").name == "MegaScale"


def test_every_software_says_where_its_facts_come_from():
    assert all(stack.source and stack.words for stack in STACKS) and OTHER.source
    assert len({stack.name for stack in STACKS}) == len(STACKS)
