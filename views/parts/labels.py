"""Sentences of the engine in the words of the form: `cluster.gpus_per_node` is "GPUs per server" there."""

import re

from views.parts import faults, fields
from views.parts.words import told

LABELS = {field.key: field.label for field in fields.FIELDS}
SHORT = {key.partition(".")[2]: label for key, label in LABELS.items()}  # as a sentence goes on: "leaves = 4"


def _any_of(names) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_FULL = re.compile(rf"\b({_any_of(LABELS)})\b")
_ALONE = re.compile(rf"(?<![\w.])({_any_of(name for name in SHORT if '_' in name)}|({_any_of(SHORT)})(?= = ))\b")
_FAULT = re.compile(rf"\bfaults\.(\d+)\.({_any_of(faults.LABELS)})\b")


def labelled(text: str) -> str:
    """A sentence with the keys in it as the form calls them, safe in Markdown."""
    text = _ALONE.sub(lambda key: f"**{SHORT[key[1]]}**", told(text))
    text = _FULL.sub(lambda key: f"**{LABELS[key[1]]}**", text)
    return _FAULT.sub(lambda key: f"**{faults.LABELS[key[2]]}** of fault {int(key[1]) + 1}", text)
