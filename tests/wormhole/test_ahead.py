"""Other threads find out ahead of time: the numbers stay the same, whoever finds them."""

from concurrent.futures import Future

import numpy as np
import pytest

from sim.case import case_of
from sim.preset import load_preset
from sim.scenario import Scenario
from sim.wormhole import ahead
from sim.wormhole.ahead import Ahead
from sim.wormhole_simulation import WormholeSimulation
from tests.walls.runs import arrays, differences, finish, simulation, with_faults

SENDERS, BYTES = 4, 4_000_000
LOSS = {"kind": "loss", "a": "gpu0", "b": "switch0", "at_us": 0, "probability": 0.001}
DOWN = {"kind": "link-down", "a": "gpu0", "b": "switch0", "at_us": 1200}
UP = {"kind": "link-up", "a": "gpu0", "b": "switch0", "at_us": 1300}


def incasts(controller, groups=3, **transport):
    """Incasts side by side at one switch whose buffer they do not share, none like the other."""
    span = SENDERS + 1
    rows = [
        {"src": group * span + sender, "dst": group * span + SENDERS, "bytes": BYTES + 100_000 * group + 1000 * sender, "start_us": 0.1 * group}
        for group in range(groups)
        for sender in range(SENDERS)
    ]
    return {
        "cluster": {"topology": "one-switch", "gpus": groups * span, "gpus_per_node": 1, "nvlink_gbps": 0, "nic_gbps": 100},
        "traffic": {"pattern": "flows", "flows": rows},
        "transport": {"congestion_control": controller, "pfc": "fixed", "pfc_xoff_kb": 1000, "buffer_mb": 64, **transport},
    }


CASES = {
    "marked": incasts("dcqcn"),
    "in windows": incasts("dctcp"),
    "by delay": incasts("timely"),
    "by telemetry": incasts("hpcc"),
    "paused": incasts("none", pfc_xoff_kb=50),
    "lossy": with_faults(incasts("dcqcn"), LOSS, retransmit_timeout_us=100),
    "failing": with_faults(incasts("dcqcn"), DOWN, UP),
}


class Inline:
    """Works at once, in the thread that asks: whatever is offered has been found out by then."""

    def __init__(self, *_, **__):
        self.jobs = 0

    def submit(self, work, *given):
        self.jobs += 1
        done = Future()
        done.set_result(work(*given))
        return done

    def shutdown(self, **_):
        pass


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(ahead, "ALONE_HOPS", -1)


@pytest.fixture
def inline(monkeypatch):
    made = []
    monkeypatch.setattr(ahead, "ThreadPoolExecutor", lambda *_, **__: made.append(Inline()) or made[-1])
    return made


@pytest.fixture
def delivered(monkeypatch):
    """How many outcomes were taken over from another thread."""
    count, deliver = [], Ahead.deliver

    def counting(self, w, *given):
        before = int(w.p[0]["outcomes"])
        w = deliver(self, w, *given)
        count.append(int(w.p[0]["outcomes"]) - before)
        return w

    monkeypatch.setattr(Ahead, "deliver", counting)
    return count


def run(data, threads, **options):
    return finish(WormholeSimulation(case_of(Scenario.from_data(data)), **{"threads": threads, "guard": 0, **options}))


def same(first, second):
    """Every number of the result, of the kernel's counters, and every episode."""
    assert differences(arrays(first), arrays(second)) == {}
    assert first.kernel_counters() == second.kernel_counters()
    logs = [run.hole.episode[: int(run.hole.p[0]["episodes"])] for run in (first, second)]
    assert np.array_equal(*logs)


@pytest.mark.parametrize("name", CASES)
def test_what_another_thread_finds_is_what_this_one_would_have_found(name, inline, delivered):
    alone, helped = (run(CASES[name], threads, skip=False) for threads in (1, 2))
    assert sum(delivered) > 0
    same(alone, helped)
    packet = finish(simulation(CASES[name]))
    assert np.array_equal(helped.result().raw.acked_ps, packet.result().raw.acked_ps)


@pytest.mark.parametrize("threads", [2, 3, 5])
@pytest.mark.parametrize("name", ["marked", "by telemetry", "failing"])
def test_any_number_of_threads_gives_the_same_bits(name, threads):
    same(run(CASES[name], 1), run(CASES[name], threads))


def test_what_nobody_needed_is_dropped(inline, monkeypatch):
    monkeypatch.setattr(ahead, "UNUSED", 2)
    smaller = {"model.layers": 2, "model.hidden": 256, "jobs.0.model.layers": 2, "jobs.0.model.hidden": 256, "background.0.times": 5}
    scenario = load_preset("two-tenants").replace_all(smaller)
    first, second = (finish(WormholeSimulation(case_of(scenario), threads=threads, guard=0)) for threads in (1, 2))
    same(first, second)
    assert inline[0].jobs > 0


def test_a_memo_that_is_full_forgets_what_was_offered_too(inline):
    first, second = (run(CASES["marked"], threads, most_words=1 << 15) for threads in (1, 2))
    assert differences(arrays(first), arrays(second)) == {}


def test_a_cancelled_run_sends_its_threads_home():
    sim = WormholeSimulation(case_of(Scenario.from_data(CASES["marked"])), threads=3, guard=0)
    while sim._crew.ahead is None:
        sim.advance(2_000)
    sim.cancel()
    assert sim._crew.ahead is None and sim.result().raw.status == "cancelled"


def test_a_partition_alone_asks_nobody(inline):
    assert run(incasts("dcqcn", groups=1), 2, skip=False).status == "finished"
    assert inline[0].jobs == 0


def test_one_thread_asks_nobody(monkeypatch):
    monkeypatch.setattr(ahead, "ThreadPoolExecutor", None)
    assert run(CASES["marked"], 1).status == "finished"
