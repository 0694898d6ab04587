"""The sections of a scenario for what else happens on a cluster: more jobs, background traffic, slow GPUs."""

from typing import ClassVar, Literal

from pydantic import Field

from sim.errors import ScenarioError
from sim.scenario_base import Part
from sim.scenario_cluster import Cluster
from sim.scenario_parts import MAX_FLOW_BYTES, MAX_START_US
from sim.scenario_strategy import Room, can_have, filled_parallelism, whole
from sim.scenario_training import Model, Parallelism
from sim.scenario_training_rules import filled_model
from sim.units import show_number

BACKGROUND_PATTERNS = ("random", "incast", "ring", "permutation", "all-to-all")
FLOWS_MAX = 5_000_000


class Job(Part):
    """Another training job on the same cluster, on GPUs of its own."""

    SECTION: ClassVar[str] = "jobs"

    name: str = Field("", description="short name (default: job 1, job 2, ...)")
    gpus: int | None = Field(None, description="GPUs of the job (default: what its strategy uses)", ge=1, le=65_536)
    first_gpu: int | None = Field(None, description="first of its GPUs (default: behind the jobs before)", ge=0)
    start_us: float = Field(0.0, description="us, when its first iteration begins", ge=0, le=MAX_START_US)
    model: Model
    parallelism: Parallelism


class Background(Part):
    """Traffic of others over the same network, again and again."""

    SECTION: ClassVar[str] = "background"

    pattern: Literal[BACKGROUND_PATTERNS] = Field("random", description="who sends to whom; random: one flow between any two GPUs")
    first_gpu: int = Field(0, description="first GPU that takes part", ge=0)
    gpus: int | None = Field(None, description="GPUs that take part (default: all from first_gpu on)", ge=2)
    receiver: int | None = Field(None, description="receiving GPU of the incast (default: first_gpu)", ge=0)
    flow_bytes: int = Field(1_000_000, description="payload bytes of each flow", ge=0, le=MAX_FLOW_BYTES)
    start_us: float = Field(0.0, description="us, first time", ge=0, le=MAX_START_US)
    period_us: float = Field(100.0, description="us from one time to the next; mean of a random gap with pattern random", gt=0, le=MAX_START_US)
    times: int = Field(1, description="how often", ge=1, le=1_000_000)


class Straggler(Part):
    """A GPU that computes slower than the others."""

    SECTION: ClassVar[str] = "stragglers"

    gpu: int = Field(description="the GPU", ge=0)
    speed: float = Field(description="its speed over that of the others, like 0.7", ge=0.01, le=1)


def room_of_own(parallelism: Parallelism, jobs: tuple[Job, ...], cluster: Cluster) -> Room:
    """The GPUs from 0 on that [parallelism] has beside the jobs; ScenarioError if they leave none."""
    if not jobs:
        return whole(cluster)
    taken = sum(job.gpus or job.parallelism.gpus_given for job in jobs)
    wanted = parallelism.gpus_given
    most = min((job.first_gpu for job in jobs if job.first_gpu is not None), default=None)
    left = cluster.gpus - taken if most is None else min(cluster.gpus - taken, most)
    if wanted and wanted <= cluster.gpus:
        return Room(cluster, wanted, f"parallelism.dp = {parallelism.dp}", "cluster.gpus", taken)
    if left < 1:
        raise ScenarioError(f"[[jobs]] leave no GPU of cluster.gpus = {cluster.gpus} to [parallelism], which begins at GPU 0; give them fewer, or later ones")
    called = f"the {left} GPUs that [[jobs]] leave of cluster.gpus = {cluster.gpus}"
    return Room(cluster, left, called, "cluster.gpus", cluster.gpus - left, most)


def fill_jobs(jobs: tuple[Job, ...], cluster: Cluster, first_free: int) -> tuple[Job, ...]:
    """Jobs with every default filled in; ScenarioError where two want the same GPU or one goes beyond the last."""
    filled, taken = [], [(0, first_free, "[parallelism]")]
    for index, job in enumerate(jobs):
        where = f"jobs.{index}"
        try:
            model = job.model.model_copy()
            model._resolve(**filled_model(job.model))
            wanted = job.parallelism
            gpus = job.gpus or wanted.gpus_given
            if not gpus:
                raise ScenarioError("gpus is missing: give it, or parallelism.dp")
            parallelism = wanted.model_copy()
            others = sum(high - low for low, high, _ in taken)
            parallelism._resolve(**filled_parallelism(model, Room(cluster, gpus, f"{where}.gpus = {gpus}", f"{where}.gpus", others), wanted))
        except ScenarioError as problem:
            raise ScenarioError(f"{where}.{problem}") from None
        first = _first_gpu(job, where, gpus, taken, cluster)
        taken.append((first, first + gpus, where))
        full = job.model_copy()
        full._resolve(model=model, parallelism=parallelism, gpus=gpus, first_gpu=first, name=job.name or f"job {index + 1}")
        filled.append(full)
    return tuple(filled)


def _first_gpu(job: Job, where: str, gpus: int, taken: list[tuple[int, int, str]], cluster: Cluster) -> int:
    """Where a job begins: as it says, or behind the jobs before; groups of tensor-parallel GPUs must fill servers evenly."""
    tp, node = job.parallelism.tp, cluster.gpus_per_node
    block = tp if node % tp == 0 else node
    behind = -(-max(high for _, high, _ in taken) // block) * block
    first = behind if job.first_gpu is None else job.first_gpu
    free = next(
        start for start in sorted({0, behind, *(-(-high // block) * block for _, high, _ in taken)})
        if all(start >= high or start + gpus <= low for low, high, _ in taken)
    )  # fmt: skip
    if first % block:
        raise ScenarioError(
            f"{where}.first_gpu = {first}: must be a multiple of {block}, or groups of {where}.parallelism.tp = {tp} straddle servers of "
            f"cluster.gpus_per_node = {node}; the next free one is {free}"
        )
    for low, high, other in taken:
        if first < high and low < first + gpus:
            raise ScenarioError(f"{where}.first_gpu = {first}: GPUs {low} to {high - 1} belong to {other}; the next free one is {free}")
    if first + gpus > cluster.gpus:
        enough = next((n for n in (first + gpus, -(-(first + gpus) // node) * node) if can_have(cluster, n)), None)
        larger = f", or cluster.gpus = {enough}" if enough else ""
        raise ScenarioError(f"{where}: GPUs {first} to {first + gpus - 1} are beyond cluster.gpus = {cluster.gpus}; give fewer{larger}")
    return first


def check_background(background: tuple[Background, ...], cluster: Cluster) -> None:
    """Every GPU must exist, and a run must stay of a size that can be held."""
    total = 0
    for index, one in enumerate(background):
        where, gpus = f"background.{index}", one.gpus or cluster.gpus - one.first_gpu
        if gpus < 2 or one.first_gpu + gpus > cluster.gpus:
            raise ScenarioError(
                f"{where}: GPUs {one.first_gpu} to {one.first_gpu + max(gpus, 2) - 1} are wanted; the legal range is 0 to {cluster.gpus - 1}"
            )
        if one.receiver is not None and not one.first_gpu <= one.receiver < one.first_gpu + gpus:
            raise ScenarioError(
                f"{where}.receiver = {one.receiver}: must be one of its GPUs, {one.first_gpu} to {one.first_gpu + gpus - 1}"
            )
        last_us = one.start_us + one.period_us * (one.times - 1)
        if last_us > MAX_START_US:
            period, start, last, most = map(show_number, (one.period_us, one.start_us, last_us, MAX_START_US))
            raise ScenarioError(
                f"{where}.period_us = {period}: times = {one.times} from start_us = {start} on reach {last} us; at most {most}: "
                f"the nearest is {int((MAX_START_US - one.start_us) / (one.times - 1))}"
            )
        each = {"random": 1, "incast": gpus - 1, "all-to-all": gpus * (gpus - 1)}.get(one.pattern, gpus)
        total += each * one.times
        if total > FLOWS_MAX:
            raise ScenarioError(f"{where}.times = {one.times}: makes {total} flows; at most {FLOWS_MAX}, that is times = {FLOWS_MAX // each}")


def check_stragglers(stragglers: tuple[Straggler, ...], gpus: int) -> None:
    """Every slow GPU must exist, once."""
    seen = set()
    for index, one in enumerate(stragglers):
        if one.gpu >= gpus:
            raise ScenarioError(f"stragglers.{index}.gpu = {one.gpu}: there is no such GPU; the legal range is 0 to {gpus - 1}")
        if one.gpu in seen:
            raise ScenarioError(f"stragglers.{index}.gpu = {one.gpu}: is listed twice; give one speed for it")
        seen.add(one.gpu)
