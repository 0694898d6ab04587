"""htsim connection matrices: Nodes, Connections, Triggers, then a connection or a trigger a line; times in ps."""

import re

import numpy as np

from sim.errors import FormatError, did_you_mean
from sim.formats.text import MAX_NAMES_SHOWN, quoted, rows_of, whole
from sim.workload.program_htsim_work import (
    COLUMNS,
    KINDS,
    MAX_BYTES,
    MAX_ID,
    MAX_NODES,
    MAX_PS,
    MAX_ROWS,
    HtsimWork,
)

HEADER = {"Nodes": (2, MAX_NODES), "Connections": (0, MAX_ROWS), "Triggers": (0, MAX_ROWS)}
PAIR = re.compile(r"(\d+)->(\d+)", re.ASCII)
VALUES = {
    "id": ("id", 0, MAX_ID), "start": ("start_ps", 0, MAX_PS), "trigger": ("trigger", 0, MAX_ID), "size": ("n_bytes", 0, MAX_BYTES),
    "send_done_trigger": ("send_done", 0, MAX_ID), "recv_done_trigger": ("recv_done", 0, MAX_ID),
}  # fmt: skip
LIKE = "a connection is: 0->1 id 1 start 0 size 2000000, or with trigger 1 in the place of start 0, then send_done_trigger 2 or recv_done_trigger 2"
TRIGGER_LIKE = "a trigger is: trigger id 1 oneshot, or multishot, or barrier count 4"


def is_htsim_cm(text: str) -> bool:
    """Whether `text` looks like a connection matrix."""
    return re.search(r"^[ \t]*Connections[ \t]+\d+[ \t]*$", text, re.MULTILINE) is not None


def read_cm(text: str, file: str = "connections.cm") -> tuple[HtsimWork, list[str]]:
    """The connections of `text`, by rising start unless triggers order them, and what is worth saying; FormatError, one line, for the first fault."""
    rows = [(line, words) for line, words in rows_of(text) if not words[0].startswith("#")]
    if not rows:
        raise FormatError(f"{file}: is empty: must begin with Nodes n, then Connections n")
    header, lines = {}, {}
    body = []
    for line, words in rows:
        if words[0] in HEADER:
            _add_header(words, f"{file}:{line}", header, lines)
            lines[words[0]] = line
        else:
            body.append((line, words))
    missing = next((key for key in ("Nodes", "Connections") if key not in header), None)
    if missing:
        raise FormatError(f"{file}:{rows[0][0]}: {missing} is missing: must begin with Nodes n, then Connections n")
    triggers = [(line, words) for line, words in body if words[0] == "trigger"]
    connections = [(line, words) for line, words in body if words[0] != "trigger"]
    kinds = _triggers(triggers, file)
    columns = _connections(connections, header["Nodes"], file)
    for key, found in (("Connections", len(connections)), ("Triggers", len(triggers))):
        if header.get(key, 0) != found:
            where = f"{file}:{lines[key]}" if key in lines else f"{file}: Triggers is missing"
            raise FormatError(
                f"{where}: {header.get(key, 0)} {key.lower()} announced, {found} found; "
                f"the nearest that works is to write {key} {found}, if the file is not cut off"
            )
    return _work(header["Nodes"], columns, kinds, connections, file)


def _add_header(words: list[str], place: str, header: dict[str, int], lines: dict[str, int]) -> None:
    if len(words) != 2:
        raise FormatError(f"{place}: {len(words) - 1} values: must be {words[0]} with one number")
    if words[0] in header:
        raise FormatError(f"{place}: {words[0]} stands twice, first in line {lines[words[0]]}")
    header[words[0]] = whole(words[1], place, words[0], *HEADER[words[0]])


def _triggers(rows: list[tuple[int, list[str]]], file: str) -> dict[int, tuple[int, int, int]]:
    """(position, kind, count) of each trigger id."""
    found: dict[int, tuple[int, int, int]] = {}
    for line, words in rows:
        place = f"{file}:{line}"
        if len(words) < 4 or words[1] != "id":
            raise FormatError(f"{place}: {quoted(' '.join(words))}: {TRIGGER_LIKE}")
        number = whole(words[2], place, "trigger id", 0, MAX_ID)
        if number in found:
            raise FormatError(f"{place}: trigger {number} stands twice")
        if words[3] not in KINDS:
            raise FormatError(f"{place}: trigger kind {quoted(words[3])}: {did_you_mean(words[3], KINDS)}")
        barrier = words[3] == "barrier"
        if len(words) != (6 if barrier else 4) or (barrier and words[4] != "count"):
            raise FormatError(f"{place}: {quoted(' '.join(words))}: {TRIGGER_LIKE}")
        found[number] = len(found), KINDS.index(words[3]), whole(words[5], place, "count", 1, MAX_ROWS) if barrier else 0
    return found


def _connections(rows: list[tuple[int, list[str]]], nodes: int, file: str) -> dict[str, np.ndarray]:
    line_of_id: dict[int, int] = {}
    columns = {name: np.full(len(rows), -1 if name in ("trigger", "send_done", "recv_done") else 0, np.int64) for name in COLUMNS}
    for index, (line, words) in enumerate(rows):
        place = f"{file}:{line}"
        pair = PAIR.fullmatch(words[0])
        if not pair:
            keys = (*HEADER, "trigger", "0->1")
            raise FormatError(f"{place}: {quoted(words[0])}: {did_you_mean(words[0], keys)}; {LIKE}")
        for name, word in zip(("src", "dst"), pair.groups(), strict=True):
            columns[name][index] = whole(word, place, f"{name} of {words[0]}", 0, nodes - 1)
        if columns["src"][index] == columns["dst"][index]:
            raise FormatError(f"{place}: {words[0]}: a connection cannot go to itself; legal are the other nodes of 0 to {nodes - 1}")
        if len(words) % 2 == 0:
            raise FormatError(f"{place}: {words[-1]} has no value; {LIKE}")
        given = {}
        for key, value in zip(words[1::2], words[2::2], strict=True):
            if key not in VALUES:
                raise FormatError(f"{place}: {quoted(key)} is not a key of a connection: {did_you_mean(key, VALUES)}")
            given[key] = value
            if words[1::2].count(key) > 1:
                raise FormatError(f"{place}: {key} stands twice")
        if "size" not in given or ("start" in given) == ("trigger" in given):
            raise FormatError(f"{place}: {'size is missing' if 'size' not in given else 'needs either start or trigger'}; {LIKE}")
        columns["id"][index] = index + 1
        for key, value in given.items():
            name, low, high = VALUES[key]
            columns[name][index] = whole(value, place, key, low, high)
        number = int(columns["id"][index])
        if line_of_id.setdefault(number, line) != line:
            raise FormatError(f"{place}: id {number} stands twice, first in line {line_of_id[number]}")
    return columns


def _work(
    nodes: int, columns: dict[str, np.ndarray], kinds: dict[int, tuple[int, int, int]], rows: list[tuple[int, list[str]]], file: str
) -> tuple[HtsimWork, list[str]]:
    """Connections with trigger ids turned into positions; the file's order stays where triggers start some."""
    for name in ("trigger", "send_done", "recv_done"):
        unknown = next((index for index, number in enumerate(columns[name].tolist()) if number >= 0 and number not in kinds), None)
        if unknown is not None:
            number = columns[name][unknown]
            number = columns[name][unknown]
            raise FormatError(f"{file}:{rows[unknown][0]}: there is no trigger {number}: {did_you_mean(number, list(kinds)[:MAX_NAMES_SHOWN])}")
        columns[name] = np.array([kinds[number][0] if number >= 0 else -1 for number in columns[name].tolist()], np.int64)
    with_triggers = (columns["trigger"] >= 0).any()
    order = np.arange(len(rows)) if with_triggers else np.argsort(columns["start_ps"], kind="stable")
    work = HtsimWork(
        nodes, **{name: column[order] for name, column in columns.items()}, trigger_id=np.array(list(kinds), np.int64),
        trigger_kind=np.array([kind for _, kind, _ in kinds.values()], np.int64), trigger_count=np.array([count for *_, count in kinds.values()], np.int64),
    )  # fmt: skip
    whole_work, work = work, work.without_unstarted()
    if work.problem():
        raise FormatError(f"{file}: {work.problem()}")
    said = _about_triggers(work, whole_work, file)
    if (order[1:] < order[:-1]).any():
        said.append("connections were not in order of their start and have been sorted")
    if (work.n_bytes == 0).any():
        said.append(f"flows of 0 bytes are done after their path's delay: {int((work.n_bytes == 0).sum())}")
    return work, said


def _about_triggers(work: HtsimWork, given: HtsimWork, file: str) -> list[str]:
    """What htsim decides by the order in which connections end, and is decided by the order of the file here."""
    said = []
    if len(work.src) < len(given.src):
        lost = np.setdiff1d(given.id, work.id)
        shown = ", ".join(map(str, lost[:MAX_NAMES_SHOWN].tolist()))
        said.append(f"{file}: {len(lost)} connections never start and are left out, for their multishot is not activated once for each: id {shown}")
    more = (work.starts > 0) & (work.awaited > 0) & (work.activations > work.awaited)
    fired, awaited = work.activations, work.awaited
    said += [
        f"{file}: trigger {work.trigger_id[position]} {KINDS[work.trigger_kind[position]]} is activated by {fired[position]} connections: "
        f"the first {awaited[position]} in the order of the file fire it, in htsim the first to end"
        for position in np.flatnonzero(more)[:MAX_NAMES_SHOWN].tolist()
    ]
    if ((work.starts > 0) & (work.trigger_kind == KINDS.index("multishot"))).any():
        said.append("multishot triggers start their connections in the order of the file, each after the connection that activates it in the order of the file")
    return said


def cm_text(work: HtsimWork) -> str:
    """The connection matrix in htsim's format."""
    rows = [f"Nodes {work.nodes}", f"Connections {len(work.src)}"]
    if len(work.trigger_id):
        rows.append(f"Triggers {len(work.trigger_id)}")
    ids = [*work.trigger_id.tolist(), -1]
    columns = [getattr(work, name).tolist() for name in COLUMNS]
    for src, dst, number, size, start, trigger, send_done, recv_done in zip(*columns, strict=True):
        begins = f"trigger {ids[trigger]}" if trigger >= 0 else f"start {start}"
        after = f" send_done_trigger {ids[send_done]}" * (send_done >= 0) + f" recv_done_trigger {ids[recv_done]}" * (recv_done >= 0)
        rows.append(f"{src}->{dst} id {number} {begins} size {size}{after}")
    for number, kind, count in zip(work.trigger_id.tolist(), work.trigger_kind.tolist(), work.trigger_count.tolist(), strict=True):
        rows.append(f"trigger id {number} {KINDS[kind]}" + f" count {count}" * (KINDS[kind] == "barrier"))
    return "\n".join(rows) + "\n"
