"""The network with the ports of partitions on it: the chosen one's in a halo, those of all others under way as thin lines."""

import numpy as np
import plotly.graph_objects as go

from views.figures import geometry, style
from views.figures.topology import add_links, add_nodes, drawing_height
from views.parts import palette
from views.parts.words import plural


def partition_map(network, chosen_ports: np.ndarray, other_ports: np.ndarray, of: str = "the chosen partition") -> go.Figure:
    """`chosen_ports`, `other_ports`: port ids, each a direction of a link; `of`: whose the chosen ones are."""
    figure = go.Figure()
    add_links(figure, network)
    if len(other_ports):
        _add_ports(figure, network, other_ports, "other partitions' ports", palette.ACTIVE_FLOWS, 1.2)
    if len(chosen_ports):
        name = f"{plural(len(chosen_ports), 'port')} of {of}"
        _add_ports(figure, network, chosen_ports, name, palette.SELECTED, 6.0)
        _add_ports(figure, network, chosen_ports, None, palette.CRITICAL, 1.4)
        _add_names(figure, network, chosen_ports)
    add_nodes(figure, network)
    return style.drawing(figure, drawing_height(network))


def _add_ports(figure: go.Figure, network, ports: np.ndarray, name: str | None, colour: str, width: float) -> None:
    x, y = geometry.polyline(*geometry.ends(network, ports, apart=True))
    figure.add_trace(
        go.Scatter(
            x=x, y=y, mode="lines", name=name, showlegend=name is not None, hoverinfo="skip", line=dict(color=colour, width=width)
        )
    )  # fmt: skip


def _add_names(figure: go.Figure, network, ports: np.ndarray) -> None:
    """The name of a port at a fifth of its way, for the mouse."""
    spots = geometry.along(*geometry.ends(network, ports, apart=True), 0.2)
    figure.add_trace(
        go.Scatter(
            x=spots[:, 0], y=spots[:, 1], mode="markers", showlegend=False, marker=dict(size=9, opacity=0),
            hoverinfo="text", hovertext=[network.port_name(port) for port in ports.tolist()],
        )
    )  # fmt: skip
