"""The list of faults as rows of widgets: what happens to which link or switch, and when."""

import streamlit as st

from sim import fault_default
from sim.scenario_parts import FAULTS, OF_SWITCHES
from views.parts import draft, rows, session

EXTRA = {"degrade": ("rate_factor", "New rate / old", 0.5), "loss": ("probability", "Loss (0–1)", 0.001)}
WORDS = {"link-down": "link fails", "link-up": "link works again", "switch-down": "switch fails", "switch-up": "switch works again",
         "degrade": "link slows down", "loss": "link loses packets"}  # fmt: skip
LABELS = {"kind": "What happens", "a": "Link", "b": "Link", "at_us": "At (µs)"} | {
    name: label for name, label, _ in EXTRA.values()
}  # of the keys of a fault
NVSWITCH = -1  # tier in Network.node_tier
PREFIX = draft.WIDGET + "faults."


def show(scenario, network) -> None:
    """Rows of the faults in the draft, each with a button to remove it, and one to add another, on a link that traffic of `scenario` crosses."""
    faults = draft.data().get("faults") or []
    links = link_names(network) if network is not None else []
    switches = switch_names(network) if network is not None else []
    for index, fault in enumerate(faults):
        _row(index, fault, links, switches)
    if not faults:
        st.caption("No faults: every link works at its built speed for the whole run.")
    help = "Fail, slow down or make lossy a link, or fail a whole switch, at a chosen time"
    rows.add("faults", "Add a fault", lambda: _new(scenario, network, links), help, not links)


def _new(scenario, network, links: list[tuple[str, str]]) -> dict:
    if scenario is not None:
        ran = session.result_for(scenario)
        same = ran is not None and ran.finished and ran.scenario.digest() == scenario.digest()
        if found := fault_default.new(scenario, network, ran.end_s if same else None):
            return found
    a, b = links[-1]
    return {"kind": "link-down", "a": a, "b": b, "at_us": fault_default.SOMEWHEN_US}


def link_names(network) -> list[tuple[str, str]]:
    """Both ends of every link by name, fabric links after NVLinks."""
    forward = sorted(range(0, network.n_ports, 2), key=lambda port: -int(network.port_kind[port]))
    return [(network.node_name[network.port_src[port]], network.node_name[network.port_dst[port]]) for port in forward]


def switch_names(network) -> list[str]:
    """Every switch by name, NVSwitches last."""
    nodes = [node for node in range(network.n_nodes) if not network.node_is_host[node]]
    return [network.node_name[node] for node in sorted(nodes, key=lambda node: network.node_tier[node] == NVSWITCH)]


def _row(index: int, fault: dict, links: list[tuple[str, str]], switches: list[str]) -> None:
    with st.container(border=True):
        left, right = st.columns(2)
        left.selectbox(LABELS["kind"], FAULTS, format_func=WORDS.get, **_bound(index, "kind", fault["kind"], links, switches))
        if fault["kind"] in OF_SWITCHES:
            own = str(fault["a"])
            right.selectbox("Switch", switches if own in switches else [own, *switches], **_bound(index, "switch", own))
        else:
            own = (str(fault["a"]), str(fault.get("b")))
            options = links if own in links else [own, *links]
            right.selectbox(LABELS["a"], options, format_func=" – ".join, **_bound(index, "link", own))
        left.number_input(
            LABELS["at_us"], value=None, format="%g", **_bound(index, "at_us", float(fault.get("at_us", 0.0)))
        )
        if fault["kind"] in EXTRA:
            name, label, default = EXTRA[fault["kind"]]
            right.number_input(label, value=None, format="%g", **_bound(index, name, float(fault.get(name, default))))
        rows.remove("faults", index, "Remove")


def _bound(index: int, name: str, value, *choices) -> dict:
    """Key, first value and callback of one widget of a row."""
    key = f"{PREFIX}{index}.{name}"
    st.session_state[key] = value
    return dict(key=key, on_change=_store, args=(index, name, key, *choices))


def _store(index: int, name: str, key: str, *choices) -> None:
    fault, value = draft.data()["faults"][index], st.session_state[key]
    if name == "link":
        fault["a"], fault["b"] = value
    elif name == "switch":
        fault["a"] = value
    elif value is None:
        fault.pop(name, None)
    else:
        fault[name] = value
    if name == "kind":
        _fit(fault, value, *choices)


def _fit(fault: dict, kind: str, links: list[tuple[str, str]], switches: list[str]) -> None:
    """Give a fault what its new kind needs, and nothing else."""
    for of, (extra, _, default) in EXTRA.items():
        fault.pop(extra, None)
        if of == kind:
            fault[extra] = default
    if kind in OF_SWITCHES and fault.pop("b", None) is not None:
        fault["a"] = next((name for name in switches if name == fault["a"]), switches[0] if switches else fault["a"])
    elif kind not in OF_SWITCHES and "b" not in fault and links:
        fault["a"], fault["b"] = next((link for link in links if fault["a"] in link), links[-1])
