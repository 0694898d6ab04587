"""Scenarios as text: TOML presets, `--set key=value`, and the compact text of a shared link."""

import base64
import binascii
import json
import sys
import tomllib
import zlib
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from sim.errors import ScenarioError, did_you_mean, quoted
from sim.scenario import Scenario
from sim.scenario_base import models_in

PRESET_DIRECTORY = Path(__file__).resolve().parent.parent / "presets"
LINK_VERSION = "1"
MAX_SCENARIO_BYTES = 64_000_000  # of a file: half a million messages packed take 5 MB, 20,000 with a path of their own 6 MB
MAX_LINK_BYTES = 4_000_000  # of what a link unpacks to: more is an attack


def list_presets() -> list[str]:
    """Names of the presets that come with the project, sorted."""
    return sorted(path.stem for path in PRESET_DIRECTORY.glob("*.toml"))


def load_preset(name_or_path: str | Path) -> Scenario:
    """The scenario of a preset's name or of a TOML file; `cluster.file` is read relative to that file."""
    path = Path(name_or_path)
    if path.suffix != ".toml":
        path = PRESET_DIRECTORY / f"{name_or_path}.toml"
        if str(name_or_path) not in list_presets():
            raise ScenarioError(
                f"{str(name_or_path)!r} is neither a preset nor a .toml file: {did_you_mean(name_or_path, list_presets())}"
            )
    text = _read(path)
    try:
        data = parse_toml(text)
    except ValueError as problem:
        raise ScenarioError(f"{path}: is not TOML: {problem}") from None
    data.setdefault("name", path.stem)
    try:
        return Scenario.from_data(_with_graph(data, path))
    except ScenarioError as problem:
        raise ScenarioError(f"{path.name}: {problem}") from None


def parse_toml(text: str) -> dict[str, Any]:
    """The values of TOML; ValueError, in words of TOML, also for what Python's parser cannot hold."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise ValueError("lists or tables are nested too deep") from None
    except ValueError:
        raise ValueError(f"a number has more than {sys.get_int_max_str_digits()} digits") from None


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_SCENARIO_BYTES:
            raise ScenarioError(f"{path}: is {path.stat().st_size} bytes; at most {MAX_SCENARIO_BYTES} are read")
        return path.read_text("utf-8-sig")
    except FileNotFoundError:
        beside = [other.name for other in path.parent.glob("*" + path.suffix)] if path.parent.is_dir() else []
        raise ScenarioError(f"{path}: there is no such file: {did_you_mean(path.name, beside)}") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise ScenarioError(f"{path}: cannot be read as text: {problem}") from None


def _with_graph(data: dict[str, Any], preset: Path) -> dict[str, Any]:
    """`cluster.file` replaced by the text it names, so that the scenario is complete in itself."""
    cluster = data.get("cluster")
    if isinstance(cluster, dict) and "file" in cluster:
        cluster = dict(cluster)
        name = cluster.pop("file")
        if not isinstance(name, str) or "graph" in cluster:
            raise ScenarioError(
                f"cluster.file = {quoted(name)}: must be the name of one topology file, without cluster.graph beside it"
            )
        cluster["graph"] = _read(preset.parent / name)
        data = {**data, "cluster": cluster}
    return data


def parse_setting(text: str) -> tuple[str, Any]:
    """The key and value of "transport.payload_bytes=4000"; the value is TOML, or a bare word; empty is the default."""
    key, equals, value = text.partition("=")
    key, value = key.strip(), value.strip()
    if not equals or not key:
        raise ScenarioError(f"--set {text}: must be key=value, like transport.congestion_control=hpcc")
    if not value:
        return key, None
    try:
        return key, parse_toml(f"value = {value}")["value"]
    except ValueError as problem:
        if not isinstance(problem, tomllib.TOMLDecodeError):
            raise ScenarioError(f"--set {key}: {problem}") from None
        if value[0] in "\"'[{":
            raise ScenarioError(f"--set {text}: the value is not TOML; quote text that is not a plain word") from None
        return key, value


def apply_settings(scenario: Scenario, settings: list[str]) -> Scenario:
    """`scenario` with every "key=value" applied, checked when all are in place."""
    return scenario.replace_all(dict(parse_setting(text) for text in settings)) if settings else scenario


def to_toml(scenario: Scenario) -> str:
    """The preset text of `scenario`: what was given, each key with its unit and meaning."""
    return "\n".join(_table(scenario.given(), type(scenario), "")).strip() + "\n"


def _table(data: dict[str, Any], model: type[BaseModel] | None, path: str) -> list[str]:
    lines, below = [], []
    for key, value in data.items():
        field = model.model_fields.get(key) if model else None
        name = f"{path}.{key}" if path else key
        inner = next(iter(models_in(field.annotation)), None) if field else None
        if isinstance(value, dict):
            below += ["", f"[{name}]", *_table(value, inner, name)]
        elif isinstance(value, (list, tuple)) and value and isinstance(value[0], dict):
            for entry in value:
                below += ["", f"[[{name}]]", *_table(entry, inner, name)]
        else:
            comment = f"  # {field.description}" if field and field.description and path else ""
            lines.append(f"{_key(key)} = {_value(value)}{comment}")
    return lines + below


def _key(key: str) -> str:
    return key if key and all(c.isascii() and (c.isalnum() or c in "-_") for c in key) else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, str) and "\n" in value:
        return '"""\n' + "\n".join(json.dumps(line)[1:-1] for line in value.split("\n")) + '"""'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return json.dumps(value)


def to_link(scenario: Scenario) -> str:
    """`scenario` as short text that is safe in a URL; `from_link` reads it back."""
    text = json.dumps(scenario.given(), separators=(",", ":"))
    packed = zlib.compress(text.encode(), level=9)
    return LINK_VERSION + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def from_link(link: str) -> Scenario:
    """The scenario of a shared link; anything but a whole, legal one raises ScenarioError."""
    if not link.startswith(LINK_VERSION):
        raise ScenarioError(
            f"this link begins with {link[:1]!r}: only version {LINK_VERSION} is known; copy the whole link"
        )
    body = link[len(LINK_VERSION) :]
    try:
        packed = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True)
        reader = zlib.decompressobj()
        text = reader.decompress(packed, MAX_LINK_BYTES)
        if not reader.eof:
            raise ScenarioError(
                f"this link is cut short or holds more than {MAX_LINK_BYTES} bytes; copy the whole link"
            )
        data = json.loads(text)
    except (binascii.Error, ValueError, zlib.error, RecursionError):
        raise ScenarioError("this link is damaged: it does not hold a scenario; copy the whole link") from None
    if not isinstance(data, dict):
        raise ScenarioError("this link is damaged: it does not hold a scenario; copy the whole link")
    return Scenario.from_data(data)
