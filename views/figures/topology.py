"""The network drawn: switches by tier, GPUs below, links between, faults marked."""

import math
from string import ascii_letters

import numpy as np
import plotly.graph_objects as go

from views.figures import geometry, style
from views.parts import palette
from views.parts.words import plural, show_rate, show_time

LABELLED_SWITCHES, LABELLED_IN_ROW = 40, 16
NARROW_PX, LETTER_PX, GAP_PX = 340, 5.8, 3  # the drawing on a phone, a letter of a label, and what is left free between two labels
SYMBOLS = {-1: "diamond", 0: "circle", 1: "square", 2: "square", 3: "square"}
WORDS = {
    -1: ("NVSwitch", "NVSwitches"),
    0: ("GPU", "GPUs"),
    1: ("leaf switch", "leaf switches"),
    2: ("spine switch", "spine switches"),
    3: ("core switch", "core switches"),
}  # tier: one, many


def topology(network, faulty: dict[int, str] | None = None) -> go.Figure:
    """`faulty` maps a port id to what happens to its link; such links are drawn dashed and black."""
    figure = go.Figure()
    add_links(figure, network)
    for what in dict.fromkeys((faulty or {}).values()):
        _add_fault(figure, network, [port for port, its in faulty.items() if its == what], what)
    add_nodes(figure, network)
    return style.drawing(figure, drawing_height(network))


def drawing_height(network) -> int:
    rows = len(np.unique(np.round(geometry.positions(network)[:, 1], 3)))
    return min(max(110 + 90 * rows, 260), 520)


def add_links(figure: go.Figure, network) -> None:
    """One grey trace of fabric links and one of NVLinks, hover text at the middle of each."""
    forward = np.arange(0, len(network.port_src), 2)
    for kind, name, colour in ((1, "NVLink", palette.NVLINK), (0, "network link", palette.LINK)):
        ports = forward[network.port_kind[forward] == kind]
        if not len(ports):
            continue
        start, end = geometry.ends(network, ports)
        x, y = geometry.polyline(start, end)
        width = 1.4 if len(ports) < 400 else 0.6
        figure.add_trace(
            go.Scatter(x=x, y=y, mode="lines", name=name, hoverinfo="skip", line=dict(color=colour, width=width))
        )
        middle = geometry.along(start, end, 0.5)
        figure.add_trace(
            go.Scatter(
                x=middle[:, 0],
                y=middle[:, 1],
                mode="markers",
                showlegend=False,
                marker=dict(size=9, opacity=0),
                text=[link_text(network, port) for port in ports],
                hoverinfo="text",
            )
        )


def link_text(network, port: int) -> str:
    a, b = network.node_name[network.port_src[port]], network.node_name[network.port_dst[port]]
    return (
        f"{a} – {b}<br>{show_rate(int(network.port_rate_bps[port]))}, {show_time(network.port_delay_ps[port] / 1e12)}"
    )


def _add_fault(figure: go.Figure, network, ports: list[int], what: str) -> None:
    start, end = geometry.ends(network, np.array(ports))
    x, y = geometry.polyline(start, end)
    figure.add_trace(
        go.Scatter(
            x=x,
            y=y,
            mode="lines",
            showlegend=False,
            hoverinfo="skip",
            line=dict(color=palette.BROKEN, width=3, dash="dot"),
        )
    )
    middle = geometry.along(start, end, 0.5)
    figure.add_trace(
        go.Scatter(
            x=middle[:, 0],
            y=middle[:, 1],
            mode="markers",
            name=what,
            text=[f"{link_text(network, port)}<br>{what}" for port in ports],
            hoverinfo="text",
            marker=dict(symbol="x", size=12, color=palette.BROKEN, line=dict(color="white", width=1)),
        )
    )


def add_nodes(figure: go.Figure, network) -> None:
    """One trace per tier; switches are labelled while there is room."""
    xy = geometry.positions(network)
    tiers = np.asarray(network.node_tier)
    switches = int((tiers > 0).sum())
    for tier in sorted(set(tiers.tolist()), reverse=True):
        nodes = np.flatnonzero(tiers == tier)
        if tier > 0 and switches <= LABELLED_SWITCHES and len(nodes) <= LABELLED_IN_ROW:
            _label(figure, network, xy, nodes)
        figure.add_trace(
            go.Scatter(
                x=xy[nodes, 0],
                y=xy[nodes, 1],
                name=plural(len(nodes), *WORDS[tier]),
                mode="markers",
                text=[network.node_name[node] for node in nodes],
                hovertemplate="%{text}<extra></extra>",
                marker=dict(
                    symbol=SYMBOLS[tier],
                    size=_size(tier, len(nodes)),
                    color=palette.TIERS[tier],
                    line=dict(color="white", width=0.5),
                ),
            )
        )


def _label(figure: go.Figure, network, xy: np.ndarray, nodes: np.ndarray) -> None:
    """Names above switches, on a ground that keeps them readable over links."""
    row = nodes[np.argsort(xy[nodes, 0], kind="stable")]
    apart = np.diff(np.unique(xy[row, 0]))
    texts = labels([network.node_name[node] for node in row], NARROW_PX * apart.min() if len(apart) else NARROW_PX)
    for node, text in zip(row.tolist(), texts, strict=True):
        if not text:
            continue
        figure.add_annotation(
            x=xy[node, 0],
            y=xy[node, 1],
            text=text,
            showarrow=False,
            yshift=17,
            font=dict(size=10, color=palette.TEXT),
            bgcolor="rgba(255,255,255,0.82)",
            borderpad=0,
        )


def labels(names: list[str], room_px: float) -> list[str]:
    """What is written above each switch of a row, so that nothing overlaps: names, else like S12, else such for some and "" for the others."""
    short = [f"{name[0].upper()}{name.lstrip(ascii_letters)}" if name[0].isalpha() else name for name in names]
    for texts in [names] + [short] * (len(set(short)) == len(names)):
        widest_px = max(map(len, texts)) * LETTER_PX + GAP_PX
        if widest_px <= room_px:
            return list(texts)
    every = math.ceil(widest_px / room_px)
    return [text if index % every == 0 else "" for index, text in enumerate(texts)]


def _size(tier: int, count: int) -> float:
    """Marker size in px: smaller where many share a row."""
    largest = 15 if tier > 0 else 10
    return max(3.0, min(largest, 700 / max(count, 1)))
