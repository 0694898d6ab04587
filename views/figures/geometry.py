"""Where nodes and links lie in the drawing of a network, scaled to a unit square."""

import numpy as np

ASPECT = 2.4  # width over height of the drawing on a wide screen, for offsets that look perpendicular
LANE_OFFSET = 0.0035  # distance of a direction from the middle of its link, in heights of the drawing


def positions(network) -> np.ndarray:
    """float64[n_nodes, 2]: node_xy scaled into 0..1 on both axes; a single row or column is centred."""
    xy = np.asarray(network.node_xy, dtype=float)
    low, span = xy.min(axis=0), np.ptp(xy, axis=0)
    return np.where(span > 0, (xy - low) / np.where(span > 0, span, 1.0), 0.5)


def ends(network, ports: np.ndarray, apart: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Start and end point of each port's link, float64[n, 2]; `apart` moves the two directions to their right."""
    xy = positions(network)
    start, end = xy[network.port_src[ports]], xy[network.port_dst[ports]]
    if not apart:
        return start, end
    along = (end - start) * [ASPECT, 1.0]
    length = np.maximum(np.hypot(*along.T), 1e-9)[:, None]
    right = np.stack([along[:, 1], -along[:, 0]], axis=1) / length * LANE_OFFSET / [ASPECT, 1.0]
    return start + right, end + right


def polyline(start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x and y of many separate segments as one line, NaN between them."""
    gap = np.full(len(start), np.nan)
    x = np.stack([start[:, 0], end[:, 0], gap], axis=1).ravel()
    y = np.stack([start[:, 1], end[:, 1], gap], axis=1).ravel()
    return x, y


def along(start: np.ndarray, end: np.ndarray, share: float) -> np.ndarray:
    """The point a share of the way from start to end."""
    return start + (end - start) * share
