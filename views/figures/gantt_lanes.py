"""Where in the row of a rank each kind of work is drawn: computing above, below it a lane for each sort of message."""

import numpy as np

from sim.result_lanes import COMPUTE
from sim.result_tables import kind_name
from sim.workload.blocks import FlowKind

# Messages that the next layer waits for, then the next stage, then the next iteration, then nobody here.
SORTS = (("TP", "CP", "EP"), ("PP",), ("DP", "embedding"), ("program", "collective", "traffic"), ("background",))
COMPUTE_LANE = (-0.36, 0.0)
BELOW = (0.02, 0.36)  # of computing
WHOLE = (-0.28, 0.28)  # where nobody computes
GAP = 0.02
ROW_PX, PX_PER_SORT = 34, 8  # a row with up to two sorts, and for each one more
SPLIT = 2


class Lanes:
    """The lanes of a run: the same in all its rows, however far one zooms in."""

    def __init__(self, dag):
        kinds = {kind_name(FlowKind(kind)) for kind in np.unique(dag.flow_kind).tolist()}
        sorts = [sort for sort in SORTS if kinds & set(sort)]
        top, bottom = BELOW if dag.n_tasks else WHOLE
        height = (bottom - top - GAP * (len(sorts) - 1)) / max(1, len(sorts))
        if dag.n_tasks and len(sorts) < SPLIT:
            height = (bottom - top - GAP) / SPLIT
        self._of = {kind: (top + at * (height + GAP), top + at * (height + GAP) + height) for at, sort in enumerate(sorts) for kind in sort}
        self.row_px = ROW_PX + PX_PER_SORT * max(0, len(sorts) - SPLIT)

    def of(self, lane: str, kind: str) -> tuple[float, float]:
        """Top and bottom within a row."""
        return COMPUTE_LANE if lane == COMPUTE else self._of.get(kind, WHOLE)
