"""What the training software of a published run does: what it hides behind arithmetic, fuses and leaves exposed.

These are facts about programs, each with its source, not numbers fitted to rows; where a source is silent the entry says so.
"""

from dataclasses import dataclass, replace

from sim.published_rows import PublishedRow


@dataclass(frozen=True)
class Stack:
    """One training program at one time."""

    name: str
    words: tuple[str, ...]  # a row is of it whose model and source hold one of these, all parts between + signs
    flash: bool = True  # attention in one kernel, causal half only (arXiv 2205.14135); else scores go through memory
    tensor_hidden: str = "backward"  # "none"; "backward": beside the gradients of a block's first product; "all": in pieces beside the products
    gradients_hidden: bool = True  # exchanged beside the last backward pass
    stages_hidden: bool = False  # sends between pipeline stages beside arithmetic
    stage_sends: int = 2  # sends and receptions of a micro-batch one after another, where they are not hidden
    stage_gathers: int = 0  # of hidden states that were cut among the GPUs of a stage to be sent, per micro-batch
    gradients_whole: bool = False  # summed on every GPU of a group, though each updates a share of the parameters only
    sequence_parallel: bool = True  # where TP > 1 and the row does not say
    optimizer: str = "distributed"
    gradient_bytes: int = 4  # of one while it is exchanged
    accumulate_bytes: int = 4  # memory traffic to add up one parameter's gradient per micro-batch, beside writing nothing else
    parallel_block: bool = False  # attention and MLP side by side: half the exchanges (arXiv 2402.15627 section 3.1)
    layers_per_chunk: int | None = None  # of the interleaved pipeline, where the row does not say
    fused_loss: bool = False  # logits pass through memory a few times only
    experts_hidden: bool = False  # tokens travel while another micro-batch is computed
    experts_once: bool = False  # a token crosses to a server once, however many experts it visits there
    # while tokens travel beside arithmetic: NCCL launches 32 blocks (NVIDIA/nccl#2421) that share no multiprocessor with others (#689)
    all_to_all_multiprocessors: int = 32
    dispatch_bytes: int = 2  # of a hidden value on its way to the experts
    context_hidden: bool = True  # keys and values passed round during attention; else gathered before it
    current_scaling: bool = False  # fp8 with the scale of the tensor itself, else that of earlier steps
    query_norm: bool = False  # queries and keys are normalised, a fact of the model
    recompute_modules: tuple[str, ...] = ()  # of Megatron-LM's selective recomputation, beside what attention kernels do anyway
    dual: bool = False  # DualPipe: both directions at once
    source: str = ""


MEGATRON_2021 = Stack(
    "Megatron-LM 2021", ("2104.04473",), flash=False, tensor_hidden="none", gradients_hidden=False, sequence_parallel=False,
    optimizer="all-reduce", gradient_bytes=2, accumulate_bytes=8,
    source="arXiv 2104.04473 section 4: fused scale-mask-softmax, bias-GeLU and bias-dropout-add, nothing overlapped, fp16 gradients",
)  # fmt: skip
MEGATRON_2023 = Stack(
    "Megatron-LM 2023", ("2402.15627+Megatron-LM",), flash=False, gradients_hidden=False,
    source="arXiv 2402.15627 table 3: without FlashAttention-2 and without overlap of gradients; distributed optimizer",
)  # fmt: skip
BRIDGE = Stack(
    "Megatron-Bridge", ("Megatron-Bridge",), tensor_hidden="all", stages_hidden=True, gradient_bytes=2, fused_loss=True, current_scaling=True,
    source="NVIDIA-NeMo/Megatron-Bridge scripts/performance/configs: tp_comm_overlap, gradients reduced in bf16, fused cross entropy, fp8_cs",
)  # fmt: skip

STACKS = (
    Stack(
        "DeepSpeed ZeRO-3 2021", ("ZeRO-3",), flash=False, tensor_hidden="none", sequence_parallel=False, optimizer="zero-3",
        gradient_bytes=2, accumulate_bytes=8,
        source="arXiv 2104.04473 section 5.2; how it overlaps is not published: see sim/published_step.py",
    ),
    replace(
        MEGATRON_2021, name="DeepSpeed with Megatron 2021", words=("2201.11990", "MT-NLG"), gradient_bytes=4, accumulate_bytes=20,
        stage_sends=4, stage_gathers=3, optimizer="zero-1", gradients_whole=True,
        source="arXiv 2201.11990 section 3: bf16, gradients added up and exchanged in fp32; microsoft/DeepSpeed of 2022: runtime/bf16_optimizer.py "
        "(gradients copied to fp32, then added, summed whole), runtime/pipe/engine.py (sends wait; inputs, outputs, their gradients gathered)",
    ),
    MEGATRON_2021,
    replace(
        MEGATRON_2021, name="Megatron-LM 2022", words=("2205.05198",), tensor_hidden="backward", accumulate_bytes=4,
        source="arXiv 2205.05198 section 4.2.2; Megatron-LM of 2022: gradient accumulation fused, all-reduce beside weight gradients",
    ),
    Stack(
        "MegaScale", ("MegaScale",), tensor_hidden="all", stages_hidden=True, parallel_block=True, fused_loss=True,
        source="arXiv 2402.15627 section 3: parallel block, FlashAttention-2, communication of TP, PP and DP overlapped",
    ),
    Stack(
        "Llama 3", ("2407.21783",), stages_hidden=True, layers_per_chunk=1, context_hidden=False, fused_loss=True,
        source="arXiv 2407.21783 section 3.3.2: interleaved with chunks of one layer, all-gather of keys and values; loss not described",
    ),
    # Recipes of Megatron-Bridge on H100: DeepSeek-V3 dispatches with DeepEP, Qwen3 235B overlaps its all-to-all but not TP, others neither
    replace(
        BRIDGE, name="Megatron-Bridge, DeepEP", words=("Megatron-Bridge+DeepSeek",), experts_once=True, recompute_modules=("mla_up_proj",),
        source="scripts/performance/configs/deepseek: DeepEP, recompute_modules; its MLP's are the few dense layers' and left out here",
    ),
    replace(
        BRIDGE, name="Megatron-Bridge, overlapped all-to-all", words=("Megatron-Bridge+Qwen3_235B",), experts_hidden=True,
        tensor_hidden="backward", query_norm=True,
        source="scripts/performance/configs/qwen: moe_a2a_overlap, alltoall dispatcher, tp_comm_overlap off; qk_layernorm of the model",
    ),
    replace(BRIDGE, name="Megatron-Bridge, Qwen3", words=("Megatron-Bridge+Qwen3",), query_norm=True),
    replace(
        BRIDGE, name="Megatron-Bridge, norms anew", words=("Megatron-Bridge+GPT-OSS",), recompute_modules=("layernorm", "moe_act"),
        source="scripts/performance/configs/gpt_oss: recompute_modules of the H100 recipe",
    ),
    BRIDGE,
    Stack(
        "NeMo", ("NeMo",), tensor_hidden="all", stages_hidden=True,
        source="NVIDIA/NeMo performance recipes 24.07: userbuffers for TP, distributed optimizer overlapped, pipeline sends overlapped",
    ),
    Stack(
        "Megatron-LM by SimuMax", ("SimuMax",), gradients_hidden=False, fused_loss=True,
        source="MooreThreads/SimuMax configs/strategy, docs/b200: Megatron-LM 0.14, fp32 gradients added up, flash attention, fused loss (_cef), none hidden",
    ),
    Stack(
        "DeepSeek", ("2412.19437", "2505.09343"), stages_hidden=True, experts_hidden=True, experts_once=True, all_to_all_multiprocessors=20,
        dispatch_bytes=1, dual=True,
        source="arXiv 2412.19437 sections 3.2 and 3.3: DualPipe, all-to-all hidden, a token to at most 4 servers, dispatch in fp8",
    ),
    MEGATRON_2023,
)  # fmt: skip
OTHER = Stack("Megatron-LM, current", (), source="what Megatron-LM with Transformer Engine does unless told otherwise")


def stack_of(row: PublishedRow, case: str = "") -> Stack:
    """The software of a row; `case` names it where the metric of the row lists several."""
    text = f"{case or row.model} {row.source}"
    for stack in STACKS:
        if any(all(part in text for part in word.split("+")) for word in stack.words):
            return stack
    return OTHER
