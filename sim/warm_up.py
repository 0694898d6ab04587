"""Compile everything that a run needs in the background, once per process, by running a tiny scenario."""

import gc
import threading
import time

from sim.jit import compile_for
from sim.scenario import Scenario
from sim.simulation import Simulation
from sim.topology.routing import explicit_path, max_base_rtt_ps
from sim.wormhole.adopt import adopt
from sim.wormhole_simulation import WormholeSimulation

TINY = {
    "name": "warm-up",
    "cluster": {"topology": "rail-optimised", "gpus": 8, "gpus_per_node": 2, "spines": 2},
    "model": {"layers": 2, "hidden": 16, "heads": 2, "vocabulary": 256, "sequence": 16},
    "parallelism": {"tp": 1, "pp": 2, "dp": 4},
    "background": [{"pattern": "all-to-all", "flow_bytes": 100_000}],  # crosses every spine, also the one that fails
    "faults": [
        {"kind": "link-down", "a": "leaf0", "b": "spine0", "at_us": 1},
        {"kind": "link-up", "a": "leaf0", "b": "spine0", "at_us": 5},
    ],
}


class WarmUp:
    """The compilation in its own thread. `state` is "compiling", "ready" or "failed" (then see `error`)."""

    def __init__(self):
        self.state = "compiling"
        self.error: str | None = None
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._cpu_s = self._wall_s = 0.0
        self._began = time.perf_counter()
        self._thread = threading.Thread(target=self._work, name="warm-up", daemon=True)
        self._thread.start()

    @property
    def seconds(self) -> float:
        """Wall seconds so far, or in all once it has ended."""
        return self._wall_s if self._ended.is_set() else time.perf_counter() - self._began

    @property
    def cpu_s(self) -> float:
        """CPU seconds so far, or in all."""
        with self._lock:
            if self._ended.is_set():
                return self._cpu_s
            return time.clock_gettime(time.pthread_getcpuclockid(self._thread.ident))

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it has ended; False if it has not within `timeout` seconds."""
        return self._ended.wait(timeout)

    def _work(self) -> None:
        error = None
        try:
            compile_all()
        except Exception as problem:
            error = (
                f"the kernel could not be compiled: {type(problem).__name__}: {' '.join(str(problem).split())[:300]}"
            )
        with self._lock:
            self._cpu_s, self._wall_s = time.thread_time(), time.perf_counter() - self._began
            self.error, self.state = error, "failed" if error else "ready"
            self._ended.set()


def compile_all() -> None:
    """Call every compiled function with the types that real runs use."""
    collecting = gc.isenabled()
    gc.disable()  # the compiler makes millions of objects that all live on: looking for garbage takes an eighth of the time
    try:
        result = Simulation(Scenario.from_data(TINY)).run()
        wormhole = WormholeSimulation(Scenario.from_data({**TINY, "faults": []}))
        wormhole.run()
        compile_for(adopt, wormhole.hole, wormhole.hole, 0)  # so short a run has no helpers
        len(result.critical_path)
        network, (first, second) = result.network, result.network.hosts[[0, 2]]
        leaf = next(int(node) for node in network.port_dst[network.port_src == first] if node in _beside(network, second))
        explicit_path(network, [int(first), leaf, int(second)])
        max_base_rtt_ps(network, 1000)
    finally:
        if collecting:
            gc.enable()
            gc.collect()
            gc.freeze()  # later collections need not walk what the compiler keeps


def _beside(network, node):
    return network.port_dst[network.port_src == node]


_starting = threading.Lock()
_latest: WarmUp | None = None


def warm_up() -> WarmUp:
    """The process's compilation, begun by the first call; one that failed is tried again."""
    global _latest
    with _starting:
        if _latest is None or _latest.state == "failed":
            _latest = WarmUp()
        return _latest
