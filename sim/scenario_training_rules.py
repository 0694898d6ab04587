"""Rules of a model: its numbers among themselves, and what the catalogue fills in."""

import math

from sim.catalogue.models import MODELS
from sim.errors import ScenarioError, did_you_mean
from sim.scenario_training import Model

NEEDED = ("layers", "hidden", "heads", "vocabulary")
DEFAULTS = {"gated": False, "biased": True, "tied_embeddings": True, "experts": 0, "shared_experts": 0, "dense_layers": 0, "latent": (0,) * 5}


def divisors(number: int) -> list[int]:
    """Of a whole number, in rising order."""
    low = [n for n in range(1, math.isqrt(number) + 1) if number % n == 0]
    return low + [number // n for n in reversed(low) if n * n != number]


def nearest(numbers: list[int], wanted: int) -> str:
    """Of numbers in rising order the one nearest to a wanted one, or both that are equally near: "the nearest are 2 and 4"."""
    off = min(abs(n - wanted) for n in numbers)
    found = [str(n) for n in numbers if abs(n - wanted) == off]
    return f"the nearest {'are' if len(found) > 1 else 'is'} {' and '.join(found)}"


def filled_model(model: Model) -> dict:
    """The numbers of `model`, those it leaves out taken from the catalogue, else from the others.

    Raises
    ------
    ScenarioError
        The name is not in the catalogue, a number is given by neither, or two disagree.
    """
    row = None
    if model.name is not None:
        if model.name not in MODELS:
            raise ScenarioError(f"model.name = {model.name!r} is not in the catalogue: {did_you_mean(model.name, MODELS)}")
        row = MODELS[model.name]
    shape = {key: getattr(model, key) for key in Model.model_fields if key not in ("name", "sequence")}
    for key, given in shape.items():
        if given is None:
            listed = getattr(row, key, None)
            shape[key] = DEFAULTS.get(key) if listed is None else listed
    missing = [key for key in NEEDED if shape[key] is None]
    if missing:
        raise ScenarioError(f"model.{missing[0]} is missing: give model.name, or all of layers, hidden, heads, vocabulary")
    hidden, heads = shape["hidden"], shape["heads"]
    if shape["ffn_hidden"] is None or (model.ffn_hidden is None and model.hidden is not None):
        shape["ffn_hidden"] = 4 * hidden
    if shape["kv_heads"] is None or (model.kv_heads is None and model.heads is not None):
        shape["kv_heads"] = heads
    if model.head_dim is None and (shape["head_dim"] is None or model.heads is not None or model.hidden is not None):
        if hidden % heads:
            raise ScenarioError(f"model.heads = {heads}: must divide model.hidden = {hidden}; {nearest(divisors(hidden), heads)}")
        shape["head_dim"] = hidden // heads
    if heads % shape["kv_heads"]:
        near = nearest(divisors(heads), shape["kv_heads"])
        raise ScenarioError(f"model.kv_heads = {shape['kv_heads']}: must divide model.heads = {heads}; {near}")
    shape.update(_experts(model, shape))
    return shape


OF_EXPERTS = ("top_k", "expert_ffn", "shared_experts", "dense_layers")


def _experts(model: Model, shape: dict) -> dict:
    if not shape["experts"]:
        given = next((key for key in OF_EXPERTS if getattr(model, key)), None)
        if given:
            raise ScenarioError(f"model.{given} = {shape[given]}: needs model.experts, the number of routed experts in a layer, like experts = 8")
        return dict.fromkeys(OF_EXPERTS, 0)
    top_k = shape["top_k"] or min(2, shape["experts"])
    if top_k > shape["experts"]:
        raise ScenarioError(f"model.top_k = {top_k}: must be at most model.experts = {shape['experts']}; the nearest is {shape['experts']}")
    if shape["dense_layers"] >= shape["layers"]:
        raise ScenarioError(
            f"model.dense_layers = {shape['dense_layers']}: must be less than model.layers = {shape['layers']}; or leave out model.experts"
        )
    return {"top_k": top_k, "expert_ffn": shape["expert_ffn"] or shape["ffn_hidden"]}
