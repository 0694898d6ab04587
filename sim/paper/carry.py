"""What a flow takes from one episode to the next: its rate, and what its congestion controller remembers beside it."""

import numpy as np

from sim.congestion.registry import COLUMNS, name_of
from sim.packet.layout import FLOW, NEVER
from sim.units import BITS_PER_BYTE, PS_PER_S
from sim.wormhole.columns import OF_CONTROLLER
from sim.wormhole.layout import NUMBER, NUMBER_OR_ZERO, QUIET_TIME, TIME, TIME_NOT_PAST

TIMES = (TIME, TIME_NOT_PAST, QUIET_TIME)
COUNTED = (NUMBER, NUMBER_OR_ZERO)  # packet numbers: they begin anew, as for a flow that enters
FAR = NEVER // 2


class Carry:
    """Rows of what is carried under one transport; `began` is 0 for a flow that has sent nothing yet."""

    def __init__(self, settings):
        prefix = name_of(settings.controller) + "_"
        own = [name for name, _ in COLUMNS if name.startswith(prefix) and OF_CONTROLLER.get(name) not in COUNTED]
        self.times = [name for name in own if OF_CONTROLLER.get(name) in TIMES]
        self.values = ["rate_bps", *(name for name in own if name not in self.times)]
        self.scaled = bool(settings.var_window)
        if "swift_window" in own:
            self.values.append("window_bytes")  # Swift sets it; all others only read it
        self.dtype = np.dtype([("began", "u1")] + [(name, FLOW.fields[name][0]) for name in self.values + self.times])

    def rows(self, count: int) -> np.ndarray:
        """Rows of flows that have sent nothing yet."""
        return np.zeros(count, self.dtype)

    def take(self, flow: np.ndarray, slots: np.ndarray, now_ps: int) -> np.ndarray:
        """What the records `slots` of the packet kernel carry away at `now_ps`; times relative to then."""
        rows = self.rows(len(slots))
        rows["began"] = 1
        for name in self.values:
            rows[name] = flow[name][slots]
        for name in self.times:
            at = flow[name][slots]
            rows[name] = np.where(np.abs(at) >= FAR, at, at - now_ps)
        return rows

    def give(self, flow: np.ndarray, slots: np.ndarray, rows: np.ndarray, now_ps: int) -> None:
        """Set the records `slots` of flows that have just entered to what was carried there."""
        mine, rows = slots[rows["began"] > 0], rows[rows["began"] > 0]
        for name in self.values:
            flow[name][mine] = rows[name]
        for name in self.times:
            flow[name][mine] = np.where(np.abs(rows[name]) >= FAR, rows[name], rows[name] + now_ps)
        flow["rate_bps"][mine] = np.minimum(rows["rate_bps"], flow["line_bps"][mine])

    def allowed_bps(self, flow: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """float64[n]: how fast the controller lets each of these flows send: its rate, or its window in each base RTT."""
        rate, window = flow["rate_bps"][slots].astype(float), flow["window_bytes"][slots]
        scale = rate / flow["line_bps"][slots] if self.scaled else 1.0
        by_window = window * scale * (BITS_PER_BYTE * PS_PER_S) / np.maximum(1, flow["base_rtt_ps"][slots])
        return np.where(window > 0, np.minimum(rate, by_window), rate)
