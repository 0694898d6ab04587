"""A scenario: everything that decides what a run does, as one frozen, validated, hashable value."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field, model_validator

from sim.errors import ScenarioError, did_you_mean
from sim.scenario_base import Part
from sim.scenario_cluster import TOPOLOGIES, Cluster
from sim.scenario_parts import (
    CONGESTION_CONTROLS,
    PATTERNS,
    Expectation,
    Fault,
    FlowSpec,
    Simulation,
    Traffic,
    Transport,
)
from sim.scenario_program import Program, check_program
from sim.scenario_rules import check_traffic, gpus_used, notices
from sim.scenario_strategy import filled_parallelism, legal_strategies
from sim.scenario_tenants import Background, Job, Straggler, check_background, check_stragglers, fill_jobs, room_of_own
from sim.scenario_training import Model, Parallelism
from sim.scenario_training_rules import filled_model

__all__ = [
    "CONGESTION_CONTROLS", "PATTERNS", "TOPOLOGIES",
    "Background", "Cluster", "Expectation", "Fault", "FlowSpec", "Job", "Model", "Parallelism", "Program", "Scenario", "Simulation", "Straggler",
    "Traffic", "Transport",
    "gpus_used", "legal_strategies", "notices",
]  # fmt: skip

SCENARIO_VERSION = 1  # part of the digest: raise it when a key changes its meaning
LABELS = ("name", "title", "description", "expect")


class Scenario(Part):
    """A cluster and what it carries: a model under a strategy, plain traffic, or imported work.

    Defaults that depend on other keys (`cluster.spines`, `parallelism.dp`, `model.layers`, ...) are
    filled in when the scenario is made; `given()` returns only what was written.
    """

    SECTION: ClassVar[str] = ""

    name: str = Field("scenario", description="short name")
    title: str = Field("", description="one line for people")
    description: str = Field("", description="what there is to see")
    cluster: Cluster
    model: Model | None = None
    parallelism: Parallelism | None = None
    traffic: Traffic | None = None
    program: Program | None = None
    transport: Transport = Field(default_factory=Transport)
    simulation: Simulation = Field(default_factory=Simulation)
    faults: tuple[Fault, ...] = Field((), strict=False)
    jobs: tuple[Job, ...] = Field((), strict=False)
    background: tuple[Background, ...] = Field((), strict=False)
    stragglers: tuple[Straggler, ...] = Field((), strict=False)
    expect: dict[str, Expectation] = Field({}, description="numbers that a run should reproduce")

    @model_validator(mode="after")
    def _sections_agree(self) -> "Scenario":
        if self.traffic is not None and (self.model is not None or self.parallelism is not None):
            extra = "model" if self.model is not None else "parallelism"
            raise ScenarioError(
                f"[traffic] and [{extra}] exclude each other: keep [traffic], or [model] with [parallelism]"
            )
        if self.program is not None:
            check_program(self.program, self.cluster.gpus)
            extra = next((name for name in ("model", "parallelism", "traffic", "jobs", "stragglers") if getattr(self, name)), None)
            if extra:
                raise ScenarioError(f"[program] and [{extra}] exclude each other: imported work is all that runs, besides [[background]]")
        elif self.traffic is None:
            for section in ("model", "parallelism"):
                if getattr(self, section) is None:
                    raise ScenarioError(
                        f"[{section}] is missing: a scenario needs [model] with [parallelism], or [traffic], or [program]"
                    )
            model = self.model.model_copy()
            model._resolve(**filled_model(self.model))
            parallelism = self.parallelism.model_copy()
            parallelism._resolve(**filled_parallelism(model, room_of_own(self.parallelism, self.jobs, self.cluster), self.parallelism))
            jobs = fill_jobs(self.jobs, self.cluster, parallelism.gpus)
            self._resolve(model=model, parallelism=parallelism, jobs=jobs)
        else:
            check_traffic(self.traffic, self.cluster)
            if self.jobs or self.stragglers:
                extra = "jobs" if self.jobs else "stragglers"
                raise ScenarioError(f"[traffic] and [[{extra}]] exclude each other: {extra} need [model] with [parallelism]")
        check_background(self.background, self.cluster)
        check_stragglers(self.stragglers, self.cluster.gpus)
        return self

    def digest(self) -> str:
        """Hash (64 hex digits) of all that decides the result; labels and expectations are left out."""
        content = self.model_dump(mode="json", exclude=set(LABELS))
        text = json.dumps([SCENARIO_VERSION, content], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Scenario":
        """A scenario of plain nested data, as TOML or JSON give it."""
        return cls(**{str(key): value for key, value in data.items()})

    def replace(self, key: str, value: Any) -> "Scenario":
        """A copy with one dotted key changed, such as `replace("transport.congestion_control", "hpcc")`.

        None takes the key back to its default; a number steps into a list (`faults.0.at_us`).
        """
        return self.replace_all({key: value})

    def replace_all(self, changes: Mapping[str, Any]) -> "Scenario":
        """A copy with several dotted keys changed at once, checked only when all are in place."""
        data = self.given()
        for key, value in changes.items():
            _set(data, key, value)
        return type(self).from_data(data)


def _set(data: Any, key: str, value: Any) -> None:
    steps = key.split(".")
    for depth, step in enumerate(steps):
        last = depth == len(steps) - 1
        if isinstance(data, (list, tuple)):
            if not step.isdecimal() or int(step) >= len(data):
                raise ScenarioError(
                    f"{key}: {'.'.join(steps[:depth])} has entries 0 to {len(data) - 1}, not {step!r}"
                    if data
                    else f"{key}: {'.'.join(steps[:depth])} is empty"
                )
            step = int(step)
        elif not isinstance(data, dict):
            raise ScenarioError(f"{key}: {'.'.join(steps[:depth])} is a value, not a section")
        if not last:
            if isinstance(data, dict):
                if depth == 0 and step not in Scenario.model_fields:
                    raise ScenarioError(f"{key} is not a known key: {did_you_mean(step, Scenario.model_fields)}")
                if step not in data and steps[depth + 1].isdecimal():
                    raise ScenarioError(f"{key}: {'.'.join(steps[: depth + 1])} is empty; give a list of tables, like {step} = [{{...}}]")
                data.setdefault(step, {})
                if isinstance(data[step], tuple):
                    data[step] = list(data[step])
            data = data[step]
        elif value is None and isinstance(data, dict):
            if depth == 0 and step not in Scenario.model_fields:
                raise ScenarioError(f"{key} is not a known key: {did_you_mean(step, Scenario.model_fields)}")
            data.pop(step, None)
        else:
            data[step] = value.given() if isinstance(value, Part) else value
