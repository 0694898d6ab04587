"""The network at one moment: every link coloured by how busy it is."""

import numpy as np
import plotly.graph_objects as go

from sim.topology.build import fault_ports
from views.figures import geometry, style
from views.figures.topology import add_nodes, drawing_height
from views.parts import palette
from views.parts.words import show_bytes, show_count, show_rate, show_share

CLASSES = 12  # colour steps of the lines; one trace each
DIRECTIONS_APART = 900  # up to this many ports the two directions of a link are drawn side by side
IMPAIRED = {("loss", "loses packets"): "5px,2px", ("degrade", "slowed down"): "2px,4px"}  # by a fault: kind and name, and how it is dashed
MARKED_PORTS = 2500  # up to this many ports every port has its own point to click


def heat(result, bin: int, selected: int | None = None) -> go.Figure:
    """Links coloured by utilisation during a bin; points near the sending end have the port id as customdata."""
    network, series = result.network, result.series
    share = series.utilisation(bin) if series.n_bins else np.zeros(len(network.port_src))
    figure = go.Figure()
    apart = len(share) <= DIRECTIONS_APART
    drawn = np.arange(len(share)) if apart else _busier_directions(share)
    if selected is not None:
        _add_selected(figure, network, selected, apart)
    _add_lines(figure, network, drawn, share, apart)
    marked = np.arange(len(share)) if len(share) <= MARKED_PORTS else drawn
    _add_broken(figure, result, bin)
    _add_impaired(figure, result, bin)
    _add_paused(figure, result, marked, bin, apart)
    _add_ports(figure, result, marked, share, bin, apart)
    add_nodes(figure, network)
    style.drawing(figure, drawing_height(network) + 40)
    figure.update_traces(unselected=dict(marker=dict(opacity=1)), selector=dict(mode="markers"))
    figure.update_layout(uirevision="network", clickmode="event+select")
    return figure


def _busier_directions(share: np.ndarray) -> np.ndarray:
    """Of each link (ports 2i and 2i+1) the port that is busier."""
    pairs = share.reshape(-1, 2)
    return 2 * np.arange(len(pairs)) + pairs.argmax(axis=1)


def _add_lines(figure: go.Figure, network, ports: np.ndarray, share: np.ndarray, apart: bool) -> None:
    steps = np.minimum((share[ports] * CLASSES).astype(int), CLASSES - 1)
    steps[share[ports] <= 0] = -1
    busy_width = 3.0 if len(ports) < 300 else 1.6
    for step in range(-1, CLASSES):
        members = ports[steps == step]
        if not len(members):
            continue
        x, y = geometry.polyline(*geometry.ends(network, members, apart))
        colour = palette.HEAT[0] if step < 0 else palette.heat((step + 0.5) / CLASSES)
        width = busy_width * (0.35 + 0.65 * (step + 1) / CLASSES)
        figure.add_trace(
            go.Scatter(x=x, y=y, mode="lines", showlegend=False, hoverinfo="skip", line=dict(color=colour, width=width))
        )


def _add_selected(figure: go.Figure, network, port: int, apart: bool) -> None:
    x, y = geometry.polyline(*geometry.ends(network, np.array([port]), apart))
    figure.add_trace(
        go.Scatter(
            x=x, y=y, mode="lines", name="selected port", hoverinfo="skip", line=dict(color=palette.SELECTED, width=9)
        )
    )


def _add_broken(figure: go.Figure, result, bin: int) -> None:
    """Links that are down at the end of the bin, black and dotted."""
    ports = down_links(result, result.series.edges_s[bin + 1]) if result.series.n_bins else np.empty(0, np.int64)
    if len(ports):
        x, y = geometry.polyline(*geometry.ends(result.network, ports))
        line = dict(color=palette.BROKEN, width=3, dash="dot")
        figure.add_trace(go.Scatter(x=x, y=y, mode="lines", name="link down", hoverinfo="skip", line=line))


def _add_impaired(figure: go.Figure, result, bin: int) -> None:
    """Links that lose packets or are slowed down at the end of the bin, a dashed line between their two sides."""
    if not result.series.n_bins:
        return
    for (kind, name), dash in IMPAIRED.items():
        ports = np.flatnonzero(impaired(result, result.series.edges_s[bin + 1], kind)[::2]) * 2
        if len(ports):
            x, y = geometry.polyline(*geometry.ends(result.network, ports))
            figure.add_trace(go.Scatter(x=x, y=y, mode="lines", name=name, hoverinfo="skip", line=dict(color=palette.BROKEN, width=2, dash=dash)))


def impaired(result, time_s: float, kind: str) -> np.ndarray:
    """bool[ports]: what a fault of a kind, `loss` or `degrade`, has changed by a time and none has set right."""
    found, value, right = np.zeros(result.network.n_ports, bool), *{"loss": ("probability", 0), "degrade": ("rate_factor", 1)}[kind]
    for fault in sorted(result.scenario.faults, key=lambda fault: fault.at_us):
        if fault.at_us * 1e-6 < time_s and fault.kind == kind:
            found[fault_ports(result.network, fault)] = getattr(fault, value) != right
    return found


def _add_paused(figure: go.Figure, result, ports: np.ndarray, bin: int, apart: bool) -> None:
    """A square around every port that PFC stopped during some of the bin: it looks idle, and is not."""
    if not result.series.n_bins:
        return
    paused = ports[result.series.paused_s[ports, bin] > 0]
    if len(paused):
        points = geometry.along(*geometry.ends(result.network, paused, apart), 0.22)
        marker = dict(symbol="square-open", size=13 if len(ports) < 400 else 8, color=palette.PAUSED, line_width=2)
        figure.add_trace(go.Scatter(x=points[:, 0], y=points[:, 1], mode="markers", name="paused by PFC", hoverinfo="skip", marker=marker))


def down_links(result, time_s: float) -> np.ndarray:
    """One port of every link that a fault of it or of its switch has taken down, and none brought back, by a time."""
    down = np.zeros(result.network.n_ports, dtype=bool)
    for fault in sorted(result.scenario.faults, key=lambda fault: fault.at_us):
        if fault.at_us * 1e-6 < time_s and fault.kind.endswith(("-down", "-up")):
            down[fault_ports(result.network, fault)] = fault.kind.endswith("-down")
    return np.flatnonzero(down[::2]) * 2


def _add_ports(figure: go.Figure, result, ports: np.ndarray, share: np.ndarray, bin: int, apart: bool) -> None:
    network = result.network
    start, end = geometry.ends(network, ports, apart)
    points = geometry.along(start, end, 0.22)
    figure.add_trace(
        go.Scatter(
            x=points[:, 0],
            y=points[:, 1],
            mode="markers",
            showlegend=False,
            customdata=ports.tolist(),
            text=_port_texts(result, ports, share, bin),
            hoverinfo="text",
            marker=dict(
                size=7 if len(ports) < 400 else 4,
                color=100 * share[ports],
                cmin=0,
                cmax=100,
                colorscale=palette.heat_scale(),
                line=dict(color="white", width=0.4),
                colorbar=dict(
                    title=dict(text="link utilisation (%)", side="top"),
                    orientation="h",
                    thickness=10,
                    len=0.5,
                    x=0.5,
                    y=-0.02,
                    yanchor="top",
                ),
            ),
        )
    )


def _port_texts(result, ports: np.ndarray, share: np.ndarray, bin: int) -> list[str]:
    """What a port did in the bin, a few lines each."""
    series, network = result.series, result.network
    texts = [
        f"<b>{network.port_name(port)}</b> ({show_rate(rate)})<br>utilisation {show_share(used)}"
        for port, rate, used in zip(
            ports.tolist(), network.port_rate_bps[ports].tolist(), share[ports].tolist(), strict=True
        )
    ]
    if not series.n_bins:
        return texts
    queue, marks = series.max_queue_bytes[ports, bin], series.ecn_marks[ports, bin]
    paused = series.paused_s[ports, bin] / max(series.widths_s[bin], 1e-15)
    for index in np.flatnonzero(queue).tolist():
        texts[index] += f"<br>deepest queue {show_bytes(int(queue[index]))}"
    for index in np.flatnonzero(marks).tolist():
        texts[index] += f"<br>{show_count(int(marks[index]))} ECN marks"
    for index in np.flatnonzero(paused).tolist():
        texts[index] += f"<br>paused {show_share(paused[index])} of the time"
    return texts
