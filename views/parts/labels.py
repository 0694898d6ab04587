"""Sentences of the engine in the words of the form: `cluster.gpus_per_node` is "GPUs per server" there."""

import re

from views.parts import faults, keys
from views.parts.words import told

LABELS = {field.key: field.label for field in keys.FIELDS}
ENTRIES = {"faults": ("fault", faults.LABELS), **{name: (word, {field.key: field.label for field in of}) for name, (word, of) in keys.ROWS.items()}}
ENTRIES["jobs"][1].update({field.key: field.label for field in keys.OF_A_JOB})
SHORT = {  # as a sentence goes on: "leaves = 4"
    **{name: label for of in (ENTRIES["background"], ENTRIES["stragglers"]) for name, label in of[1].items()},
    **{key.partition(".")[2]: label for key, label in LABELS.items()},
}


def _any_of(names) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_FULL = re.compile(rf"\b({_any_of(LABELS)})\b")
_ALONE = re.compile(rf"(?<![\w.])({_any_of(name for name in SHORT if '_' in name)}|({_any_of(SHORT)})(?= = ))\b")
_ENTRY = re.compile(rf"\b({_any_of(ENTRIES)})\.(\d+)(?:\.((?:(?:model|parallelism)\.)?[a-z_]+))?\b")


def labelled(text: str) -> str:
    """A sentence with the keys in it as the form calls them, safe in Markdown."""
    text = _ALONE.sub(lambda key: f"**{SHORT[key[1]]}**", told(text))
    text = _ENTRY.sub(_of_entry, text)
    text = text.replace("belong to \\[parallelism\\]", "belong to the own job")
    return _FULL.sub(lambda key: f"**{LABELS[key[1]]}**", text)


def _of_entry(found: re.Match) -> str:
    """ "jobs.0.parallelism.tp" as "Tensor parallel (TP) of job 1"."""
    word, labels = ENTRIES[found[1]]
    which = f"{word} {int(found[2]) + 1}"
    return f"**{labels.get(found[3], found[3].rpartition('.')[2])}** of {which}" if found[3] else which
