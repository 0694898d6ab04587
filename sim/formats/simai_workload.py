"""SimAI workloads: a header line of parallel sizes, the number of layers, then one layer a line."""

import re

import numpy as np

from sim.errors import FormatError, did_you_mean
from sim.formats.text import quoted, rows_of, whole
from sim.workload.program_simai_work import COMMS, LIMITS, MAX_BYTES, MAX_LAYERS, MAX_NS, NONE, NONES, PHASES, SimaiWork

POLICY = "HYBRID_TRANSFORMER_FWD_IN_BCKWD"
KEYS = {
    "model_parallel_NPU_group": "tp", "ep": "ep", "pp": "pp", "vpp": "vpp", "ga": "ga", "all_gpus": "gpus",
    "checkpoints": "checkpoints", "checkpoint_initiates": "checkpoint_initiates", "pp_comm": "pp_comm_bytes",
}  # fmt: skip
MAY_BE_LEFT_OUT = ("checkpoints", "checkpoint_initiates", "pp_comm")
COLUMNS = 12
LIKE = "a layer is: name -1 fwd_ns COMM bytes ig_ns COMM bytes wg_ns COMM bytes update_ns"
HEADER_LIKE = f"{POLICY} model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 32 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0"


def is_simai_workload(text: str) -> bool:
    """Whether `text` begins like a SimAI workload, whatever its policy."""
    return re.match(r"\s*[A-Z_]+\s+model_parallel_NPU_group", text) is not None or text.lstrip().startswith(POLICY)


def read_simai_workload(text: str, file: str = "workload") -> tuple[SimaiWork, list[str]]:
    """The workload of `text`, and what is worth saying about it; FormatError, one line, for the first fault."""
    rows = rows_of(text)
    if not rows:
        raise FormatError(f"{file}: is empty: must begin with {HEADER_LIKE}")
    header = _header(rows[0], file)
    layers = _layers(rows[1:], file)
    work = _work(header, layers, file)
    if work.problem():
        raise FormatError(f"{file}:{rows[0][0]}: {work.problem()}")
    return work, _notices(work, header)


def _header(row: tuple[int, list[str]], file: str) -> dict[str, int]:
    line, words = row
    place = f"{file}:{line}"
    if words[0] != POLICY:
        raise FormatError(f"{place}: policy {quoted(words[0])}: only {POLICY} is read; the line must be like {HEADER_LIKE}")
    pairs = " ".join(words[1:]).replace(":", " ").split()
    found: dict[str, int] = {}
    for position in range(0, len(pairs), 2):
        key = pairs[position]
        if key not in KEYS:
            raise FormatError(f"{place}: {quoted(key)} is not a key of the header: {did_you_mean(key, KEYS)}")
        if KEYS[key] in found:
            raise FormatError(f"{place}: {key} stands twice")
        if position + 1 == len(pairs):
            raise FormatError(f"{place}: {key} has no value; the line must be like {HEADER_LIKE}")
        if key.startswith("checkpoint"):
            if pairs[position + 1] != "0":
                raise FormatError(f"{place}: {key} {quoted(pairs[position + 1])}: recomputation from checkpoints is not simulated; the nearest is 0")
            found[key] = 0
        else:
            found[KEYS[key]] = whole(pairs[position + 1], place, key, *LIMITS[KEYS[key]])
    missing = next((key for key, name in KEYS.items() if name not in found and key not in MAY_BE_LEFT_OUT), None)
    if missing:
        raise FormatError(f"{place}: {missing} is missing; the line must be like {HEADER_LIKE}")
    return found


def _layers(rows: list[tuple[int, list[str]]], file: str) -> list[tuple[int, list[str]]]:
    if not rows:
        raise FormatError(f"{file}:2: the number of layers is missing")
    line, words = rows[0]
    if len(words) != 1:
        raise FormatError(f"{file}:{line}: {len(words)} values: must be the number of layers alone")
    announced = whole(words[0], f"{file}:{line}", "number of layers", 1, MAX_LAYERS)
    layers = rows[1:]
    odd = next(((number, len(row)) for number, row in layers if len(row) != COLUMNS), None)
    if odd:
        raise FormatError(f"{file}:{odd[0]}: {odd[1]} values instead of {COLUMNS}: {LIKE}")
    if len(layers) != announced:
        raise FormatError(
            f"{file}:{line}: {announced} layers announced, {len(layers)} found; "
            + (f"the nearest that works is to write {len(layers)} there, if the file is not cut off" if layers else LIKE)
        )
    return layers


def _work(header: dict[str, int], layers: list[tuple[int, list[str]]], file: str) -> SimaiWork:
    n = len(layers)
    ns, n_bytes, update_ns = np.zeros((3, n), np.int64), np.zeros((3, n), np.int64), np.zeros(n, np.int64)
    comm: list[list[str]] = [[], [], []]
    for index, (line, words) in enumerate(layers):
        place = f"{file}:{line}"
        if words[1] != "-1":
            raise FormatError(f"{place}: dependency {quoted(words[1])}: must be -1, layers follow each other in the order of the file")
        for phase, name in enumerate(PHASES):
            duration, kind, size = words[2 + 3 * phase : 5 + 3 * phase]
            ns[phase, index] = whole(duration, place, f"{name}_ns", 0, MAX_NS)
            if kind not in COMMS:
                raise FormatError(f"{place}: {name} communication {quoted(kind)} is not known: {did_you_mean(kind, COMMS)}")
            comm[phase].append(NONE if kind in NONES else kind)
            n_bytes[phase, index] = whole(size, place, f"{name} bytes", 0, MAX_BYTES)
        update_ns[index] = whole(words[11], place, "update_ns", 0, MAX_NS)
    numbers = {key: header.get(key, 0) for key in LIMITS}
    return SimaiWork(**numbers, name=[words[0] for _, words in layers], ns=ns, comm=comm, n_bytes=n_bytes, update_ns=update_ns)


def _notices(work: SimaiWork, header: dict[str, int]) -> list[str]:
    said = []
    if work.pp > 1 and "pp_comm_bytes" not in header:
        said.append("pp_comm is not given: pipeline stages hand over 0 bytes")
    if work.vpp > 1 and work.pp > 1:
        said.append(f"vpp {work.vpp}: stages are not cut into chunks, the schedule is plain 1F1B")
    words = [word for comms in work.comm for word in comms]
    sizes = work.n_bytes.ravel()
    ignored = sum(1 for word, size in zip(words, sizes.tolist(), strict=True) if word == NONE and size)
    if ignored:
        said.append(f"bytes beside NONE are not sent: {ignored} values")
    empty = sum(1 for word, size in zip(words, sizes.tolist(), strict=True) if word != NONE and not size)
    if empty:
        said.append(f"collectives of 0 bytes are done after their path's delay: {empty}")
    return said
