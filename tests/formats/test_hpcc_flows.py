"""Flow files: order, ports, and every way to be refused."""

import pytest

from sim.errors import FormatError
from sim.formats.hpcc_flows import read_flows
from sim.topology.from_file import network_from_text

NETWORK = network_from_text("5 1 4\n4\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 4 100Gbps 1us 0\n3 4 100Gbps 1us 0\n")
TWO = "2\n0 1 3 100 1000 2.0\n1 2 3 101 5000000000 2.000000001\n"


def test_two_flows():
    flows = read_flows(TWO, NETWORK)
    assert flows.src.tolist() == [0, 1] and flows.dst.tolist() == [1, 2] and flows.dport.tolist() == [100, 101]
    assert flows.bytes.tolist() == [1000, 5_000_000_000] and flows.start_ps.tolist() == [2 * 10**12, 2 * 10**12 + 1000]
    assert flows.notices == ()


def test_unsorted_flows_are_sorted_and_equal_starts_keep_their_order():
    flows = read_flows("4\n0 1 3 1 10 2.5\n1 2 3 2 10 2\n2 3 3 3 10 2.0\n3 0 3 4 10 1.5\n", NETWORK)
    assert flows.dport.tolist() == [4, 2, 3, 1]
    assert flows.notices == ("flows were not in order of their start and have been sorted",)


def test_source_ports_count_from_10000_within_each_pair_in_order_of_start():
    flows = read_flows("5\n0 1 3 1 10 2\n0 1 3 2 10 1\n1 0 3 3 10 2\n0 2 3 4 10 2\n0 1 3 5 10 3\n", NETWORK)
    assert dict(zip(flows.dport.tolist(), flows.sport.tolist(), strict=True)) == {
        2: 10_000,
        1: 10_001,
        5: 10_002,
        3: 10_000,
        4: 10_000,
    }


@pytest.mark.parametrize("size", [0, 4, 2**50])
def test_any_size(size):
    flows = read_flows(f"1\n0 1 3 100 {size} 0\n", NETWORK)
    assert flows.bytes.tolist() == [size] and len(flows.notices) == (size == 0)


def test_no_flow_at_all():
    assert len(read_flows("0\n", NETWORK).src) == 0


@pytest.mark.parametrize(
    "text, words",
    [
        ("", ["flow.txt:1:", "number of flows"]),
        (TWO.replace("2\n0", "3\n0", 1), ["flow.txt:1: 3 flows announced, 2 found"]),
        (TWO.replace("2\n0", "1\n0", 1), ["flow.txt:1: 1 flows announced, 2 found"]),
        ("2\n0 1 3 100 1000 2.0\n1 2 3 100\n", ["flow.txt:3: 4 values", "src dst pg dport bytes start_s"]),
        (TWO.replace("1 2 3 101", "1 1 3 101"), ["flow.txt:3: dst '1': a flow cannot go to itself", "0 to 3"]),
        (TWO.replace("1 2 3 101", "1 4 3 101"), ["flow.txt:3: dst '4': is a switch", "0 to 3"]),
        (TWO.replace("1 2 3 101", "1 40 3 101"), ["flow.txt:3: dst '40': there is no such node of 5", "0 to 3"]),
        (TWO.replace("1 2 3 101", "-1 2 3 101"), ["flow.txt:3: src '-1'", "whole number"]),
        ("\n\n3\n0 1 3 100 1000 2.0\n", ["flow.txt:3: 3 flows announced, 1 found"]),
        (TWO.replace("1000 2.0", "１００００ 2.0"), ["flow.txt:2: bytes '１００００': must be a whole number from 0"]),
        (TWO.replace("1000 2.0", "1000 2_0.0"), ["flow.txt:2: start_s '2_0.0'"]),
        (TWO.replace("3 100 ", "3 65536 "), ["dport '65536': must be a whole number from 0 to 65535; the nearest is 65535"]),
        (TWO.replace("1000 2.0", "-4 2.0"), ["bytes '-4'", "the nearest is 0"]),
        (TWO.replace("1000 2.0", "1.6 2.0"), ["bytes '1.6'", "the nearest is 2"]),
        (TWO.replace("1000 2.0", "1000 " + "9" * 100), ["...'"]),
        (TWO.replace("1000 2.0", "1e6 2.0"), ["flow.txt:2: bytes '1e6'", "whole number"]),
        (TWO.replace("1000 2.0", "9999999999999999999999 2.0"), ["flow.txt:2: bytes"]),
        (TWO.replace("0 1 3 100", "0 1 9 100"), ["flow.txt:2: pg '9'", "0 to 7"]),
        (TWO.replace("3 100 ", "3 70000 "), ["flow.txt:2: dport '70000'", "0 to 65535"]),
        (TWO.replace("1000 2.0", "1000 -2"), ["flow.txt:2: start_s '-2'"]),
        (TWO.replace("1000 2.0", "1000 nan"), ["flow.txt:2: start_s 'nan'"]),
        (TWO.replace("1000 2.0", "1000 soon"), ["flow.txt:2: start_s 'soon'", "like 2.0"]),
    ],
)
def test_refused_in_one_line(text, words):
    with pytest.raises(FormatError) as caught:
        read_flows(text, NETWORK, "flow.txt")
    assert "\n" not in str(caught.value)
    assert all(word in str(caught.value) for word in words), caught.value
