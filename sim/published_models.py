"""The transformer of a published row: its own numbers, and from the catalogue what it leaves out."""

import math
import re

from sim.catalogue.models import MODELS, CatalogueModel
from sim.errors import LabError
from sim.published_rows import PublishedRow
from sim.workload.transformer import NO_LATENT, Shape

SPELLINGS = (("llama-3.1", "llama3"), ("llama3.1", "llama3"), ("llama-", "llama"), ("gpt3", "gpt"), ("nemotron4", "nemotron"), ("nemotron3", "nemotron"))
OTHER_MODELS = {"lite", "next", "vl", "coder", "instruct", "h"}  # a word that makes another model of the name before it
CUT = re.compile(r"l(\d+)")  # "llama3_70b l12": the first 12 layers only


class NotGiven(LabError):
    """Why a row cannot be compared: an input that it leaves out, or a metric that has no model here."""


def catalogue_row(model: str) -> CatalogueModel | None:
    """The row of the catalogue that a name like `LLAMA3.1_405B` or `DeepSeekV3 dropless` means, if any."""
    words = _words(model)
    if set(words) & OTHER_MODELS:
        return None
    known = {_joined(name.split("-")): row for name, row in MODELS.items()}
    for count in range(len(words), 0, -1):
        if (found := known.get(_joined(words[:count]))) is not None:
            return found
    return None


def _words(model: str) -> list[str]:
    text = model.lower()
    for spelling, ours in SPELLINGS:
        text = text.replace(spelling, ours)
    return [word for word in re.split(r"[\s_\-]+", text) if word]


def _joined(words: list[str]) -> str:
    return "".join(words)


def shape_of_row(row: PublishedRow) -> Shape:
    """The model that a row trains.

    A model cut to its first layers keeps its share of dense ones, at least one where it has any. `ffn` of a mixture is an expert's.

    Raises
    ------
    NotGiven
        Neither the row nor the catalogue says how large the model is, or the sequence is missing.
    """
    listed = catalogue_row(row.model)
    if listed is not None and row.hidden not in (None, listed.hidden):
        listed = None  # a namesake of another size
    layers, dense = _layers(row, listed)
    hidden, heads = row.hidden or _of(listed, "hidden"), row.heads or _of(listed, "heads")
    vocabulary, experts = row.vocab or _of(listed, "vocabulary"), row.experts or _of(listed, "experts") or 0
    for what, value in (("layers", layers), ("hidden", hidden), ("heads", heads), ("vocab", vocabulary), ("seq", row.seq)):
        if not value:
            raise NotGiven(f"{what} is not given, and {row.model or 'the model'!r} is not in the catalogue" if listed is None else f"{what} is not given")
    ffn = _of(listed, "ffn_hidden") or row.ffn if experts else row.ffn or _of(listed, "ffn_hidden")
    own_heads = row.heads is not None and row.heads != _of(listed, "heads")
    head_dim = 0 if own_heads else _of(listed, "head_dim") or 0
    if not head_dim and hidden % heads:
        raise NotGiven(f"heads = {heads} does not divide hidden = {hidden}, and the width of a head is not given")
    return Shape(
        layers, hidden, heads, ffn or 4 * hidden, vocabulary, row.seq,
        kv_heads=row.kv or (0 if own_heads else _of(listed, "kv_heads") or 0), head_dim=head_dim,
        gated=bool(_of(listed, "gated")), biased=_of(listed, "biased") is not False, tied=_of(listed, "tied_embeddings") is not False,
        experts=experts, top_k=(row.topk or _of(listed, "top_k") or 2) if experts else 0,
        expert_ffn=(row.ffn or _of(listed, "expert_ffn") or ffn or 4 * hidden) if experts else 0,
        shared_experts=_of(listed, "shared_experts") or 0, dense_layers=dense if experts else 0, latent=_of(listed, "latent") or NO_LATENT,
    )  # fmt: skip


def _of(listed: CatalogueModel | None, key: str):
    return getattr(listed, key, None)


def _layers(row: PublishedRow, listed: CatalogueModel | None) -> tuple[int | None, int]:
    """Layers in all and those with an MLP in place of experts."""
    whole, dense = row.layers or _of(listed, "layers"), _of(listed, "dense_layers") or 0
    cut = CUT.fullmatch(_words(row.model)[-1]) if row.layers is None and row.model else None
    if cut is None or not whole:
        return whole, dense
    return int(cut[1]), math.ceil(dense * int(cut[1]) / whole)
