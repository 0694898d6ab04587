"""The list of faults as rows of widgets: what happens to which link, and when."""

import streamlit as st

from views.parts import draft

KINDS = ("link-down", "link-up", "degrade", "loss")
EXTRA = {"degrade": ("rate_factor", "New rate / old", 0.5), "loss": ("probability", "Loss (0–1)", 0.001)}
LABELS = {"kind": "What happens", "a": "Link", "b": "Link", "at_us": "At (µs)"} | {
    name: label for name, label, _ in EXTRA.values()
}  # of the keys of a fault
PREFIX = draft.WIDGET + "faults."


def show(network) -> None:
    """Rows of the faults in the draft, each with a button to remove it, and one to add another."""
    faults = draft.data().setdefault("faults", [])
    links = link_names(network) if network is not None else []
    for index, fault in enumerate(faults):
        _row(index, fault, links)
    if not faults:
        st.caption("No faults: every link works at its built speed for the whole run.")
        draft.data().pop("faults")
    if st.button(
        "Add a fault",
        icon=":material/add:",
        disabled=not links,
        help="Fail, slow down or make lossy one link at a chosen time",
    ):
        a, b = links[-1]
        draft.data().setdefault("faults", []).append({"kind": "link-down", "a": a, "b": b, "at_us": 0.0})
        _forget()
        st.rerun()


def link_names(network) -> list[tuple[str, str]]:
    """Both ends of every link by name, fabric links after NVLinks."""
    forward = sorted(range(0, network.n_ports, 2), key=lambda port: -int(network.port_kind[port]))
    return [(network.node_name[network.port_src[port]], network.node_name[network.port_dst[port]]) for port in forward]


def _row(index: int, fault: dict, links: list[tuple[str, str]]) -> None:
    with st.container(border=True):
        left, right = st.columns(2)
        own = (str(fault["a"]), str(fault["b"]))
        left.selectbox(LABELS["kind"], KINDS, **_bound(index, "kind", fault["kind"]))
        options = links if own in links else [own, *links]
        right.selectbox(
            LABELS["a"], options, format_func=lambda ends: f"{ends[0]} – {ends[1]}", **_bound(index, "link", own)
        )
        left.number_input(
            LABELS["at_us"], value=None, format="%g", **_bound(index, "at_us", float(fault.get("at_us", 0.0)))
        )
        if fault["kind"] in EXTRA:
            name, label, default = EXTRA[fault["kind"]]
            right.number_input(label, value=None, format="%g", **_bound(index, name, float(fault.get(name, default))))
        if st.button("Remove", key=f"remove fault {index}", type="tertiary", icon=":material/delete:"):
            draft.data()["faults"].pop(index)
            _forget()
            st.rerun()


def _bound(index: int, name: str, value) -> dict:
    """Key, first value and callback of one widget of a row."""
    key = f"{PREFIX}{index}.{name}"
    st.session_state.setdefault(key, value)
    return dict(key=key, on_change=_store, args=(index, name, key))


def _store(index: int, name: str, key: str) -> None:
    fault, value = draft.data()["faults"][index], st.session_state[key]
    if name == "link":
        fault["a"], fault["b"] = value
    elif value is None:
        fault.pop(name, None)
    else:
        fault[name] = value
    if name == "kind":
        for kind, (extra, _, default) in EXTRA.items():
            fault.pop(extra, None)
            if kind == value:
                fault[extra] = default


def _forget() -> None:
    """Rows have moved: let every widget take its value from the draft again."""
    for key in [key for key in st.session_state if str(key).startswith(PREFIX)]:
        del st.session_state[key]
