"""The wormhole kernel against the packet kernel: CPU time of both, memo empty and warm, and what was executed."""

import time

from sim.case import case_of
from sim.preset import apply_settings, load_preset
from sim.simulation import Simulation
from sim.warm_up import warm_up
from sim.wormhole.memo import Store
from sim.wormhole_simulation import WormholeSimulation

HEAD = f"{'case':24}{'packet-hops':>16}{'executed':>10}{'packet':>10}{'cold':>10}{'warm':>10}{'gain cold':>11}{'gain warm':>11}"
SLICE_HOPS = 50_000_000
CASES = {
    "gpt-small-16": ("gpt-small-16", []),
    "gpt-7b-64": ("gpt-7b-64", []),
    "gpt-7b-64-dctcp": ("gpt-7b-64", ["transport.congestion_control=dctcp"]),
    "gpt-7b-64-timely": ("gpt-7b-64", ["transport.congestion_control=timely"]),
    "gpt-7b-64-hpcc": ("gpt-7b-64", ["transport.congestion_control=hpcc"]),
}


def _kernel_s(simulation) -> float:
    began = time.thread_time()
    while not simulation.advance(SLICE_HOPS):
        pass
    return time.thread_time() - began


def measured(name: str) -> dict:
    """One case: packet mode once, the wormhole kernel with an empty memo, then with what it learnt."""
    compilation = warm_up()
    compilation.wait()
    preset, settings = CASES[name]
    case, store = case_of(apply_settings(load_preset(preset), settings)), Store()
    packet_s = _kernel_s(Simulation(case))
    spent = []
    for _ in range(2):
        simulation = WormholeSimulation(case, memo=store)
        spent.append(_kernel_s(simulation))
        if len(spent) == 1:
            hops = simulation.kernel_counters()["packet_hops"]
        simulation.keep()
    return {
        "name": name, "packet_hops": hops["total"], "executed_share": hops["executed"] / hops["total"], "packet_cpu_s": packet_s,
        "cold_cpu_s": spent[0], "warm_cpu_s": spent[1], "gain_cold": packet_s / spent[0], "gain_warm": packet_s / spent[1],
    }  # fmt: skip


def line(row: dict) -> str:
    """A row of the table on the terminal."""
    return (
        f"{row['name']:24}{row['packet_hops']:>16,}{row['executed_share']:>10.3%}{row['packet_cpu_s']:>8.2f} s{row['cold_cpu_s']:>8.3f} s"
        f"{row['warm_cpu_s']:>8.3f} s{row['gain_cold']:>10.0f}x{row['gain_warm']:>10.0f}x"
    )


def once() -> dict:
    """Nothing is measured once for all cases."""
    return {}


def last_line(result: dict) -> str:
    """What the table shows."""
    return "CPU time of the kernel, without compilation and without building the scenario"
