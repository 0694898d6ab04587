"""How a model is spread over ranks: tensor, context, data, expert and pipeline parallelism, and their rank groups."""

from dataclasses import dataclass

import numpy as np

from sim.errors import ScenarioError
from sim.scenario_strategy import MICRO_BATCHES_MAX

PARAMETERS_PER_RANK_IN_BUCKET = 1_000_000  # Megatron-LM DistributedDataParallelConfig: max(40 M, 1 M x d)
LOW_PRECISION_GRADIENTS = ("zero-1", "zero-2", "zero-3")  # bf16 (arXiv 1910.02054 section 3.1)


@dataclass(frozen=True)
class Strategy:
    """Parallelism of one training job. rank = tp + t(cp + c(dp + d pp)), ep = dp mod e (Megatron-LM order tp-cp-ep-dp-pp)."""

    tp: int
    pp: int
    dp: int
    cp: int = 1
    ep: int = 1
    chunks: int = 1  # virtual stages on a GPU, v of the papers
    schedule: str = "1f1b"
    sequence_parallel: bool = False
    recompute: str = "none"
    micro_batch: int = 1
    micro_batches: int = 1
    optimizer: str = "distributed"
    overlap: bool = True
    bucket_parameters: int = 40_000_000
    gradient_algorithm: str = "ring"
    channels: int | None = None  # rings or double trees of a collective; None: one for every member of a server
    context_form: str = "gather"
    expert_algorithm: str = "direct"
    expert_skew: float = 0.0
    capacity_factor: float | None = None
    placement: str = "packed"
    precision: str = "bf16"
    efficiency: float = 0.5

    @property
    def distributed_optimizer(self) -> bool:
        """Whether optimizer states are shared out over the data-parallel ranks."""
        return self.optimizer != "all-reduce"

    @property
    def gradient_bytes(self) -> int:
        """Bytes of a gradient while it is summed."""
        return 2 if self.optimizer in LOW_PRECISION_GRADIENTS else 4

    @property
    def world(self) -> int:
        return self.tp * self.cp * self.dp * self.pp

    @property
    def ranks_per_stage(self) -> int:
        return self.tp * self.cp * self.dp

    @property
    def replicas(self) -> int:
        """Ranks that hold the same parameters, experts apart: c d."""
        return self.cp * self.dp

    @property
    def expert_replicas(self) -> int:
        """Ranks that hold the same experts: c d/e."""
        return self.cp * self.dp // self.ep

    @property
    def bucket_size(self) -> int:
        """Parameters in a gradient bucket: the wish, but at least 1 M per data-parallel rank."""
        return max(self.bucket_parameters, PARAMETERS_PER_RANK_IN_BUCKET * self.replicas)

    def rank(self, tp=0, cp=0, dp=0, pp=0):
        """Rank at the given coordinates (numbers or arrays)."""
        return tp + self.tp * (cp + self.cp * (dp + self.dp * pp))

    def stage_ranks(self, stage: int) -> np.ndarray:
        """int64[t c d]: the ranks of a pipeline stage; they are consecutive."""
        return np.arange(self.ranks_per_stage) + stage * self.ranks_per_stage

    def tensor_groups(self, stage: int) -> np.ndarray:
        """int64[c d, t]: ranks that share one copy of the stage's layers."""
        return self.stage_ranks(stage).reshape(-1, self.tp)

    def context_groups(self, stage: int) -> np.ndarray:
        """int64[t d, c]: ranks that share one sequence."""
        return self.stage_ranks(stage).reshape(self.dp, self.cp, self.tp).transpose(0, 2, 1).reshape(-1, self.cp)

    def data_groups(self, stage: int) -> np.ndarray:
        """int64[t, c d]: ranks that hold the same parameters of the stage, in ring order."""
        return self.stage_ranks(stage).reshape(-1, self.tp).T

    def expert_groups(self, stage: int) -> np.ndarray:
        """int64[t c d/e, e]: ranks that hold all experts of the stage together."""
        split = self.stage_ranks(stage).reshape(self.dp // self.ep, self.ep, self.cp, self.tp)
        return split.transpose(0, 2, 3, 1).reshape(-1, self.ep)

    def expert_data_groups(self, stage: int) -> np.ndarray:
        """int64[e t, c d/e]: ranks that hold the same experts of the stage, in ring order."""
        split = self.stage_ranks(stage).reshape(self.dp // self.ep, self.ep, self.cp, self.tp)
        return split.transpose(1, 3, 0, 2).reshape(self.ep * self.tp, -1)


def check_strategy(strategy: Strategy, nvlink_bps: int, gpus_per_node: int = 0) -> None:
    """Refuse what a scenario's own rules let pass but a task graph cannot carry; 0 GPUs in a node: any number."""
    if 1 < strategy.tp and (strategy.tp <= gpus_per_node or not gpus_per_node) and nvlink_bps == 0:
        raise ScenarioError(
            f"parallelism.tp = {strategy.tp} needs NVLink between the GPUs of a server, but cluster.nvlink_gbps = 0; "
            f"give it a rate, or use parallelism.tp = 1"
        )
    if strategy.micro_batches > MICRO_BATCHES_MAX:
        raise ScenarioError(
            f"parallelism.micro_batches = {strategy.micro_batches}: must be at most {MICRO_BATCHES_MAX}; "
            f"raise parallelism.micro_batch instead"
        )
