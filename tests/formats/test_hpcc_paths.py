"""Path files: ports along node ids, and every way to be refused."""

import pytest

from sim.errors import FormatError
from sim.formats.hpcc_paths import read_paths
from sim.topology.from_file import network_from_text

NETWORK = network_from_text("4 2 4\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 3 1Gbps 1us 0\n0 3 1Gbps 1us 0\n")
HEADER = "src,dst,path,ack_path\n"


def test_paths():
    found = read_paths(HEADER + "0,1,0-2-3-1,1-3-0\n1,0,,0-3-1\n", NETWORK)
    assert [NETWORK.port_name(port) for port in found[0, 1][0]] == ["0->2", "2->3", "3->1"]
    assert found[0, 1][1].tolist() == [2, 7] and found[1, 0][0] is None


@pytest.mark.parametrize(
    "text, words",
    [
        ("", ["p.csv:1:", "src,dst,path,ack_path"]),
        ("a,b\n", ["p.csv:1: 'a,b'"]),
        (HEADER + "0,1,0-3-1\n", ["p.csv:2:", "like 0,1,0-2-1,1-2-0"]),
        (HEADER + "0,1,0-3-1,\n0,1,0-3-1,\n", ["p.csv:3: the pair 0,1 stands twice, first in line 2"]),
        (HEADER + "0,1,0-9-1,\n", ["p.csv:2: path '0-9-1': node '9'", "0 to 3"]),
        (HEADER + "0,1,0-2-1,\n", ["p.csv:2: path '0-2-1': there is no link 2-1; 2 has links to 0, 3"]),
        (HEADER + "0,1,1-3-0,\n", ["must lead from 0 to 1"]),
        (HEADER + "0,1,0-3-1,0-3-1\n", ["p.csv:2: ack_path '0-3-1': must lead from 1 to 0"]),
    ],
)
def test_refused_in_one_line(text, words):
    with pytest.raises(FormatError) as caught:
        read_paths(text, NETWORK, "p.csv")
    assert all(word in str(caught.value) for word in words), caught.value
