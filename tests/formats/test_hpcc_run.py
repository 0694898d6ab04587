"""Files of the HPCC simulator run on our kernel: clocks, faults, limits, and what the scenario of such a run says."""

from pathlib import Path

import numpy as np
import pytest

from sim.errors import FormatError
from sim.formats.hpcc import read_hpcc
from sim.formats.hpcc_fct import fct_text, ideal_fct_ns
from sim.formats.hpcc_run import run_of
from sim.formats.hpcc_topology import topology_text
from sim.preset import load_preset
from sim.simulation import Simulation
from sim.topology.build import build_network
from sim.topology.from_file import network_from_text

REFERENCE = Path(__file__).resolve().parents[2] / "presets" / "reference" / "ns3-hpcc"
STAR = "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n"
TWO_WAYS = "4 2 4\n1 2\n0 1 100Gbps 1us 0\n0 2 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n"
CONFIG = "CC_MODE 8\nHAS_WIN 1\nGLOBAL_T 1\n"


@pytest.fixture
def files(tmp_path):
    def made(flows, topology=STAR, config=CONFIG, paths=None):
        texts = {"topology.txt": topology, "flow.txt": flows, "config.txt": config, "paths.csv": paths}
        for name, text in texts.items():
            if text is not None:
                (tmp_path / name).write_text(text)
        return read_hpcc(*(tmp_path / name for name in list(texts)[: 3 if paths is None else 4]))

    return made


def ended(run):
    return Simulation(run.case).run()


def test_one_packet_over_two_links_takes_what_the_hand_says(files):
    """83 ns + 1 us + 83 ns + 1 us there, 1 us + 4 ns + 1 us + 4 ns back, on the clock of whole nanoseconds."""
    source = files("1\n0 2 3 100 1000 2.0\n")
    result = ended(run_of(source, "1ns"))
    assert result.raw.acked_ps.tolist() == [4_174_000]
    assert fct_text(source, result.raw.acked_ps - result.raw.start_ps).split()[5:7] == ["2000000000", "4174"]


@pytest.mark.parametrize("links", [1, 2, 4])
def test_a_lone_flow_ends_before_its_ideal_time_as_in_the_simulator(files, links):
    """ideal - fct = H payloads - (H - 1) packets - H ACKs of 60 B, whatever the flow's size: 80, 83.84 and 4.8 ns each."""
    middle = list(range(2, links + 1))
    nodes = [0, *middle, 1]
    topology = f"{links + 1} {links - 1} {links}\n{' '.join(map(str, middle))}\n"
    topology += "".join(f"{a} {b} 100Gbps 1us 0\n" for a, b in zip(nodes, nodes[1:], strict=False))
    for size in (1000, 50_000):
        source = files(f"1\n0 1 3 100 {size} 2.0\n", topology=topology)
        raw = ended(run_of(source)).raw
        fct, ideal = (int(word) for word in fct_text(source, raw.acked_ps - raw.start_ps).split()[6:8])
        assert ideal - fct == pytest.approx(links * 80 - (links - 1) * 83.84 - links * 4.8, abs=2)  # both are cut to whole ns


@pytest.mark.parametrize("name, fct, ideal", [("S0_1pkt", 4174, 4243), ("S0_1pkt_4hop", 8348, 8403)])
def test_the_reference_itself_ends_before_its_ideal_time(name, fct, ideal):
    where = REFERENCE / name
    source = read_hpcc(where / "topology.txt", where / "flow.txt", where / "dctcp.config.txt", where / "paths.csv")
    assert (where / "dctcp.fct.csv").read_text().split()[1].split(",")[4] == str(fct) and ideal_fct_ns(source).tolist() == [ideal]


def test_time_begins_with_the_earliest_flow(files):
    run = run_of(files("3\n0 2 3 100 1000 2.5\n1 2 3 100 1000 2.0\n0 1 3 100 1000 2.000001\n"))
    assert run.origin_ps == 2 * 10**12
    assert run.case.dag.start_ps.tolist() == [0, 10**6, 5 * 10**11]
    assert run.case.dag.flow_src.tolist() == [1, 0, 0]
    raw = ended(run).raw
    assert raw.start_ps.tolist() == [0, 10**6, 5 * 10**11]


def test_hosts_are_numbered_without_the_switches_between_them(files):
    run = run_of(files("1\n0 3 3 100 1000 2.0\n", topology=TWO_WAYS))
    assert (run.case.dag.flow_src.tolist(), run.case.dag.flow_dst.tolist()) == ([0], [1])
    assert (run.case.src.tolist(), run.case.dst.tolist()) == ([0], [3])


def test_a_link_fails_at_the_time_that_the_file_means(files):
    config = CONFIG + "LINK_DOWN 100 1 3\nL2_CHUNK_SIZE 4000\n"
    paths = "src,dst,path,ack_path\n0,3,0-1-3,3-1-0\n"
    run = run_of(files("1\n0 3 3 100 10000000 2.0\n", topology=TWO_WAYS, config=config, paths=paths))
    assert [fault.at_ps for fault in run.case.faults] == [100 * 10**6]
    result = ended(run)
    assert result.status == "finished" and result.raw.flow_retransmits[0] > 0
    late = result.raw.port_tx_packets[result.network.ports_between("0", "2")[0]]
    assert late > 8000, "the rest takes the other way"


def test_a_failure_before_the_first_flow_counts_from_its_start(files):
    config = CONFIG + "LINK_DOWN 100 1 3\n"
    run = run_of(files("1\n0 3 3 100 1000 2.5\n", topology=TWO_WAYS, config=config))
    assert [fault.at_ps for fault in run.case.faults] == [0]
    assert ended(run).status == "finished"


def test_the_run_stops_when_the_file_says(files):
    source = files("2\n0 2 3 100 1000 2.0\n1 2 3 100 1000 2.0002\n", config=CONFIG + "SIMULATOR_STOP_TIME 2.0001\n")
    result = ended(run_of(source))
    assert result.status == "time limit"
    fct_ps = np.where(result.raw.acked_ps >= 0, result.raw.acked_ps - result.raw.start_ps, -1)
    assert len(fct_text(source, fct_ps).splitlines()) == 1


def test_a_stop_before_the_first_flow_is_refused(files):
    with pytest.raises(FormatError, match="SIMULATOR_STOP_TIME '2': the first flow starts at 2 s"):
        run_of(files("1\n0 2 3 100 1000 2.0\n", config=CONFIG + "SIMULATOR_STOP_TIME 2\n"))


def test_a_file_without_flows_is_refused(files):
    with pytest.raises(FormatError, match=r"^flow\.txt: lists 0 flows"):
        run_of(files("0\n"))


def test_settings_of_the_file_reach_the_kernel(files):
    config = "CC_MODE 3\nHAS_WIN 1\nVAR_WIN 1\nRATE_BOUND 0\nINT_MULTI 4\nBUFFER_SIZE 8\n"
    config += "KMIN_MAP 1 100000000000 5\nKMAX_MAP 1 100000000000 20\nPMAX_MAP 1 100000000000 0.5\n"
    settings = run_of(files("1\n0 2 3 100 1000 2.0\n", config=config)).case.settings
    assert (settings.telemetry_tx_quantum, settings.telemetry_queue_quantum) == (512, 320)
    assert (settings.var_window, settings.rate_bound, settings.buffer_bytes) == (True, False, 8 * 2**20)
    assert (settings.kmin_bytes[0], settings.kmax_bytes[0], settings.pmax[0]) == (5000, 20_000, 0.5)


@pytest.mark.parametrize("name", ["fat-tree-ring", "parallel-links", "leaf-spine-oversubscribed"])
def test_a_network_survives_being_written_and_read(name):
    network = build_network(load_preset(name).cluster)
    again = network_from_text(topology_text(network))
    for column in ("port_src", "port_dst", "port_rate_bps", "port_delay_ps", "port_loss", "node_is_host", "hosts"):
        assert np.array_equal(getattr(network, column), getattr(again, column)), column


def test_the_hash_of_a_run_covers_what_a_scenario_cannot_say(files):
    flows = "1\n0 3 3 100 1000 2.0\n"
    upper, lower = (f"src,dst,path,ack_path\n0,3,0-{way}-3,3-{way}-0\n" for way in (1, 2))
    first, again, other_path, other_config = (
        run_of(files(flows, TWO_WAYS, config, paths)).case.scenario.digest()
        for config, paths in ((CONFIG, upper), (CONFIG, upper), (CONFIG, lower), (CONFIG + "ENABLE_QCN 0\n", upper))
    )
    assert first == again
    assert len({first, other_path, other_config}) == 3
