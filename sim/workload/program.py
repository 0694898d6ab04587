"""Imported work as a graph: the program section of a scenario."""

from functools import lru_cache

from sim.errors import ScenarioError
from sim.scenario_program import Program
from sim.workload import (
    program_chakra,
    program_chakra_work,
    program_htsim,
    program_htsim_work,
    program_simai,
    program_simai_work,
)
from sim.workload.collect import Tally, Work
from sim.workload.program_collectives import Plan

READERS = {"simai": program_simai_work.from_text, "chakra": program_chakra_work.from_text, "htsim": program_htsim_work.from_text}


@lru_cache(maxsize=4)
def work_of(kind: str, text: str):
    """The work of a canonical text: a SimaiWork, ChakraWork or HtsimWork."""
    return READERS[kind](text)


def plan_of(program: Program) -> Plan:
    """How the collectives of a program run."""
    given = (
        ("all-reduce", program.all_reduce), ("all-gather", program.all_gather),
        ("reduce-scatter", program.reduce_scatter), ("all-to-all", program.all_to_all),
    )  # fmt: skip
    return Plan(tuple(program.dimensions), tuple((name, tuple(names)) for name, names in given if names), program.splits)


def ranks_of(kind: str, work) -> int:
    """The ranks that some work runs on."""
    return getattr(work, {"simai": "gpus", "chakra": "ranks", "htsim": "nodes"}[kind])


def add_program(work: Work, program: Program) -> None:
    """Add the tasks and messages of a program to `work`, or only count them in a `Tally`.

    Raises
    ------
    ScenarioError
        The text is damaged, ranks wait for each other in a circle or do not agree, an algorithm does not exist, or it is too large.
    """
    if isinstance(work, Tally):
        counted = _counted(program)
        work.n_tasks += counted.n_tasks
        work.n_flows += counted.n_flows
        work.counted += counted.counted
    else:
        _build(work, program)


@lru_cache(maxsize=4)
def _counted(program: Program) -> Tally:
    """What a program adds to a graph; kept, for the estimate of a run asks for it again and again."""
    tally = Tally()
    _build(tally, program)
    return tally


def _build(work: Work, program: Program) -> None:
    found = work_of(program.kind, program.work)
    ranks = ranks_of(program.kind, found)
    if ranks != program.ranks:
        raise ScenarioError(f"program.ranks = {program.ranks}: program.work has {ranks} ranks; the nearest is {ranks}")
    plan = plan_of(program)
    if program.kind == "simai":
        program_simai.build(found, plan, work)
    elif program.kind == "chakra":
        program_chakra.build(found, plan, work)
    else:
        program_htsim.build(found, work)
