"""What else changes in a draft when one key does: choices that belonged to the old value would only confuse."""

from sim.catalogue.models import MODELS
from sim.scenario_cluster import FROM_NODE, SIZES_USED_BY
from sim.scenario_collective import ALGORITHMS, COLLECTIVES, WITH_CHANNELS
from sim.scenario_rules import KEYS_OF_PATTERN
from sim.scenario_training import Model

OF_SHAPE = tuple(key for key in Model.model_fields if key not in ("name", "sequence"))


def follow(key: str, part: dict, value, was) -> None:
    """Change the rest of a section after its `key` (as "cluster.topology") has become `value`."""
    if key == "cluster.topology":
        _drop_foreign_sizes(part)
    elif key == "cluster.node":
        _leave_to_the_server(part)
    elif key == "model.name":
        _whole_shape(part, value, was)
    elif key.startswith("traffic."):
        _drop_foreign_choices(part)


def _drop_foreign_sizes(cluster: dict) -> None:
    for name, families in SIZES_USED_BY.items():
        if cluster["topology"] not in families:
            cluster.pop(name, None)
    for name in ("leaves", "spines", "hosts_per_leaf", "pod_servers", "oversubscription"):
        cluster.pop(name, None)


def _leave_to_the_server(cluster: dict) -> None:
    """A server of the catalogue brings its own GPU, NICs and NVLink."""
    for name in (*FROM_NODE, "nvlink_gbps"):
        cluster.pop(name, None)


def _whole_shape(model: dict, name: str | None, was: str | None) -> None:
    """A model of the catalogue comes as it is; an own shape begins with that of the model before."""
    for key in OF_SHAPE:
        model.pop(key, None)
    if name is None:
        row = MODELS.get(was) or MODELS["gpt-7b"]
        model.update({key: value for key in OF_SHAPE if (value := getattr(row, key)) is not None})


def _drop_foreign_choices(traffic: dict) -> None:
    for name, patterns in KEYS_OF_PATTERN.items():
        if traffic.get("pattern") not in patterns:
            traffic.pop(name, None)
    known = ALGORITHMS.get(traffic.get("collective") or COLLECTIVES[0], ())
    if traffic.get("algorithm") not in (None, *known):
        del traffic["algorithm"]
    if (traffic.get("algorithm") or known[0]) not in WITH_CHANNELS:
        traffic.pop("channels", None)
