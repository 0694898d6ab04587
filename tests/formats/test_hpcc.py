"""Whole cases of the HPCC simulator: the reference files, thresholds, windows, losses, failures, results."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from sim.errors import FormatError, ScenarioError
from sim.formats.hpcc import read_hpcc
from sim.formats.hpcc_fct import fct_text, ideal_fct_ns, write_fct

REFERENCE = Path(__file__).resolve().parents[2] / "presets" / "reference" / "ns3-hpcc"
VARIANTS = sorted(REFERENCE.glob("*/*.config.txt"))
TOPOLOGY = "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 200Gbps 1us 0.5\n2 3 100Gbps 1us 0\n"
FLOWS = "2\n0 2 3 100 4000 2\n1 2 3 100 1500 2.000001\n"
MAPS = "KMIN_MAP 1 100000000000 400\nKMAX_MAP 1 100000000000 1600\nPMAX_MAP 1 100000000000 0.2\n"


@pytest.fixture
def case(tmp_path):
    def read(config="CC_MODE 1\n" + MAPS, flows=FLOWS, topology=TOPOLOGY, paths=None):
        for name, text in {
            "topology.txt": topology,
            "flow.txt": flows,
            "config.txt": config,
            "paths.csv": paths,
        }.items():
            if text is not None:
                (tmp_path / name).write_text(text)
        return read_hpcc(
            tmp_path / "topology.txt", tmp_path / "flow.txt", tmp_path / "config.txt", paths and tmp_path / "paths.csv"
        )

    return read


@pytest.mark.parametrize("config", VARIANTS, ids=lambda path: f"{path.parent.name}-{path.name.split('.')[0]}")
def test_reference_inputs_say_what_the_reference_run_had(config):
    where = config.parent
    case = read_hpcc(where / "topology.txt", where / "flow.txt", config, where / "paths.csv")
    totals = json.loads(config.with_name(config.name.replace(".config.txt", ".totals.json")).read_text())
    assert case.notices == () and case.explicit.all()
    assert set(case.base_rtt_ps.tolist()) == {totals["base_rtt_ns"] * 1000}
    assert set(case.window_bytes.tolist()) == {totals["window_bytes"]}
    assert case.transport.congestion_control == totals["cc"]
    packets = -(-case.flows.bytes // 1000)
    hops = int((packets * (np.diff(case.data_ptr) + np.diff(case.ack_ptr))).sum())
    assert hops + 2 * totals["pfc_pauses"] == totals["packet_hops"]
    carried = np.zeros(case.network.n_ports, np.int64)
    for ptr, ports in ((case.data_ptr, case.data_ports), (case.ack_ptr, case.ack_ports)):
        np.add.at(carried, ports, np.repeat(packets, np.diff(ptr)))
    for link in totals.get("links", []) if totals["pfc_pauses"] == 0 else []:
        assert carried[case.network.ports_between(link["from"], link["to"])].sum() == link["tx_pkts"]
    with config.with_name(config.name.replace(".config.txt", ".fct.csv")).open() as file:
        ends = [(int(row["src"]), int(row["dst"]), int(row["bytes"])) for row in csv.DictReader(file)]
    assert sorted(ends) == sorted(
        zip(case.flows.src.tolist(), case.flows.dst.tolist(), case.flows.bytes.tolist(), strict=True)
    )


def test_there_are_references():
    assert len(VARIANTS) == 64


def test_a_rate_without_thresholds_takes_scaled_ones_and_says_so(case):
    read = case()
    assert read.kmin_bytes.tolist() == [400_000] * 2 + [800_000] * 2 + [400_000] * 2
    assert read.kmax_bytes[2] == 3_200_000 and set(read.pmax) == {0.2}
    assert "no thresholds are given for 200 Gb/s: those of 100 Gb/s are scaled with the rate" in read.notices


def test_thresholds_in_the_wrong_order(case):
    with pytest.raises(
        FormatError,
        match=r"config.txt:1: KMIN_MAP 400 kB at 100 Gb/s: must be at most 300 kB, as KMAX_MAP in line 2 has it there; the nearest is 300",
    ):
        case(config=MAPS.replace("1600", "300"))


def test_no_maps_and_no_marking(case):
    assert case(config="CC_MODE 1\n").kmin_bytes is None
    assert case(config="CC_MODE 1\nENABLE_QCN 0\n" + MAPS).kmin_bytes.min() == 2**62


def test_window_and_rtt_of_the_whole_network_or_of_the_flow(case):
    read = case(config="CC_MODE 3\nGLOBAL_T 0\n" + MAPS)
    assert read.base_rtt_ps.tolist() == [4_160_000, 4_120_000] and read.window_bytes.tolist() == [52_000, 51_500]
    assert set(case(config="CC_MODE 3\nGLOBAL_T 1\n" + MAPS).window_bytes) == {52_000}
    assert set(case(config="CC_MODE 3\nHAS_WIN 0\n" + MAPS).window_bytes) == {0}


def test_loss_of_the_link_before_loss_of_all(case):
    assert case(config=MAPS + "ERROR_RATE_PER_LINK 0.01\n").network.port_loss.tolist() == [
        0.01,
        0.01,
        0.5,
        0.5,
        0.01,
        0.01,
    ]


def test_link_down_counts_from_two_seconds(case):
    fault = case(config=MAPS + "LINK_DOWN 100 0 3\n").faults[0]
    assert (fault.kind, fault.a, fault.b, fault.at_us) == ("link-down", "0", "3", 2_000_100)
    assert case(config=MAPS + "LINK_DOWN 0 0 0\n").faults == ()
    with pytest.raises(FormatError, match=r"^config.txt:4: LINK_DOWN '5 0 1': there is no link 0-1 in the topology: 0 has links to 3$"):
        case(config=MAPS + "LINK_DOWN 5 0 1\n")
    with pytest.raises(FormatError, match=r"^config.txt:5: LINK_DOWN '5 0 9': there is no link 0-9 in the topology: nodes are 0 to 3$"):
        case(config=MAPS + "\nLINK_DOWN 5 0 9\n")


def test_transport_has_the_controllers_own_names(case):
    config = (
        "CC_MODE 1\nRATE_AI 20Mb/s\nRATE_HAI 200Mb/s\nEWMA_GAIN 0.00390625\nRP_TIMER 300\nFAST_RECOVERY_TIMES 1\nL2_ACK_INTERVAL 4000\n"
        + MAPS
    )
    topology = TOPOLOGY.replace("200Gbps", "100Gbps")
    transport = case(config=config, topology=topology).transport
    assert transport.parameters == {
        "additive_mbps": 20.0,
        "hyper_mbps": 200.0,
        "gain": 1 / 256,
        "increase_interval_us": 300.0,
        "recovery_stages": 1.0,
    }
    assert transport.ack_every == 4 and transport.ack_priority == "shared"
    doubled = case(config=config, topology=TOPOLOGY.replace("100Gbps", "200Gbps")).transport
    assert doubled.parameters["additive_mbps"] == 10.0, (
        "an absolute step, though our controllers scale it with the line rate"
    )


@pytest.mark.parametrize("mode", [1, 3, 7, 8])
def test_parameters_are_the_controllers(case, mode):
    from sim.congestion.registry import parameter_row

    config = VARIANTS[0].read_text().replace("CC_MODE 1", f"CC_MODE {mode}")
    transport = case(config=config).transport
    assert len(transport.parameters) >= 3
    parameter_row(transport.congestion_control, transport.parameters)


def test_flows_without_a_listed_path_take_ecmp(case):
    read = case(paths="src,dst,path,ack_path\n0,2,0-3-2,2-3-0\n")
    assert (
        read.explicit.tolist() == [True, False]
        and read.data_ports.tolist() == [0, 5, 2, 5]
        and read.ack_ports.tolist() == [4, 1, 4, 3]
    )
    assert "1 of 2 flows has no path in paths.csv: ECMP's is taken" in read.notices


def test_hosts_without_a_path(case):
    with pytest.raises(ScenarioError, match="no path from 0 to 2 .* 2 parts"):
        case(topology="5 2 3\n3 4\n0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 4 1Gbps 1us 0\n")


def test_a_missing_file_names_its_neighbours(case, tmp_path):
    case()
    with pytest.raises(FormatError, match="flows.txt: there is no such file: did you mean 'flow.txt'"):
        read_hpcc(tmp_path / "topology.txt", tmp_path / "flows.txt", tmp_path / "config.txt")


def test_results_in_the_simulators_format(case, tmp_path):
    read = case()
    # 2 x 2 us + 4 x 1048 B at 100 Gb/s and one payload on each hop; the other path has a hop of 200 Gb/s
    assert ideal_fct_ns(read).tolist() == [4160 + 335, 4120 + 127]
    write_fct(tmp_path / "fct.txt", read, np.array([9_000_400, 5_000_600]))
    assert (tmp_path / "fct.txt").read_text() == (
        "0b000101 0b000201 10000 100 1500 2000001000 5001 4247\n0b000001 0b000201 10000 100 4000 2000000000 9000 4495\n"
    )
    assert fct_text(read, np.array([-1, 7000])).count("\n") == 1


def test_ideal_time_of_five_gigabytes_does_not_overflow(case):
    read = case(flows="1\n0 2 3 100 5000000000 2\n")
    assert ideal_fct_ns(read).tolist() == [4160 + 5_000_000 * 1048 * 8 // 100]
