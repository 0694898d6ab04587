"""Cost of building: the network, the graph of tasks and flows, and the routes of presets and of 1024 GPUs."""

import time
from functools import partial
from statistics import median

from sim.case import case_of, entropy
from sim.command.watch import ready
from sim.preset import load_preset
from sim.topology.build import build_network
from sim.topology.routing import route
from sim.workload.build import build_dag

REPEATS = 3
HEAD = f"{'case':22}{'GPUs':>6}{'tasks':>10}{'flows':>10}{'network':>10}{'graph':>10}{'routes':>10}{'all':>10}"
THOUSAND = {"cluster.gpus": 1024, "transport.buffer_mb": 512.0}

CASES = {
    **{name: partial(load_preset, name) for name in (
        "incast-16", "gpt-7b-64", "gpt-13b-128", "gpt-175b-1024", "moe-8x7b-64", "moe-8x22b-256", "moe-32x22b-1024", "fat-tree-ring",
    )},
    "fat-tree-ring-1024": lambda: load_preset("fat-tree-ring").replace_all({**THOUSAND, "cluster.fat_tree_k": 16}),
    "gpt-13b-1024-dp64": lambda: load_preset("gpt-13b-128").replace_all({**THOUSAND, "parallelism.dp": 64}),
}  # fmt: skip


def measured(name: str) -> dict:
    """Medians of the CPU time of each step, and of everything that comes before the first packet."""
    ready()
    scenario = CASES[name]()
    steps = [_once(scenario) for _ in range(REPEATS)]
    return {
        "name": name,
        "gpus": scenario.cluster.gpus,
        "tasks": steps[0]["tasks"],
        "flows": steps[0]["flows"],
        **{step: median(times[step] for times in steps) for step in ("network_s", "dag_s", "routes_s", "total_s")},
    }


def _once(scenario) -> dict:
    began = time.thread_time()
    network = build_network(scenario.cluster)
    built = time.thread_time()
    dag = build_dag(scenario)
    linked = time.thread_time()
    src, dst, key = network.hosts[dag.flow_src], network.hosts[dag.flow_dst], entropy(dag)
    route(network, src, dst, key, scenario.cluster.ecmp_seed)
    route(network, dst, src, ~key, scenario.cluster.ecmp_seed)
    routed = time.thread_time()
    case_of(scenario)
    return {
        "tasks": dag.n_tasks, "flows": dag.n_flows, "network_s": built - began, "dag_s": linked - built,
        "routes_s": routed - linked, "total_s": time.thread_time() - routed,
    }  # fmt: skip


def once() -> dict:
    """Nothing is measured once."""
    return {}


def line(case: dict) -> str:
    """One case as a row of the table."""
    times = "".join(f"{case[step] * 1e3:7.1f} ms" for step in ("network_s", "dag_s", "routes_s", "total_s"))
    return f"{case['name']:22}{case['gpus']:6}{case['tasks']:10,}{case['flows']:10,}{times}"


def last_line(result: dict) -> str:
    """What the columns mean."""
    return f"network, graph and routes alone; all is everything before the first packet; medians of {REPEATS}"
