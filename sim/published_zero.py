"""Seconds that ZeRO-3 adds to a step: weights gathered for every pass over the layers, gradients reduced, as DeepSpeed did in 2021.

What is taken from its code and documentation of that year (microsoft/DeepSpeed 0.3.13 to 0.4, deepspeed/runtime/zero and
docs/_pages/config-json.md): every matrix of weights is gathered by itself while the one before it is at work; it is given up after each
pass, for a layer has more than stage3_max_reuse_distance = 1e9 parameters; its memory is zeroed, and what was gathered is copied out of
a buffer; overlap_comm = false, so that gradients are reduced beside nothing. That all of it runs at the rate of one NIC for each GPU,
where rings over eight NICs would reach eight times as much, is read off the rows of arXiv 2104.04473 table 2: no source says why.
"""

from functools import lru_cache

from sim.published_jobs import Job
from sim.published_rates import RING_BLOCKS, RING_NETWORK_STEP_S, RING_NVLINK_STEP_S, Rates
from sim.workload.transformer import BF16_BYTES, Shape, attention_weights, total_parameters

SHAPES_KEPT = 256  # while efficiencies of their jobs are fitted
COPIED_BYTES = 6  # of memory traffic for each gathered parameter: zeros written, read from the buffer, written in place


def beside(sent: float, arithmetic: float, taken: float) -> float:
    """Seconds of an exchange and of arithmetic in many waves of blocks, which takes back the multiprocessors as soon as the exchange ends."""
    return max(sent, arithmetic + taken * sent)


def zero_3_s(job: Job, rates: Rates, forward: float, backward: float) -> float:
    """What exchanges of ZeRO-3 add to a step whose micro-batch takes `forward` and `backward` seconds of arithmetic.

    A pass gathers 2P bytes in all; with full recomputation there is one more, for the recomputed forward pass (arXiv 1910.02054
    section 7.2.2 counts a forward and a backward pass).
    """
    if job.dp == 1:
        return 0.0
    shares = _matrices(job.shape)
    again = forward if job.recompute == "full" else 0.0
    passes = [(forward, shares), (again, shares), (backward - again, shares[::-1])]
    spent = sum(_pass_s(job, rates, seconds, order) for seconds, order in passes if seconds)
    return job.micro_batches * (spent + _wire_s(job, rates, 1.0) - forward - backward)


@lru_cache(maxsize=SHAPES_KEPT)
def _parameters(shape: Shape) -> int:
    return total_parameters(shape)


def _matrices(shape: Shape) -> list[float]:
    """Shares of a layer's parameters of its matrices, in order: queries, keys and values; output; up; down."""
    attention, whole = attention_weights(shape), _parameters(shape) / shape.layers
    output = shape.head_width * shape.heads * shape.hidden
    up = (whole - attention) * (2 / 3 if shape.gated else 1 / 2)
    return [part / whole for part in (attention - output, output, up, whole - attention - up)]


def _pass_s(job: Job, rates: Rates, arithmetic: float, shares: list[float]) -> float:
    """One pass over all layers: while a matrix is at work the next one is gathered."""
    taken = RING_BLOCKS / rates.multiprocessors
    gathers = [_gather_s(job, rates, share) for share in shares]
    following = gathers[1:] + gathers[:1]
    return sum(beside(sent, arithmetic * share, taken) for share, sent in zip(shares, following, strict=True))


def _gather_s(job: Job, rates: Rates, share: float) -> float:
    """One matrix of every layer gathered and copied."""
    copied = COPIED_BYTES * share * _parameters(job.shape) / rates.memory_bytes_per_s
    return _wire_s(job, rates, share) + copied


def _wire_s(job: Job, rates: Rates, share: float) -> float:
    """A share of every layer's parameters once round the ring of all replicas: its bytes, and the latency of each step for each layer."""
    servers = -(-job.dp // job.gpus_per_node)
    latency = servers * RING_NETWORK_STEP_S * (servers > 1) + (job.dp - servers) * RING_NVLINK_STEP_S
    moved = (job.dp - 1) / job.dp * BF16_BYTES * share * _parameters(job.shape)
    return moved / rates.nic_bytes_per_s + job.shape.layers * latency
