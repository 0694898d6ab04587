"""Cost of the wormhole kernel where everything is known: CPU time per flow that enters or leaves, memo warm."""

import time
from statistics import median

from sim.case import case_of
from sim.preset import load_preset
from sim.scenario import Scenario
from sim.warm_up import warm_up
from sim.wormhole.memo import Store
from sim.wormhole_simulation import WormholeSimulation

REPEATS = 3
HEAD = f"{'case':18}{'flows':>10}{'interrupts':>12}{'us per interrupt':>18}{'largest partition':>19}"
CLUSTER = {"topology": "fat-tree", "fat_tree_k": 16, "gpus": 1024, "gpus_per_node": 1, "nvlink_gbps": 0, "nic_gbps": 100}
TRANSPORT = {"congestion_control": "dcqcn", "pfc": "fixed", "pfc_xoff_kb": 1000, "buffer_mb": 32}
LONE_BYTES, LONE_GAP_US, LONE_PAIRS = 20_000, 40.0, 16


def _lone(count: int) -> Scenario:
    """Pairs of hosts under one switch each, one flow at a time."""
    flows = [
        {"src": 8 * (j % LONE_PAIRS), "dst": 8 * (j % LONE_PAIRS) + 1, "bytes": LONE_BYTES, "start_us": LONE_GAP_US * (j // LONE_PAIRS)}
        for j in range(count)
    ]
    return Scenario.from_data({"cluster": CLUSTER, "traffic": {"pattern": "flows", "flows": flows}, "transport": TRANSPORT})


CASES = {
    "lone-2k": lambda: _lone(2_000),
    "lone-20k": lambda: _lone(20_000),
    "gpt-7b-64": lambda: load_preset("gpt-7b-64"),
    "gpt-13b-128": lambda: load_preset("gpt-13b-128"),
}


def measured(name: str) -> dict:
    """One case: run once to learn, then the median of some runs that know everything."""
    compilation = warm_up()
    compilation.wait()
    case, store, spent = case_of(CASES[name]()), Store(), []
    for turn in range(1 + REPEATS):
        simulation = WormholeSimulation(case, memo=store)
        began = time.thread_time()
        while not simulation.advance(10**9):
            pass
        if turn:
            spent.append(time.thread_time() - began)
        simulation.keep()
    counters = simulation.kernel_counters()
    return {
        "name": name, "flows": case.dag.n_flows, "interrupts": counters["interrupts"],
        "us_per_interrupt_cpu": median(spent) * 1e6 / counters["interrupts"], "max_flows": counters["partitions"]["max_flows"],
        "executed_packet_hops": counters["packet_hops"]["executed"],
    }  # fmt: skip


def line(row: dict) -> str:
    """A row of the table on the terminal."""
    return f"{row['name']:18}{row['flows']:>10,}{row['interrupts']:>12,}{row['us_per_interrupt_cpu']:>18.2f}{row['max_flows']:>19}"


def once() -> dict:
    """Nothing is measured once for all cases."""
    return {}


def last_line(result: dict) -> str:
    """What the table shows."""
    return "an interrupt is a flow that enters or leaves; the memo knows every state"
