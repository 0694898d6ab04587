"""Published activation memory of a pipeline's first stage, from the formulas of `sim.workload.activations`."""

from sim.published_jobs import RECOMPUTATIONS
from sim.published_models import NotGiven, shape_of_row
from sim.published_rows import PublishedRow
from sim.workload.activations import layer_bytes, passes_in_flight

# Runs of arXiv 2205.05198 table 3, which its memory figures leave out: (layers, hidden): micro-batch, stages, virtual stages
RUNS = {(48, 6144): (4, 1, 1), (96, 12_288): (1, 8, 3), (105, 20_480): (1, 35, 3), (128, 25_600): (1, 64, 1)}
UNITS = {"GiB": 2**30, "GB": 10**9, "MiB": 2**20, "MB": 10**6}


def activation_bytes(row: PublishedRow) -> float:
    """Bytes on a GPU of the first stage of a pipeline that is kept full.

    Raises
    ------
    NotGiven
        The row is of another kind of memory, or leaves out what it needs.
    """
    if not row.metric.lower().startswith("activation memory"):
        raise NotGiven(f"metric {row.metric!r} is not activation memory of the first stage")
    if row.tp is None:
        raise NotGiven("tp is not given")
    recompute = RECOMPUTATIONS.get(row.recompute.lower())
    if recompute is None:
        raise NotGiven(f"recompute {row.recompute!r} is not none, selective, selective+SP or full")
    shape = shape_of_row(row)
    listed = RUNS.get((shape.layers, shape.hidden), (None, None, None)) if "2205.05198" in row.source else (None, None, None)
    micro_batch, stages, chunks = row.micro_batch or listed[0], row.pp or listed[1], row.vp or listed[2] or 1
    if micro_batch is None or stages is None:
        raise NotGiven(f"{'micro_batch' if micro_batch is None else 'pp'} is not given")
    if shape.layers % (stages * chunks):
        raise NotGiven(f"pp {stages} x vp {chunks} does not divide {shape.layers} layers")
    each = layer_bytes(shape, micro_batch, row.tp, row.cp or 1, recompute, "SP" in row.recompute)
    schedule = "interleaved" if chunks > 1 else "1f1b"
    passes = passes_in_flight(schedule, 0, stages, 2 * stages, chunks)  # twice the stages: full, and no schedule holds more
    return each * passes * shape.layers / (stages * chunks)


def unit_bytes(row: PublishedRow) -> int:
    """Bytes of a row's unit."""
    if row.unit not in UNITS:
        raise NotGiven(f"unit {row.unit!r} is not one of {', '.join(UNITS)}")
    return UNITS[row.unit]
