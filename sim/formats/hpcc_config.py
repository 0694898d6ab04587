"""Configuration files of the HPCC simulator: KEY value..., one key a line."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from sim.errors import SHOWN, FormatError, nearest_words, quoted
from sim.units import is_whole, parse_rate_bps, plain_number, show_number, show_rate

CONTROLLERS = {1: "dcqcn", 3: "hpcc", 7: "timely", 8: "dctcp"}
OUTPUT_ONLY = (
    "TOPOLOGY_FILE", "FLOW_FILE", "TRACE_FILE", "TRACE_OUTPUT_FILE", "FCT_OUTPUT_FILE", "PFC_OUTPUT_FILE", "QLEN_MON_FILE",
    "QLEN_MON_START", "QLEN_MON_END", "ENABLE_TRACE", "DATA_RATE", "LINK_DELAY", "PAUSE_TIME", "PINT_LOG_BASE", "PINT_PROB",
)  # fmt: skip


def _number(low: float, high: float, whole: bool = False) -> Callable[[list[str]], object]:
    def read(words: list[str]) -> float | int:
        rule = f"must be one {'whole number' if whole else 'number'} from {show_number(low)} to {show_number(high)}"
        found = plain_number(words[0]) if len(words) == 1 else None
        value = math.nan if found is None else found
        if not low <= value <= high or (whole and value != int(value)):
            near = (
                ""
                if math.isnan(value)
                else f"; the nearest is {show_number(round(min(max(value, low), high)) if whole else min(max(value, low), high))}"
            )
            raise ValueError(rule + near)
        return int(value) if whole else value

    return read


def _flag(words: list[str]) -> bool:
    if words not in (["0"], ["1"]):
        raise ValueError("must be 0 or 1")
    return words == ["1"]


def _rate(low_bps: int, high_bps: int) -> Callable[[list[str]], object]:
    def read(words: list[str]) -> int:
        value = _rate_bps(words)
        if not low_bps <= value <= high_bps:
            near = min(max(value, low_bps), high_bps)
            raise ValueError(f"must be a rate from {show_rate(low_bps)} to {show_rate(high_bps)}; the nearest is {near // 10**6}Mb/s")
        return value

    return read


def _rate_bps(words: list[str]) -> int:
    value = parse_rate_bps(words[0]) if len(words) == 1 else None
    if value is None:
        hint = f"; did you mean {words[0]}Mb/s?" if len(words) == 1 and plain_number(words[0]) is not None and len(words[0]) < SHOWN else ""
        raise ValueError(f"must be one rate with its unit, like 50Mb/s{hint}")
    return value


def _by_rate(low: float, high: float) -> Callable[[list[str]], object]:
    read_value = _number(low, high)

    def read(words: list[str]) -> dict[int, float]:
        if not words or not is_whole(words[0]):
            raise ValueError("must be: n, then n times rate_bps value")
        if len(words) - 1 != 2 * int(words[0]) or len(words) == 1:
            raise ValueError(
                f"{words[0]} rates announced, {(len(words) - 1) / 2:g} found; must be: n, then n times rate_bps value"
            )
        for rate in words[1::2]:
            if not is_whole(rate) or not 0 < int(rate) < 10**15:
                raise ValueError(f"rate {quoted(rate)} must be whole bit/s, like 100000000000")
        rates = [int(rate) for rate in words[1::2]]
        twice = next((rate for rate in rates if rates.count(rate) > 1), None) if len(set(rates)) < len(rates) else None
        if twice is not None:
            raise ValueError(f"rate {twice} stands twice: must be each rate once, n {len(set(rates))}")
        return {int(rate): read_value([value]) for rate, value in zip(words[1::2], words[2::2], strict=True)}

    return read


def _controller(words: list[str]) -> str:
    if words == ["10"]:
        raise ValueError("HPCC-PINT is not simulated; the nearest is 3 (HPCC)")
    if len(words) != 1 or words[0] not in map(str, CONTROLLERS):
        raise ValueError("must be one of " + ", ".join(f"{mode} ({name})" for mode, name in CONTROLLERS.items()))
    return CONTROLLERS[int(words[0])]


def _link_down(words: list[str]) -> tuple[int, int, int]:
    if len(words) != 3 or not all(is_whole(word) for word in words):
        raise ValueError("must be: time_us node node, like 0 0 0 for never")
    return int(words[0]), int(words[1]), int(words[2])


_MICROSECONDS = _number(0.001, 1e6)
_STEP = _rate(0, 10**15)
KEYS: dict[str, tuple[str, Callable[[list[str]], object]]] = {
    "CC_MODE": ("controller", _controller),
    "ENABLE_QCN": ("marking", _flag),
    "USE_DYNAMIC_PFC_THRESHOLD": ("dynamic_pfc", _flag),
    "PACKET_PAYLOAD_SIZE": ("payload_bytes", _number(1, 65_536, whole=True)),
    "SIMULATOR_STOP_TIME": ("stop_s", _number(0, 9e6)),
    "CLAMP_TARGET_RATE": ("clamp_target", _flag),
    "FAST_RECOVERY_TIMES": ("recovery_stages", _number(0, 1e6, whole=True)),
    "ERROR_RATE_PER_LINK": ("loss", _number(0, 0.999999)),
    "L2_CHUNK_SIZE": ("chunk_bytes", _number(0, 2**31, whole=True)),
    "L2_ACK_INTERVAL": ("ack_interval_bytes", _number(0, 2**31, whole=True)),
    "L2_BACK_TO_ZERO": ("back_to_zero", _flag),
    "GLOBAL_T": ("global_t", _flag),
    "MULTI_RATE": ("multi_rate", _flag),
    "SAMPLE_FEEDBACK": ("sample_feedback", _flag),
    "RATE_BOUND": ("rate_bound", _flag),
    "LINK_DOWN": ("link_down", _link_down),
    "BUFFER_SIZE": ("buffer_mib", _number(1, 953_674, whole=True)),  # 10^12 bytes
    "U_TARGET": ("u_target", _number(0.01, 1)),
    "MI_THRESH": ("mi_thresh", _number(0, 1e6, whole=True)),
    "ALPHA_RESUME_INTERVAL": ("alpha_interval_us", _MICROSECONDS),
    "RATE_DECREASE_INTERVAL": ("decrease_interval_us", _MICROSECONDS),
    "RP_TIMER": ("increase_interval_us", _MICROSECONDS),
    "MIN_RATE": ("min_rate_bps", _rate(10**6, 10**13)),
    "INT_MULTI": ("int_multi", _number(1, 2**20, whole=True)),
    "KMAX_MAP": ("kmax_kb", _by_rate(0, 1e9)),
    "KMIN_MAP": ("kmin_kb", _by_rate(0, 1e9)),
    "PMAX_MAP": ("pmax", _by_rate(0, 1)),
    "EWMA_GAIN": ("gain", _number(0, 1)),
    "DCTCP_RATE_AI": ("dctcp_additive_bps", _STEP),
    "RATE_AI": ("additive_bps", _STEP),
    "RATE_HAI": ("hyper_bps", _STEP),
    "HAS_WIN": ("has_window", _flag),
    "VAR_WIN": ("var_window", _flag),
    "FAST_REACT": ("fast_react", _flag),
    "ACK_HIGH_PRIO": ("ack_high_priority", _flag),
}
KNOWN = (*KEYS, *OUTPUT_ONLY)


@dataclass(frozen=True)
class HpccConfig:
    """Every key that decides a result. None: not given, our controller's default holds.

    Other defaults are the simulator's. `ack_high_priority` concerns its host NICs only, where ACKs
    go first in any case; its switches keep ACKs in the data queue.
    """

    controller: str = "dcqcn"
    marking: bool = True
    dynamic_pfc: bool = True
    payload_bytes: int = 1000
    stop_s: float = 3.01
    loss: float = 0.0
    chunk_bytes: int = 0
    ack_interval_bytes: int = 0
    back_to_zero: bool = False
    global_t: bool = True
    multi_rate: bool = False
    sample_feedback: bool = False
    rate_bound: bool = True
    link_down: tuple[int, int, int] = (0, 0, 0)  # us after 2 s, node, node; 0 us: never
    buffer_mib: int = 16
    int_multi: int = 1
    has_window: bool = True
    var_window: bool = False
    ack_high_priority: bool = False
    clamp_target: bool | None = None
    recovery_stages: int | None = None
    u_target: float | None = None
    mi_thresh: int | None = None
    alpha_interval_us: float | None = None
    decrease_interval_us: float | None = None
    increase_interval_us: float | None = None
    min_rate_bps: int | None = None
    gain: float | None = None
    additive_bps: int | None = None
    hyper_bps: int | None = None
    dctcp_additive_bps: int | None = None
    fast_react: bool | None = None
    kmin_kb: dict[int, float] | None = None  # by link rate in bit/s
    kmax_kb: dict[int, float] | None = None
    pmax: dict[int, float] | None = None
    notices: tuple[str, ...] = ()
    file: str = field(default="the defaults", repr=False, compare=False)
    given: dict[str, tuple[int, str]] = field(default_factory=dict, repr=False, compare=False)  # by key: line, value

    def place(self, key: str) -> str:
        """Where `key` has its value, as errors begin: file, line, key, value."""
        if key in self.given:
            line, value = self.given[key]
            return f"{self.file}:{line}: {key} {quoted(value)}"
        return f"{self.file}: {key} is not given, {getattr(self, KEYS[key][0])}"


def read_config(text: str, file: str = "config") -> HpccConfig:
    """The configuration of `text`; FormatError with file, line, key, value and rule for the first fault."""
    values: dict[str, object] = {}
    seen: dict[str, int] = {}
    given: dict[str, tuple[int, str]] = {}
    said: list[str] = []
    for line, row in enumerate(text.splitlines(), 1):
        key, *words = row.split() or ["#"]
        if key.startswith("#") or key in OUTPUT_ONLY:
            continue
        if key not in KEYS:
            raise FormatError(f"{file}:{line}: {quoted(key)} is not one of the {len(KNOWN)} keys of the HPCC simulator: {nearest_words(key, KNOWN)}")
        if key in seen:
            said.append(f"{key} stands in lines {seen[key]} and {line} of {file}: the last counts")
        seen[key] = line
        name, read = KEYS[key]
        try:
            values[name] = read(words)
            given[key] = line, " ".join(words)
        except ValueError as problem:
            raise FormatError(f"{file}:{line}: {key} {quoted(' '.join(words))}: {problem}") from None
    if "controller" not in values:
        said.append("CC_MODE is not given: 1 (dcqcn), the simulator's default, is used")
    config = HpccConfig(**values, notices=tuple(said), file=file, given=given)
    if config.controller == "hpcc" and (config.multi_rate or config.sample_feedback):
        key = "MULTI_RATE" if config.multi_rate else "SAMPLE_FEEDBACK"
        raise FormatError(
            f"{file}:{seen[key]}: {key} '1': this variant of HPCC is not simulated; the nearest is {key} 0"
        )
    return config
