"""How long a collective takes without contention: latency terms, and bytes over the line that is its bottleneck.

T = latency + sum_s t_s / C + (1 - 1/C) t_line, where t_s is how long the busiest line of stage s needs, t_line how long the
busiest line of all needs over all stages, and C the number of chunks: unchunked stages follow each other, many chunks fill all
lines at once.
"""

from dataclasses import dataclass

from sim.units import PS_PER_S
from sim.workload.collective import nvls
from sim.workload.collective.latency import latency_ps
from sim.workload.collective.load import Lines, line_seconds, load

SENDERS_MAX = 64  # of collectives whose members are all alike


@dataclass(frozen=True)
class Prediction:
    """Seconds of a collective, latency and transfer apart."""

    latency_s: float
    transfer_s: float

    @property
    def time_s(self) -> float:
        return self.latency_s + self.transfer_s


def predict(
    collective: str, algorithm: str, n: int, size_bytes: int, lines: Lines, *, local: int = 1, chunks: int = 1, channels: int = 1,
    nvlink_bps: int = 0,
) -> Prediction:  # fmt: skip
    """NCCL's latency model and the bytes of the algorithm; `nvlink_bps` is the line rate of NVLink, for `nvls`."""
    told = load(collective, algorithm, n, local, chunks, channels, senders=SENDERS_MAX)
    stages = list(line_seconds(told, size_bytes, lines).values())
    passes = [float(seconds.max()) for seconds in stages]
    busiest = float(sum(stages).max()) if stages else 0.0
    if algorithm == "nvls":
        one_way_s = float(nvls.one_way_ps(size_bytes, nvlink_bps)) / PS_PER_S
        in_switch = [one_way_s, one_way_s] if n > local else [one_way_s * (local + 1) / local]
        passes += in_switch
        busiest = max(busiest, *in_switch)
    latency = latency_ps(collective, algorithm, n, local, joined=lines.near_bps > 0)
    return Prediction(latency / PS_PER_S, sum(passes) / chunks + (1 - 1 / chunks) * busiest)
