"""A shared link of imported work opens, runs and shows on every page."""

import pytest

from sim.formats.importing import import_files
from sim.preset import to_link
from tests.formats.chakra_files import COMP, all_reduce, node, trace
from tests.formats.test_import_astra import network, of_group
from tests.formats.test_importing import SIMAI, TOPOLOGY
from tests.pages.app_under_test import go, opened, run_now

TRACES = {f"t.{rank}.et": trace(node(1, COMP, us=5), all_reduce(2, 64_000, [1]), node(3, COMP, [2], us=5)) for rank in range(4)}


@pytest.mark.parametrize(
    "kind, files",
    [
        ("chakra", TRACES),
        ("simai", {"w": SIMAI.replace("5000000000", "5000").encode(), "t": TOPOLOGY.encode()}),
        ("astra", {**of_group(6, [0, 2, 5], 64_000), "network.yml": network(("Ring", 6))}),
    ],
)
def test_every_page_shows_it(kind, files):
    app = run_now(opened(to_link(import_files(kind, files))))
    for page in ("run", "timeline", "network", "partitions", "patterns", "build"):
        go(app, page)
