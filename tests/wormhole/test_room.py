"""Arrays are made large enough before many flows start at one instant that nothing announced."""

from sim.accuracy import differing
from sim.formats.importing import import_files
from sim.modes import make_simulation
from tests.formats.chakra_files import COMP, all_reduce, node, trace

RANKS, ALL_TO_ALL = 48, 6


def test_thousands_of_flows_that_wait_for_one_instant():
    rows = trace(node(1, COMP, us=5), all_reduce(2, 48_000, [1], comm_type=ALL_TO_ALL))
    scenario = import_files("chakra", {f"t.{rank}.et": rows for rank in range(RANKS)})
    results = []
    for mode in ("packet", "wormhole"):
        sim = make_simulation(scenario, mode)
        while not sim.advance():
            pass
        assert sim.status == "finished"
        results.append(sim.result())
    assert len(results[0].flows) == RANKS * (RANKS - 1) and differing(*results) == {}
