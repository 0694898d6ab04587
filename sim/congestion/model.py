"""How a congestion control describes itself: parameters with units and sources, and state columns."""

from typing import NamedTuple


class Parameter(NamedTuple):
    """One constant of a controller: `value` is its default in `unit`, `source` where it comes from."""

    name: str
    value: float
    unit: str
    source: str
