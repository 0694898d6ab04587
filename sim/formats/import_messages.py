"""Messages without dependencies as a section of a scenario: listed one by one, or packed where they are many."""

import numpy as np

from sim.units import PS_PER_US
from sim.workload.program_htsim_work import HtsimWork, to_text

LISTED = 5_000  # messages that a scenario lists one by one


def messages(nodes: int, src, dst, n_bytes, start_ps, source: str, paths: list[dict] | None = None) -> dict:
    """{"traffic": ...} of messages between hosts 0..nodes-1, or {"program": ...} for very many.

    Parameters
    ----------
    paths : for each message its keys `path` and `ack_path`, as node names
    """
    columns = [np.asarray(column, np.int64) for column in (src, dst, n_bytes, start_ps)]
    if len(columns[0]) <= LISTED or paths:
        rows = zip(*(column.tolist() for column in columns), strict=True)
        flows = [{"src": a, "dst": b, "bytes": size, **({"start_us": start / PS_PER_US} if start else {})} for a, b, size, start in rows]
        for flow, own in zip(flows, paths or (), strict=False):
            flow |= own
        return {"traffic": {"pattern": "flows", "flows": flows}}
    return {"program": {"kind": "htsim", "source": source, "ranks": nodes, "work": to_text(HtsimWork.of_messages(nodes, *columns))}}
