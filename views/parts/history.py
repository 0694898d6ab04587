"""Earlier runs of a session: the small figures of each, and which keys differ from the run before it."""

import csv
import hashlib
import io
from collections import deque
from dataclasses import dataclass

from sim.accuracy import worked_s
from sim.result_collectives import overall
from sim.scenario import Scenario
from sim.units import show_number
from views.figures.hops import parts_of
from views.parts import job_times
from views.parts.job_names import of_time

MOST_RUNS = 20
LABELS = ("name", "title", "description", "expect")  # of a scenario: what they say decides nothing
MOST_TEXT = 40  # characters of a value; a longer one (a graph, imported work) is told by its length and the first digits of its hash
REMEMBER = "Remember"  # the switch beside the mode, told like a key
DEFAULT = "default"


@dataclass(frozen=True)
class Run:
    """What is kept of a run; times in s, CPU time without compiling and building, shares of its packet-hops or None where there is nothing to share."""

    number: int
    title: str
    mode: str
    level: str | None
    controller: str
    status: str
    time_name: str
    time_s: float
    mean_fct_s: float | None
    max_fct_s: float | None
    busbw_bytes_per_s: float | None  # of the collective that was run, where one was
    simulated: float | None
    replayed: float | None
    skipped: float | None
    cpu_s: float
    changed: tuple[str, ...] | None  # None for the first run
    cluster: str  # what a cluster is at all, and a workload: runs that differ in one of them are not compared
    workload: str

    @property
    def finished(self) -> bool:
        return self.status == "finished"

    def unlike(self, newest: "Run") -> list[str]:
        """In which of cluster and workload it is another thing altogether than the newest run."""
        return [name for name in ("cluster", "workload") if getattr(self, name) != getattr(newest, name)]

    def over(self, newest: "Run") -> float | None:
        """Its time over that of another, less 1; None unless both went to their end and are of one workload on one kind of cluster."""
        comparable = self.finished and newest.finished and not self.unlike(newest) and self.time_name == newest.time_name and newest.time_s > 0
        return self.time_s / newest.time_s - 1 if comparable else None


class History:
    """The last runs of a session, oldest first."""

    def __init__(self):
        self.runs: deque[Run] = deque(maxlen=MOST_RUNS)
        self._number, self._last = 0, None

    def add(self, result, remembers: bool = False) -> None:
        """Note a run that has ended."""
        keys = settings(result.scenario, remembers)
        changed = None if self._last is None else differences(self._last, keys)
        self._number, self._last = self._number + 1, keys
        self.runs.append(_run(result, self._number, changed))


def _run(result, number: int, changed: tuple[str, ...] | None) -> Run:
    summary, scenario = result.summary, result.scenario
    parts = parts_of(summary["packet_hops"])
    collective = overall(summary.get("collectives", []))
    total = 0 if summary["mode"] == "flow" else sum(parts.values())
    share = {name: hops / total if total else None for name, hops in parts.items()}
    return Run(
        number=number, title=scenario.title or scenario.name, mode=summary["mode"], level=summary["level"],
        controller=scenario.transport.congestion_control, status=result.status, time_name=of_time(scenario), time_s=job_times.iteration_s(result),
        mean_fct_s=summary["mean_fct_s"], max_fct_s=summary["max_fct_s"],
        busbw_bytes_per_s=None if collective is None else collective["busbw_bytes_per_s"], **share, cpu_s=worked_s(result), changed=changed,
        cluster=cluster_of(scenario), workload=workload_of(scenario),
    )  # fmt: skip


def cluster_of(scenario: Scenario) -> str:
    """Topology and size in words: speeds, delays and numbers of switches are what one varies."""
    return f"{scenario.cluster.topology}, {scenario.cluster.gpus} GPUs"


def workload_of(scenario: Scenario) -> str:
    """What runs, in words: model, pattern or imported work; sizes and strategies are what one varies."""
    if scenario.traffic is not None:
        traffic = scenario.traffic
        return traffic.collective if traffic.pattern == "collective" else f"traffic {traffic.pattern}"
    if scenario.program is not None:
        return f"imported {scenario.program.kind} {_words(str(scenario.program.given()))}"
    return ", ".join(_model(one) for one in (scenario.model, *(job.model for job in scenario.jobs)))


def _model(model) -> str:
    return model.name or f"{model.layers} layers of {model.hidden}"


def settings(scenario: Scenario, remembers: bool = False) -> dict[str, tuple[str, bool]]:
    """Every dotted key with its value in words, and whether it was given or filled in."""
    given = _flat(scenario.given())
    resolved = _flat(scenario.model_dump(exclude=set(LABELS)))
    keys = {key: (value, key in given) for key, value in resolved.items()}
    return {**keys, REMEMBER: ("on" if remembers else "off", True)}


def differences(before: dict[str, tuple[str, bool]], after: dict[str, tuple[str, bool]]) -> tuple[str, ...]:
    """ "key: old → new" of every key whose values differ and that is given in one of the two; what follows from others is left out."""
    unset = (DEFAULT, False)
    found = []
    for key in dict.fromkeys((*after, *before)):
        (old, old_given), (new, new_given) = before.get(key, unset), after.get(key, unset)
        if old != new and (old_given or new_given):
            found.append(f"{key}: {old} → {new}")
    return tuple(found)


def _flat(value, path: str = "") -> dict[str, str]:
    """Dotted keys of nested data; an empty or plain list is a value, one of tables goes on with its numbers."""
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, (list, tuple)) and value and isinstance(value[0], dict):
        parts = enumerate(value)
    else:
        return {} if value in (None, (), []) else {path: _words(value)}
    return {key: words for name, part in parts for key, words in _flat(part, f"{path}.{name}" if path else str(name)).items()}


def _words(value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = show_number(value) if isinstance(value, float) else str(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= MOST_TEXT else f"{len(text):,} characters ({hashlib.sha256(text.encode()).hexdigest()[:6]})"


def as_csv(runs: list[Run]) -> str:
    """The runs as CSV, the newest first as given; times in s, shares of 1."""
    names = [name for name in Run.__dataclass_fields__ if name not in ("time_name", "changed")]
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow([*names, "time_of", "time_over_newest", "unlike_newest", "changed"])
    for run in runs:
        ratio = run.over(runs[0])
        told = "first run" if run.changed is None else "; ".join(run.changed)
        row = [*(getattr(run, name) for name in names), run.time_name, None if ratio is None else 1 + ratio, " and ".join(run.unlike(runs[0])), told]
        table.writerow(["" if value is None else _safe(value) for value in row])
    return written.getvalue()


def _safe(value):
    """Text that a spreadsheet takes for no formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value
