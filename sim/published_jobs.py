"""A published row as a training job: which GPUs, how the model is cut, with what software."""

import re
from dataclasses import dataclass, replace

from sim.catalogue.gpus import GPUS, Gpu
from sim.catalogue.nodes import NODES
from sim.published_models import NotGiven, shape_of_row
from sim.published_rows import PublishedRow
from sim.published_stacks import Stack, stack_of
from sim.workload.transformer import Shape

GPU_WORD = re.compile(r"G?[ABH]\d{3}")
OF_FAMILY = {"A100": "A100-SXM-80"}  # the GPU of the catalogue that a bare name means, where it is not the first that begins so
PRECISIONS = {"fp16": "fp16", "bf16": "bf16", "fp8": "fp8", "mxfp8": "fp8", "fp8-cs": "fp8", "fp8-mx": "fp8", "fp8_cs": "fp8", "fp8_mx": "fp8"}
RECOMPUTATIONS = {"none": "none", "full": "full", "selective": "selective", "selective+sp": "selective"}
OTHER_TRAINING = re.compile(r"\b(lora|qlora|peft|adapter)\b", re.IGNORECASE)
GPUS_PER_NODE, NIC_GBPS = 8, 400.0  # of a server that the catalogue does not list


@dataclass(frozen=True)
class Job:
    """What decides the time of a step."""

    shape: Shape
    gpu: Gpu
    precision: str  # "fp16", "bf16" or "fp8"
    gpus: int
    gpus_per_node: int
    nic_bytes_per_s: float  # of each GPU's NIC, line rate
    tp: int
    pp: int
    cp: int
    ep: int
    dp: int
    chunks: int
    micro_batch: int | None  # None: not given
    global_batch: int
    recompute: str
    sequence_parallel: bool
    stack: Stack

    @property
    def micro_batches(self) -> int:
        """Micro-batches per replica and step."""
        return self.global_batch // (self.dp * self.micro_batch)

    @property
    def tokens(self) -> float:
        """Tokens of a micro-batch on one GPU of a tensor-parallel group: sb/c."""
        return self.shape.sequence * self.micro_batch / self.cp

    @property
    def replicas(self) -> int:
        """GPUs that hold the same parameters, experts apart."""
        return self.cp * self.dp

    @property
    def key(self) -> str:
        """What one efficiency is fitted for."""
        return f"{self.gpu.name} {self.precision}"

    def with_micro_batch(self, micro_batch: int) -> "Job":
        return replace(self, micro_batch=micro_batch)


def gpu_of(text: str) -> Gpu | None:
    """The GPU of the catalogue that a text like `DGX H100` or `A100-80` names, if any."""
    found = GPU_WORD.search(text.upper())
    if found is None:
        return None
    name = OF_FAMILY.get(found[0]) or next((name for name in GPUS if name.split("-")[0] == found[0]), None)
    return GPUS.get(name)


def job_of(row: PublishedRow, case: str = "") -> Job:
    """The job of an iteration row; `case` names the software where the metric lists several.

    Raises
    ------
    NotGiven
        An input is missing, or two disagree.
    """
    for column in ("gpus", "tp", "pp", "global_batch"):
        if getattr(row, column) is None:
            raise NotGiven(f"{column} is not given")
    if OTHER_TRAINING.search(row.model):
        raise NotGiven(f"{row.model!r} trains other parameters than the model's own")
    gpu = gpu_of(row.gpu)
    if gpu is None:
        raise NotGiven(f"GPU {row.gpu!r} is not in the catalogue")
    shape, stack = shape_of_row(row), stack_of(row, case)
    tp, pp, cp, ep, gpus = row.tp, row.pp, row.cp or 1, row.ep or 1, row.gpus
    if pp > shape.layers:
        raise NotGiven(f"pp = {pp} is more than the {shape.layers} layers")
    dp = row.dp or gpus // (tp * pp * cp)
    if tp * pp * cp * dp != gpus:
        raise NotGiven(f"tp {tp} x pp {pp} x cp {cp} x dp {dp} is not gpus = {gpus}")
    if row.global_batch % (dp * (row.micro_batch or 1)):
        raise NotGiven(f"global_batch = {row.global_batch} is not whole micro-batches of {dp} replicas")
    if ep > 1 and (not shape.experts or shape.experts % ep):
        raise NotGiven(f"ep = {ep} does not divide the {shape.experts} experts")
    node = next((node for node in NODES.values() if node.gpu == gpu.name), None)
    return Job(
        shape=shape, gpu=gpu, precision=_precision(row, gpu), gpus=gpus,
        gpus_per_node=node.gpus_per_node if node else GPUS_PER_NODE, nic_bytes_per_s=(node.nic_gbps if node else NIC_GBPS) * 1e9 / 8,
        tp=tp, pp=pp, cp=cp, ep=ep, dp=dp, chunks=_chunks(row, shape, stack), micro_batch=row.micro_batch, global_batch=row.global_batch,
        recompute=_recompute(row), sequence_parallel=tp > 1 and (stack.sequence_parallel or "SP" in row.recompute), stack=stack,
    )  # fmt: skip


def _precision(row: PublishedRow, gpu: Gpu) -> str:
    precision = PRECISIONS.get(row.precision.lower())
    if precision is None:
        raise NotGiven(f"precision {row.precision!r} has no rate here" if row.precision else "precision is not given")
    if precision == "fp8" and not gpu.peak_fp8_flops:
        raise NotGiven(f"{gpu.name} has no fp8 arithmetic")
    return precision


def _recompute(row: PublishedRow) -> str:
    """Where a row does not say, or says neither-nor: what the attention kernel recomputes anyway."""
    return RECOMPUTATIONS.get(row.recompute.lower(), "selective")


def _chunks(row: PublishedRow, shape: Shape, stack: Stack) -> int:
    if row.vp is None and stack.layers_per_chunk and row.pp > 1:
        return -(-shape.layers // (row.pp * stack.layers_per_chunk))
    return row.vp or 1
