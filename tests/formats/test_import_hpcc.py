"""Files of the HPCC simulator told apart by their words, wherever their lines end."""

import pytest

from sim.formats.import_hpcc import CONFIG, FLOWS, PATHS, TOPOLOGY, what_is
from sim.formats.importing import import_files

LINKS = "0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n"
TOPOLOGIES = [f"{head}{LINKS}" for head in ("3 1 2\n2\n", "\n\n3 1 2\n2\n", "3\n1\n2\n2\n", "3 1\n2 2\n", "3 1 2 2 ")]
FLOW_FILES = ["1\n0 1 3 100 10000 2.0\n", "\n \n1\n0 1 3 100 10000 2.0\n", "1 0 1 3 100 10000 2.0", "1\n0 1 3\n100 10000\n2.0\n"]


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("flows", FLOW_FILES)
def test_any_layout_is_the_same_scenario(topology, flows):
    files = {"b": flows.encode(), "c": b"\n# nothing\nCC_MODE 3\n", "p": b"\n src , dst,path,ack_path\n0,1,0-2-1,1-2-0\n", "a": topology.encode()}
    plain = {"b": FLOW_FILES[0].encode(), "c": b"CC_MODE 3\n", "p": b"src,dst,path,ack_path\n0,1,0-2-1,1-2-0\n", "a": TOPOLOGIES[0].encode()}
    assert import_files("hpcc", files).digest() == import_files("hpcc", plain).digest()


@pytest.mark.parametrize(
    "name, text, kind",
    [
        ("x", "src,dst,path,ack_path\n", PATHS), ("x", "CC_MODE", CONFIG), ("x", "3 1 2 2 0 2 100 1 0 1 2 100 1 0", TOPOLOGY),
        ("x", "3 1 2\n", TOPOLOGY), ("x", "2\n0 1 3 100", FLOWS), ("my_topo.txt", "3\n1\n2\n", TOPOLOGY), ("my_flow.txt", "2 0 1 3 100", FLOWS),
        ("x", "2 0 1 3 100", None), ("x", "hello 1 2", None), ("topo", "-3 1 2", None),
    ],
)  # fmt: skip
def test_kinds(name, text, kind):
    assert what_is(name, text) == kind
