"""A SimAI workload as values: the layers that every pipeline stage runs, and how the GPUs are grouped."""

from dataclasses import dataclass

import numpy as np

from sim.errors import ScenarioError
from sim.workload import program_text

COLLECTIVES = ("ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL")
NONE = "NONE"
SUFFIXES = ("", "_EP", "_DP_EP")
NONES = tuple(NONE + suffix for suffix in SUFFIXES)
COMMS = (*NONES, *(name + suffix for suffix in SUFFIXES for name in COLLECTIVES))
PHASES = ("fwd", "ig", "wg")
MAX_BYTES = 2**50
MAX_NS = 10**15  # 11.6 days: a thousand such layers still fit 64-bit picoseconds in sum
MAX_GPUS = 65_536
MAX_COUNT = 10**9
MAX_LAYERS = 100_000
HEADER = ("tp", "ep", "pp", "vpp", "ga", "gpus", "pp_comm_bytes")
LIMITS = {
    "tp": (1, MAX_GPUS), "ep": (1, MAX_GPUS), "pp": (1, MAX_GPUS), "vpp": (1, MAX_COUNT), "ga": (1, MAX_COUNT),
    "gpus": (1, MAX_GPUS), "pp_comm_bytes": (0, MAX_BYTES),
}  # fmt: skip


@dataclass(frozen=True)
class SimaiWork:
    """L layers, columns by phase: forward (fwd), gradient of the inputs (ig), gradient of the weights (wg)."""

    tp: int
    ep: int
    pp: int
    vpp: int
    ga: int  # micro-batches
    gpus: int
    pp_comm_bytes: int  # from stage to stage, each way
    name: list[str]
    ns: np.ndarray  # int64[3, L]: compute
    comm: list[list[str]]  # [3][L], of COMMS
    n_bytes: np.ndarray  # int64[3, L]: of the collective's whole buffer
    update_ns: np.ndarray  # int64[L]

    @property
    def dp(self) -> int:
        """Data-parallel replicas."""
        return self.gpus // (self.tp * self.pp)

    def problem(self) -> str | None:
        """What makes these numbers disagree, with the nearest that work; None if they agree."""
        model = self.tp * self.pp
        if self.gpus % model:
            lower = self.gpus // model * model
            near = f"{lower} or {lower + model}" if lower else f"{model}"
            return (
                f"all_gpus {self.gpus}: must be a multiple of model_parallel_NPU_group x pp = {self.tp} x {self.pp} = {model}; "
                f"the nearest {'are' if lower else 'is'} {near}"
            )
        stage = self.gpus // self.pp
        if stage % self.ep:
            legal = [n for n in range(1, stage + 1) if stage % n == 0]
            nearest = min(legal, key=lambda n: abs(n - self.ep))
            return f"ep {self.ep}: must divide the {stage} GPUs of a pipeline stage (all_gpus {self.gpus} / pp {self.pp}); the nearest is {nearest}"
        return None


def to_text(work: SimaiWork) -> str:
    """The canonical text: header numbers, and one row per layer."""
    columns = (work.name, *(column for phase in range(3) for column in (work.ns[phase].tolist(), work.comm[phase], work.n_bytes[phase].tolist())))
    rows = [list(row) for row in zip(*columns, work.update_ns.tolist(), strict=True)]
    return program_text.pack({**{key: getattr(work, key) for key in HEADER}, "layers": rows})


def from_text(text: str) -> SimaiWork:
    """The work of a canonical text; ScenarioError for the first thing wrong with it."""
    content = program_text.unpack(text, (*HEADER, "layers"))
    numbers = {key: program_text.count(content, key, *LIMITS[key]) for key in HEADER}
    rows = content["layers"]
    if not isinstance(rows, list) or not rows or any(not isinstance(row, list) or len(row) != 11 for row in rows):
        raise ScenarioError("program.work: layers must be rows of name, then time, kind and bytes of fwd, ig and wg, then update_ns")
    columns = [list(column) for column in zip(*rows, strict=True)]
    comm = [program_text.word_column(columns[2 + 3 * phase], f"{name} kinds") for phase, name in enumerate(PHASES)]
    wrong = next((word for words in comm for word in words if word not in COMMS), None)
    if wrong is not None:
        raise ScenarioError(f"program.work: {wrong!r} is not a collective; known: {', '.join(COMMS)}")
    work = SimaiWork(
        **numbers, name=program_text.word_column(columns[0], "names"),
        ns=np.stack([program_text.whole_column(columns[1 + 3 * phase], f"{name}_ns", 0, MAX_NS) for phase, name in enumerate(PHASES)]),
        comm=comm,
        n_bytes=np.stack([program_text.whole_column(columns[3 + 3 * phase], f"{name}_bytes", 0, MAX_BYTES) for phase, name in enumerate(PHASES)]),
        update_ns=program_text.whole_column(columns[10], "update_ns", 0, MAX_NS),
    )  # fmt: skip
    if work.problem():
        raise ScenarioError(f"program.work: {work.problem()}")
    return work
