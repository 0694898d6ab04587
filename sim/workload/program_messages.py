"""Single messages of imported work, added to a graph or only counted."""

import numpy as np

from sim.workload.blocks import FlowKind, Flows
from sim.workload.collect import Tally, Work


def add_messages(work: Work, kind: FlowKind, flows: Flows) -> np.ndarray:
    """int64[len(flows)]: their node ids; zeros where they are only counted."""
    if isinstance(work, Tally):
        work.count(kind, flows)
        return np.zeros(len(flows), np.int64)
    return work.add_flows(flows)
