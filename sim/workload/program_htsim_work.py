"""An htsim connection matrix as values: messages that start at a time or when a trigger fires, and the triggers."""

from dataclasses import dataclass, replace

import numpy as np

from sim.errors import ScenarioError
from sim.workload import program_text

KINDS = ("oneshot", "multishot", "barrier")
MAX_NODES = 65_536
MAX_BYTES = 2**50
MAX_PS = 4 * 10**18
MAX_ID = 2**63 - 1
MAX_ROWS = 10_000_000
MAX_ROUNDS = 1000  # of connections left out because others are
COLUMNS = ("src", "dst", "id", "n_bytes", "start_ps", "trigger", "send_done", "recv_done")
LIMITS = {
    "src": (0, MAX_NODES - 1), "dst": (0, MAX_NODES - 1), "id": (0, MAX_ID), "n_bytes": (0, MAX_BYTES), "start_ps": (0, MAX_PS),
    "trigger": (-1, MAX_ROWS), "send_done": (-1, MAX_ROWS), "recv_done": (-1, MAX_ROWS),
}  # fmt: skip
KEYS = ("nodes", *COLUMNS, "trigger_id", "trigger_kind", "trigger_count")


@dataclass(frozen=True)
class HtsimWork:
    """C connections and T triggers; trigger columns of connections are positions among the triggers, -1 for none."""

    nodes: int
    src: np.ndarray  # int64[C]
    dst: np.ndarray
    id: np.ndarray
    n_bytes: np.ndarray
    start_ps: np.ndarray  # 0 where a trigger starts it
    trigger: np.ndarray  # starts it
    send_done: np.ndarray  # activated when the last ACK is back at the sender
    recv_done: np.ndarray  # activated when the last byte has arrived
    trigger_id: np.ndarray  # int64[T], as in the file
    trigger_kind: np.ndarray  # int64[T], index into KINDS
    trigger_count: np.ndarray  # int64[T], activations that a barrier waits for, 0 elsewhere

    @classmethod
    def of_messages(cls, nodes: int, src, dst, n_bytes, start_ps) -> "HtsimWork":
        """Connections without triggers, numbered from 1."""
        columns = [np.asarray(column, np.int64) for column in (src, dst, np.arange(1, len(src) + 1), n_bytes, start_ps)]
        none, nothing = np.full(len(src), -1, np.int64), np.zeros(0, np.int64)
        return cls(nodes, *columns, none, none, none, nothing, nothing, nothing)

    @property
    def activations(self) -> np.ndarray:
        """int64[T]: how often each trigger is activated."""
        n = len(self.trigger_id)
        return np.bincount(self.send_done[self.send_done >= 0], minlength=n) + np.bincount(self.recv_done[self.recv_done >= 0], minlength=n)

    @property
    def starts(self) -> np.ndarray:
        """int64[T]: how many connections each trigger starts."""
        return np.bincount(self.trigger[self.trigger >= 0], minlength=len(self.trigger_id))

    @property
    def awaited(self) -> np.ndarray:
        """int64[T]: how many activations fire a trigger, 0 for a multishot, which each of them fires."""
        return np.where(self.trigger_kind == KINDS.index("oneshot"), 1, self.trigger_count)

    def problem(self) -> str | None:
        """Why some connection could never start; None if all can."""
        fired, started = self.activations, self.starts
        for position in np.flatnonzero(started).tolist():
            kind, times = KINDS[self.trigger_kind[position]], int(fired[position])
            name = f"trigger {self.trigger_id[position]} {kind}"
            if not times:
                return f"{name} starts {started[position]} connections, but no connection activates it: they would never start"
            if kind == "barrier" and times < self.trigger_count[position]:
                return f"{name} waits for {self.trigger_count[position]} activations, {times} connections activate it; the nearest that works is count {times}"
            if kind == "multishot" and times < started[position]:
                return f"{name} starts {started[position]} connections, one each time it is activated, but {times} connections activate it"
        return None

    def without_unstarted(self) -> "HtsimWork":
        """Without the connections of multishots that come after all activations, and those that in turn only these would have started."""
        work = self
        for _ in range(MAX_ROUNDS):
            multishot = np.concatenate([work.trigger_kind == KINDS.index("multishot"), [False]])[work.trigger]
            turn = _turns(work.trigger)
            never = multishot & (turn >= np.concatenate([work.activations, [0]])[work.trigger])
            if not never.any() or (work.activations[work.trigger[never]] == 0).any():
                return work
            work = replace(work, **{name: getattr(work, name)[~never] for name in COLUMNS})
        return work


def _turns(trigger: np.ndarray) -> np.ndarray:
    """int64[C]: of each row, how many before it have the same trigger."""
    order = np.argsort(trigger, kind="stable")
    own = trigger[order]
    turn = np.empty(len(trigger), np.int64)
    turn[order] = np.arange(len(trigger)) - np.searchsorted(own, own)
    return turn


def to_text(work: HtsimWork) -> str:
    """The canonical text of a connection matrix."""
    return program_text.pack({key: work.nodes if key == "nodes" else getattr(work, key).tolist() for key in KEYS})


def from_text(text: str) -> HtsimWork:
    """The connection matrix of a canonical text; ScenarioError for the first thing wrong with it."""
    content = program_text.unpack(text, KEYS)
    nodes = program_text.count(content, "nodes", 2, MAX_NODES)
    n = len(program_text.whole_column(content["src"], "src", 0, nodes - 1))
    columns = {key: program_text.whole_column(content[key], key, *LIMITS[key], length=n) for key in COLUMNS}
    ids = program_text.whole_column(content["trigger_id"], "trigger_id", 0, MAX_ID)
    kinds = program_text.whole_column(content["trigger_kind"], "trigger_kind", 0, len(KINDS) - 1, len(ids))
    counts = program_text.whole_column(content["trigger_count"], "trigger_count", 0, MAX_ROWS, len(ids))
    for key, bound in (("src", nodes), ("dst", nodes), ("trigger", len(ids)), ("send_done", len(ids)), ("recv_done", len(ids))):
        if n and columns[key].max() >= bound:
            raise ScenarioError(f"program.work: {key} {columns[key].max()}: must be below {bound}; import the files again")
    if (columns["src"] == columns["dst"]).any():
        raise ScenarioError("program.work: a connection goes to itself; import the files again")
    work = HtsimWork(nodes, **columns, trigger_id=ids, trigger_kind=kinds, trigger_count=counts)
    if work.problem():
        raise ScenarioError(f"program.work: {work.problem()}")
    return work
