"""Traffic of others over the same network: patterns again and again, or flows at random times between random GPUs."""

import numpy as np

from sim.scenario import Background, Scenario
from sim.scenario_parts import MAX_START_US
from sim.units import ps_from_us
from sim.workload import patterns
from sim.workload.blocks import FlowKind, Flows
from sim.workload.collect import Tally, Work


def add_background(work: Work, scenario: Scenario) -> None:
    """What a scenario's [[background]] sections send; their flows have jobs -1, -2, ..."""
    for number, background in enumerate(scenario.background):
        _add(work, background, scenario.cluster.gpus, [scenario.simulation.seed, number], number)


def _add(work: Work, background: Background, gpus: int, seed: list[int], number: int) -> None:
    count = background.gpus or gpus - background.first_gpu
    start_ps, period_ps = ps_from_us(background.start_us), ps_from_us(background.period_us)
    rng, size, times = np.random.default_rng(seed), background.flow_bytes, background.times
    begin = start_ps + period_ps * np.arange(times)
    if background.pattern == "random":
        src = rng.integers(0, count, times)
        dst = (src + rng.integers(1, count, times)) % count
        gaps = np.minimum(np.cumsum(rng.exponential(period_ps, times - 1)), ps_from_us(MAX_START_US))
        begin = start_ps + np.concatenate([[0], np.rint(gaps)]).astype(np.int64)
        flows = Flows.of(src, dst, size, FlowKind.BACKGROUND, draw_key=0, start_ps=begin)
    else:
        receiver = (background.first_gpu if background.receiver is None else background.receiver) - background.first_gpu
        one = {
            "incast": lambda: patterns.incast(count - 1, receiver, size),
            "ring": lambda: patterns.ring(count, size),
            "permutation": lambda: patterns.permutation(count, size, int(rng.integers(2**31))),
            "all-to-all": lambda: patterns.all_to_all(count, size),
        }[background.pattern]()
        flows = Flows.of(one.src, one.dst, one.n_bytes, FlowKind.BACKGROUND, draw_key=one.draw_key, start_ps=begin[:, None])
    flows.src[:] += background.first_gpu
    flows.dst[:] += background.first_gpu
    flows.job[:] = -1 - number
    if isinstance(work, Tally):
        work.count(FlowKind.BACKGROUND, flows)
    else:
        work.add_flows(flows)
