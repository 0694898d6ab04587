"""The canonical text of imported work: JSON, packed when it is long; importers write it, builders read it back strictly."""

import base64
import binascii
import json
import zlib

import numpy as np

from sim.errors import ScenarioError, did_you_mean

PACKED = "zlib:"  # what a packed text begins with
LONG = 4_000  # characters from which a text is packed
MAX_TEXT_BYTES = 400_000_000  # of an unpacked one: a work graph of some million nodes; more in a scenario is an attack
WHERE = "program.work"


def pack(content: dict) -> str:
    """`content` as text: JSON, compressed and in base64 if that is shorter for people and files."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    if len(text) <= LONG:
        return text
    return PACKED + base64.b64encode(zlib.compress(text.encode(), level=9)).decode()


def unpack(text: str, keys: tuple[str, ...]) -> dict:
    """The content of a text with exactly these keys; ScenarioError for anything else."""
    try:
        if text.startswith(PACKED):
            reader = zlib.decompressobj()
            raw = reader.decompress(base64.b64decode(text[len(PACKED) :], validate=True), MAX_TEXT_BYTES)
            if not reader.eof:
                raise ScenarioError(f"{WHERE}: is cut short, or holds more than {MAX_TEXT_BYTES} bytes; import the files again")
            text = raw.decode()
        content = json.loads(text)
    except (binascii.Error, zlib.error, ValueError, RecursionError):
        raise ScenarioError(f"{WHERE}: is damaged: neither JSON nor packed JSON; import the files again") from None
    if not isinstance(content, dict):
        raise ScenarioError(f"{WHERE}: must be a JSON object with {', '.join(keys)}; import the files again")
    extra = next((key for key in content if key not in keys), None)
    if extra is not None:
        raise ScenarioError(f"{WHERE}: {extra!r} is not a known key: {did_you_mean(extra, keys)}")
    missing = next((key for key in keys if key not in content), None)
    if missing is not None:
        raise ScenarioError(f"{WHERE}: {missing!r} is missing; it holds {', '.join(keys)}")
    return content


def count(content: dict, key: str, low: int, high: int) -> int:
    """A whole number of `low` to `high` under a key of `unpack`'s."""
    value = content[key]
    if type(value) is not int or not low <= value <= high:
        raise ScenarioError(f"{WHERE}: {key} = {value!r}: must be a whole number from {low} to {high}")
    return value


def whole_column(values: object, key: str, low: int, high: int, length: int | None = None) -> np.ndarray:
    """int64 (uint64 where `high` is beyond that) of a list of whole numbers of `low` to `high`, `length` of them where that is given."""
    if not isinstance(values, list) or any(type(value) is not int for value in values):
        raise ScenarioError(f"{WHERE}: {key} must be a list of whole numbers; import the files again")
    if length is not None and len(values) != length:
        raise ScenarioError(f"{WHERE}: {key} has {len(values)} entries, {length} are needed; import the files again")
    wrong = next((index for index, value in enumerate(values) if not low <= value <= high), None)
    if wrong is not None:
        raise ScenarioError(f"{WHERE}: {key}[{wrong}] = {values[wrong]}: must be from {low} to {high}")
    return np.array(values, np.int64 if high < 2**63 else np.uint64)


def word_column(values: object, key: str, length: int | None = None) -> list[str]:
    """A list of words, `length` of them where that is given."""
    if not isinstance(values, list) or any(type(value) is not str for value in values):
        raise ScenarioError(f"{WHERE}: {key} must be a list of words; import the files again")
    if length is not None and len(values) != length:
        raise ScenarioError(f"{WHERE}: {key} has {len(values)} entries, {length} are needed; import the files again")
    return values
