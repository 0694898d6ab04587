"""Which keys of a scenario the form offers: those that mean something for what is chosen so far, and all that are given."""

from sim.catalogue.models import MODELS
from sim.scenario_cluster import SIZES_USED_BY
from sim.scenario_collective import ALGORITHMS, COLLECTIVES, WITH_CHANNELS
from sim.scenario_rules import KEYS_OF_PATTERN
from views.parts import draft


def shown(key: str, prefix: str = "") -> bool:
    """Whether a dotted key is offered; `prefix` leads to the job or row that it belongs to."""
    section, _, name = key.rpartition(".")
    if section == "cluster":
        return _of_cluster(name)
    if section == "traffic" and name in KEYS_OF_PATTERN:
        return draft.get("traffic.pattern") in KEYS_OF_PATTERN[name] and _of_collective(name)
    if section == "simulation" and name.startswith("paper_"):
        return draft.get("simulation.level") == "paper"
    rule = RULES.get(key)
    return rule is None or draft.get(prefix + key) is not None or rule(prefix)


def has_experts(prefix: str = "") -> bool:
    """Whether the model of a job has experts, as far as it is known yet."""
    given = draft.get(prefix + "model.experts")
    if given is None:
        given = getattr(MODELS.get(draft.get(prefix + "model.name")), "experts", None)
    return bool(given)


def _of_cluster(name: str) -> bool:
    """Sizes of other topologies are not offered; one that comes as a file has none."""
    if name in ("gpus", "node") and draft.get("cluster.topology") == "file":
        return False
    if name in SIZES_USED_BY and draft.get("cluster.topology") not in SIZES_USED_BY[name]:
        return False
    if name in ("pod_servers", "core_gbps", "core_delay_ns", "core_oversubscription") and draft.get("cluster.topology") == "rail-optimised":
        return draft.get("cluster.tiers") == 3
    return True


def _of_collective(name: str) -> bool:
    """A list of GPUs is no number to edit; only some algorithms have channels."""
    if name == "channels":
        known = ALGORITHMS.get(draft.get("traffic.collective") or COLLECTIVES[0], ("",))
        return draft.get("traffic.channels") is not None or (draft.get("traffic.algorithm") or known[0]) in WITH_CHANNELS
    return name != "ranks" or not isinstance(draft.get("traffic.ranks"), (list, tuple))


def _number(key: str, prefix: str) -> float:
    value = draft.get(prefix + key)
    return value if isinstance(value, (int, float)) else 1


def _is_piped(prefix: str) -> bool:
    return _number("parallelism.pp", prefix) > 1


def _is_incast(prefix: str) -> bool:
    return draft.get(prefix + "pattern") == "incast"


def _is_fixed(_: str) -> bool:
    return draft.get("transport.pfc") == "fixed"


def _is_hpcc(_: str) -> bool:
    return draft.get("transport.congestion_control") == "hpcc"


RULES = {
    "transport.pfc_xoff_kb": _is_fixed,
    "transport.pfc_xon_kb": _is_fixed,
    "transport.int_telemetry": _is_hpcc,
    "transport.hpcc_arithmetic": _is_hpcc,
    "parallelism.ep": has_experts,
    "parallelism.schedule": _is_piped,
    "parallelism.virtual_stages": _is_piped,
    "parallelism.uneven_stages": _is_piped,
    "parallelism.context_form": lambda prefix: _number("parallelism.cp", prefix) > 1,
    "model.top_k": has_experts,
    "model.expert_ffn": has_experts,
    "model.shared_experts": has_experts,
    "model.dense_layers": has_experts,
    "receiver": _is_incast,
}
