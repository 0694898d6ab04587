"""How a model is spread over ranks: tensor, pipeline and data parallelism, and their rank groups."""

from dataclasses import dataclass

import numpy as np

from sim.errors import ScenarioError

PARAMETERS_PER_RANK_IN_BUCKET = 1_000_000  # Megatron-LM DistributedDataParallelConfig: max(40 M, 1 M x d)
MICRO_BATCHES_MAX = 32_768  # what the 16-bit micro-batch column of a Dag can number


@dataclass(frozen=True)
class Strategy:
    """Parallelism of one training job. rank = tp + t(cp + c(dp + d pp)) (Megatron-LM order tp-cp-dp-pp)."""

    tp: int
    pp: int
    dp: int
    cp: int = 1
    micro_batch: int = 1
    micro_batches: int = 1
    distributed_optimizer: bool = True
    bucket_parameters: int = 40_000_000
    efficiency: float = 0.5

    @property
    def world(self) -> int:
        return self.tp * self.cp * self.dp * self.pp

    @property
    def ranks_per_stage(self) -> int:
        return self.tp * self.cp * self.dp

    @property
    def bucket_size(self) -> int:
        """Parameters in a gradient bucket: the wish, but at least 1 M per data-parallel rank."""
        return max(self.bucket_parameters, PARAMETERS_PER_RANK_IN_BUCKET * self.dp)

    def rank(self, tp=0, cp=0, dp=0, pp=0):
        """Rank at the given coordinates (numbers or arrays)."""
        return tp + self.tp * (cp + self.cp * (dp + self.dp * pp))

    def stage_ranks(self, stage: int) -> np.ndarray:
        """int64[t c d]: the ranks of a pipeline stage; they are consecutive."""
        return np.arange(self.ranks_per_stage) + stage * self.ranks_per_stage

    def tensor_groups(self, stage: int) -> np.ndarray:
        """int64[c d, t]: ranks that share one copy of the stage's layers."""
        return self.stage_ranks(stage).reshape(-1, self.tp)

    def data_groups(self, stage: int) -> np.ndarray:
        """int64[t c, d]: ranks that hold the same parameters of the stage, in ring order."""
        return self.stage_ranks(stage).reshape(self.dp, -1).T


def check_strategy(strategy: Strategy, nvlink_bps: int) -> None:
    """Refuse what a scenario's own rules let pass but a task graph cannot carry."""
    if strategy.tp > 1 and nvlink_bps == 0:
        raise ScenarioError(
            f"parallelism.tp = {strategy.tp} needs NVLink between the GPUs of a server, but cluster.nvlink_gbps = 0; "
            f"give it a rate, or use parallelism.tp = 1"
        )
    if strategy.micro_batches > MICRO_BATCHES_MAX:
        raise ScenarioError(
            f"parallelism.micro_batches = {strategy.micro_batches}: must be at most {MICRO_BATCHES_MAX}; "
            f"raise parallelism.micro_batch instead"
        )
