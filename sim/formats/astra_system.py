"""ASTRA-sim's system.json: which algorithm runs each collective along each dimension of the network."""

import json
import re
from dataclasses import dataclass, field

from sim.errors import FormatError, did_you_mean
from sim.formats.text import quoted

COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")
ALGORITHMS = ("ring", "direct", "doubleBinaryTree", "halvingDoubling")
WHOLE_GROUP = {"one" + name[0].upper() + name[1:]: name for name in ALGORITHMS}  # one ring, ... over all dimensions at once
LOG_GP = ("L", "o", "g", "G")  # names of process groups, too, so that they alone make no settings
WITHOUT_EFFECT = (
    "scheduling-policy", "intra-dimension-scheduling", "inter-dimension-scheduling", "endpoint-delay", "active-chunks-per-dimension",
    "collective-optimization", "boost-mode", "model-shared-bus", "trace-enabled", "replay-only", "track-local-mem", "local-mem-trace-filename",
    "local-reduction-delay", *LOG_GP,
)  # fmt: skip
SPLITS = "preferred-dataset-splits"
MAX_SPLITS = 1024
NUMBERS = {SPLITS: (1, MAX_SPLITS), "local-mem-bw": (1e-9, 1e9), "peak-perf": (1e-9, 1e9), "roofline-enabled": (0, 1)}
KEY = re.compile(r'"([^"\n]*)"\s*:')
KEYS = (*(f"{name}-implementation" for name in COLLECTIVES), *NUMBERS, *WITHOUT_EFFECT)


@dataclass(frozen=True)
class AstraSystem:
    """Algorithms by collective: one for each dimension, or one for the whole group (`whole_group`)."""

    algorithms: dict[str, tuple[str, ...]] = field(default_factory=dict)
    whole_group: frozenset[str] = frozenset()
    splits: int = 1  # chunks that a collective is cut into
    peak_tflops: float | None = None  # where compute is timed by a roofline
    memory_gb_per_s: float | None = None
    notices: tuple[str, ...] = ()
    places: dict[str, str] = field(default_factory=dict)  # "file:line: key" of the algorithms of each collective


def is_astra_system(text: str) -> bool:
    """Whether `text` looks like a system.json."""
    return text.lstrip().startswith("{") and any((key in KEYS and key not in LOG_GP) or "-implementation" in key for key in KEY.findall(text))


def read_astra_system(text: str, file: str = "system.json") -> AstraSystem:
    """The settings of `text`; FormatError, one line, for the first fault."""
    content = read_object(text, file)

    def place(key: str) -> str:
        return f"{file}:{line_of_key(text, key)}"

    unknown = next((key for key in content if key not in KEYS and not key.endswith("-implementation-custom")), None)
    if unknown is not None:
        raise FormatError(f"{place(unknown)}: {quoted(unknown)} is not a known key: {did_you_mean(unknown, KEYS)}")
    algorithms, whole_group, places = {}, set(), {}
    for name in COLLECTIVES:
        if f"{name}-implementation-custom" in content:
            raise FormatError(f"{place(f'{name}-implementation-custom')}: {name}-implementation-custom: only {', '.join(ALGORITHMS)} are simulated")
        if f"{name}-implementation" in content:
            places[name] = f"{place(f'{name}-implementation')}: {name}-implementation"
            algorithms[name], one = _algorithms(content[f"{name}-implementation"], places[name])
            if one:
                whole_group.add(name)
    numbers = {
        key: _number(content[key], f"{place(key)}: {key}", *NUMBERS[key], whole=key in (SPLITS, "roofline-enabled"))
        for key in NUMBERS
        if key in content
    }
    roofline = bool(numbers.get("roofline-enabled", 0))
    if roofline and "peak-perf" not in numbers:
        raise FormatError(f"{place('roofline-enabled')}: roofline-enabled 1: needs peak-perf in TFLOP/s, like 900; the nearest is roofline-enabled 0")
    ignored = [key for key in content if key in WITHOUT_EFFECT]
    said = (f"{file}: without effect here: {', '.join(ignored)}",) if ignored else ()
    return AstraSystem(
        algorithms, frozenset(whole_group), int(numbers.get(SPLITS, 1)), numbers.get("peak-perf") if roofline else None,
        numbers.get("local-mem-bw") if roofline else None, said, places,
    )  # fmt: skip


def read_object(text: str, file: str) -> dict:
    """A JSON object without keys that stand twice; FormatError otherwise."""

    def once(pairs: list[tuple[str, object]]) -> dict:
        found: dict = {}
        for key, value in pairs:
            if key in found:
                raise FormatError(f"{file}:{line_of_key(text, key)}: {quoted(key)} stands twice")
            found[key] = value
        return found

    try:
        content = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as problem:
        raise FormatError(f"{file}:{problem.lineno}: is not JSON: {problem.msg}") from None
    except (RecursionError, ValueError) as problem:
        raise FormatError(f"{file}: is not JSON: {problem}") from None
    if not isinstance(content, dict):
        raise FormatError(f"{file}:1: must be a JSON object, like {{ ... }}")
    return content


def line_of_key(text: str, key: str) -> int:
    """Line (from 1) where a key of a JSON text first stands."""
    found = text.find(json.dumps(key))
    return 1 + text.count("\n", 0, max(found, 0))


def _algorithms(value: object, place: str) -> tuple[tuple[str, ...], bool]:
    if not isinstance(value, list) or not value or any(not isinstance(word, str) for word in value):
        raise FormatError(f"{place} {quoted(value)}: must be a list with an algorithm for each dimension, like [\"ring\"]")
    wrong = next((word for word in value if word not in ALGORITHMS and word not in WHOLE_GROUP), None)
    if wrong is not None:
        raise FormatError(f"{place} {quoted(wrong)} is not known: {did_you_mean(wrong, (*ALGORITHMS, *WHOLE_GROUP))}")
    one = [word for word in value if word in WHOLE_GROUP]
    if one and len(value) > 1:
        raise FormatError(f"{place}: {one[0]} covers all dimensions, but {len(value)} algorithms are listed; the nearest is [{json.dumps(one[0])}]")
    return tuple(WHOLE_GROUP.get(word, word) for word in value), bool(one)


def _number(value: object, place: str, low: float, high: float, whole: bool) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high or (whole and value != int(value)):
        near = f"; the nearest is {min(max(value, low), high):g}" if isinstance(value, (int, float)) and value == value else ""
        raise FormatError(f"{place} {quoted(value)}: must be a {'whole ' if whole else ''}number from {low:g} to {high:g}{near}")
    return float(value)
