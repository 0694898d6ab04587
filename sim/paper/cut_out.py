"""A few flows simulated packet by packet in an otherwise empty network, all from time 0 on."""

import numpy as np

from sim.paper.fabric import Fabric
from sim.simulation import Simulation

UNLIMITED = np.int64(2**62)  # packet-hops


class CutOut(Simulation):
    """The packet simulation of flows of a network alone, on the links that they use; `ports` are its ports there."""

    def __init__(self, fabric: Fabric, flows: list[int], size_bytes: np.ndarray):
        self._fabric = fabric
        case, self.ports = fabric.cut_out(flows, size_bytes)
        super().__init__(case)
        self.flows = flows

    def _lay_out_series(self) -> None:
        """No time series: two bins that last for ever."""
        table = self.table
        self.used_ports = np.arange(self.case.network.n_ports)
        self.longest_path = int(max(np.diff(table.data_ptr).max(), np.diff(table.ack_ptr).max()))
        self.bins, self.bin_shift = self.case.settings.bins, self.case.settings.bin_shift

    def _make_state(self, **series):
        state = super()._make_state(**series)
        self._fabric.fit(state, self.ports)
        return state

    def enter(self) -> None:
        """Let the flows enter; `slots` are their places in the simulation."""
        self._open()
        self.run_to(1)
        slot_of = {int(f): slot for slot, f in enumerate(self.state.flow["flow_id"].tolist()) if f >= 0}
        self.slots = np.array([slot_of[f] for f in range(len(self.flows))])

    def run_to(self, at_ps: int) -> None:
        """Run on to `at_ps`, excluded."""
        self.limit_ps = np.int64(at_ps)
        self.status = "running"
        while self.status == "running":
            self._step(UNLIMITED)
