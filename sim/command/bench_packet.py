"""Cost of the packet kernel: CPU time for each packet-hop, memory, and compilation; every case in a process of its own."""

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from statistics import median

from sim.errors import RunError
from sim.preset import load_preset
from sim.scenario import Scenario
from sim.simulation import Simulation
from sim.warm_up import warm_up

ROOT = Path(__file__).resolve().parents[2]
REPEATS = 3
CHILD = "import json, sys; from sim.command.bench_packet import {0}; print(json.dumps({0}({1})))"
HEAD = f"{'case':16}{'packet-hops':>13}{'ns per hop':>12}{'build':>10}{'memory':>10}"

GPU_LINKS = {"gpus_per_node": 1, "nvlink_gbps": 0, "nic_gbps": 100, "nic_delay_ns": 1000, "fabric_delay_ns": 1000}
TRANSPORT = {"congestion_control": "dcqcn", "pfc": "fixed", "pfc_xoff_kb": 1000, "buffer_mb": 32}
SPARSE_FLOWS, SPARSE_BYTES, SPARSE_GAP_US = 64, 400_000, 10_000  # one flow at a time, idle for 99 % of the time


def _scenario(cluster: dict, traffic: dict) -> Scenario:
    return Scenario.from_data({"cluster": {**GPU_LINKS, **cluster}, "traffic": traffic, "transport": TRANSPORT})


def _fat_tree(k: int, gpus: int, **traffic) -> Scenario:
    return _scenario({"topology": "fat-tree", "fat_tree_k": k, "gpus": gpus}, traffic)


def _sparse() -> Scenario:
    flows = [
        {"src": 16 * i, "dst": (16 * i + 515) % 1024, "bytes": SPARSE_BYTES, "start_us": i * SPARSE_GAP_US}
        for i in range(SPARSE_FLOWS)
    ]
    return _fat_tree(16, 1024, pattern="flows", flows=flows)


CASES = {
    "incast-16": lambda: _scenario(
        {"topology": "one-switch", "gpus": 17}, {"pattern": "incast", "flow_bytes": 4_000_000}
    ),
    "k4-all-to-all": lambda: _fat_tree(4, 16, pattern="all-to-all", flow_bytes=1_000_000),
    "k8-ring-128": lambda: load_preset("fat-tree-ring"),
    "k16-ring-1024": lambda: _fat_tree(16, 1024, pattern="ring", flow_bytes=4_000_000),
    "k8-all-to-all": lambda: _fat_tree(8, 128, pattern="all-to-all", flow_bytes=20_000),  # 127 queue pairs a NIC
    "sparse-1024": _sparse,
}


def measured(name: str) -> dict:
    """One case, in a process of its own so that its memory is its own; the kernel is compiled before."""
    _compiled()
    return _child("repeated", name)


@cache
def _compiled() -> dict:
    return _child("compilation")


def repeated(name: str) -> dict:
    """Medians over REPEATS runs in this process."""
    warm_up().wait()
    scenario, runs = CASES[name](), []
    for _ in range(REPEATS):
        simulation = Simulation(scenario)
        runs.append(simulation.run().summary)
    held = sum(array.nbytes for array in simulation.state)
    return {
        "name": name,
        "packet_hops": runs[0]["packet_hops"]["executed"],
        "ns_per_hop_cpu": median(run["cpu_s"]["kernel"] * 1e9 / run["packet_hops"]["executed"] for run in runs),
        "build_s": median(run["cpu_s"]["build"] for run in runs),
        "state_bytes": held,
        "peak_rss_bytes": runs[-1]["peak_rss_bytes"],
    }


def compilation() -> dict:
    """What compiling, or loading what is compiled, takes in this process."""
    warm_up().wait()
    return {"cpu_s": warm_up().cpu_s, "wall_s": warm_up().seconds, "error": warm_up().error}


def once() -> dict:
    """Compilation with an empty cache, then loading what that left, each in a fresh process."""
    with tempfile.TemporaryDirectory(prefix="wormhole-lab-bench-") as directory:
        first, second = (_child("compilation", WORMHOLE_LAB_CACHE=directory) for _ in range(2))
    return {
        "compile_s": first["cpu_s"],
        "compile_wall_s": first["wall_s"],
        "cached_load_s": second["cpu_s"],
        "cached_load_wall_s": second["wall_s"],
    }


def _child(function: str, argument: str | None = None, **variables: str) -> dict:
    """What a function of this module returns in a fresh process with these environment variables."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, **variables}
    code = CHILD.format(function, "" if argument is None else repr(argument))
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunError(
            f"measuring {argument or function} failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}"
        )
    return json.loads(done.stdout.splitlines()[-1])


def line(case: dict) -> str:
    """One case as a row of the table."""
    return (
        f"{case['name']:16}{case['packet_hops']:13,}{case['ns_per_hop_cpu']:12.1f}{case['build_s'] * 1e3:7.0f} ms"
        f"{case['peak_rss_bytes'] / 1e6:7.0f} MB"
    )


def last_line(result: dict) -> str:
    """The compilation in words."""
    return (
        f"compilation {result['compile_s']:.1f} s of CPU ({result['compile_wall_s']:.1f} s), "
        f"from the cache {result['cached_load_s']:.2f} s ({result['cached_load_wall_s']:.2f} s)"
    )
