"""The program section of a scenario: imported work, complete in itself, and how its collectives run."""

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from sim.errors import ScenarioError
from sim.scenario_base import Part

KINDS = ("simai", "chakra", "htsim")
COLLECTIVE_ALGORITHMS = ("ring", "direct", "halving-doubling", "double-binary-tree")


def _algorithms(collective: str) -> Any:
    return Field((), description=f"algorithm of {collective}: one, or one along each dimension (default: ring; all-to-all direct)", strict=False)


class Program(Part):
    """Work that another tool describes: its tasks, messages and collectives on ranks 0 to ranks - 1, rank r on GPU r."""

    SECTION: ClassVar[str] = "program"

    kind: Literal[KINDS] = Field(description="what it was imported from")
    source: str = Field("", description="names of the files")
    ranks: int = Field(description="GPUs that it runs on", ge=1, le=65_536)
    work: str = Field(description="the work itself, as the import wrote it", repr=False)
    dimensions: tuple[int, ...] = Field((), description="GPUs along each dimension of the network that collectives go through one by one", strict=False)
    all_reduce: tuple[Literal[COLLECTIVE_ALGORITHMS], ...] = _algorithms("all-reduces")
    all_gather: tuple[Literal[COLLECTIVE_ALGORITHMS], ...] = _algorithms("all-gathers")
    reduce_scatter: tuple[Literal[COLLECTIVE_ALGORITHMS], ...] = _algorithms("reduce-scatters")
    all_to_all: tuple[Literal[COLLECTIVE_ALGORITHMS], ...] = _algorithms("all-to-alls")
    splits: int = Field(1, description="parts that a collective is cut into, one after the other through the dimensions", ge=1, le=1024)

    @model_validator(mode="after")
    def _fits(self) -> "Program":
        if any(n < 1 for n in self.dimensions):
            raise ScenarioError(f"program.dimensions = {list(self.dimensions)}: must be whole numbers of at least 1")
        for name in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all"):
            given = getattr(self, name)
            if len(given) > 1 and len(given) != len(self.dimensions):
                raise ScenarioError(f"program.{name} has {len(given)} algorithms, program.dimensions {len(self.dimensions)}: one, or one for each")
        return self


def check_program(program: Program, gpus: int) -> None:
    """ScenarioError if a program needs more GPUs than there are."""
    if program.ranks > gpus:
        raise ScenarioError(
            f"program.ranks = {program.ranks}: there are cluster.gpus = {gpus}; a rank needs a GPU of its own; the nearest is cluster.gpus = {program.ranks}"
        )
