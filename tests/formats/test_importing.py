"""Files of other tools as scenarios: told apart by what is in them, what is assumed said, idle GPUs listed, faults in one line."""

import json
import tomllib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sim.errors import FormatError, LabError
from sim.formats.importing import IMPORTERS, import_files, import_with_notices
from sim.preset import to_toml
from sim.scenario import Scenario
from sim.topology.build import build_network
from sim.workload.build import build_dag
from tests.formats.chakra_files import COMP, RECV, SEND, all_reduce, node, trace
from tests.formats.mutate import mutated_bytes, mutated_texts
from tests.formats.test_astra_network import NETWORK
from tests.formats.test_astra_system import SYSTEM
from tests.formats.test_htsim_cm import MATRIX, PLAIN
from tests.formats.test_htsim_topo import THREE
from tests.formats.test_simai_topology import TOPOLOGY
from tests.formats.test_simai_workload import WORKLOAD

SIMAI = WORKLOAD.replace("all_gpus: 16", "all_gpus: 4").replace("group: 2 ep: 2 pp: 2", "group: 1 ep: 2 pp: 2")
STAR = "5 1 4\n4\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 4 100Gbps 1us 0\n3 4 100Gbps 1us 0\n"
FLOWS = "3\n0 1 3 100 1000 2.5\n1 2 3 101 5000000000 2.000000001\n2 3 3 100 0 2\n"
CONFIG = "CC_MODE 3\nPACKET_PAYLOAD_SIZE 4000\nKMAX_MAP 1 100000000000 400\nKMIN_MAP 1 100000000000 100\nPMAX_MAP 1 100000000000 0.2\nLINK_DOWN 5 2 4\n"
SENT = {
    "t.0.et": trace(node(1, COMP, us=5), all_reduce(2, 4096, [1]), node(3, SEND, [2], comm_size=64, comm_dst=1)),
    "t.1.et": trace(node(1, COMP, us=5), all_reduce(2, 4096, [1]), node(3, RECV, [2], comm_size=64, comm_src=0)),
}


def of(kind, **texts):
    """(scenario, notices) of texts whose names are given with _ for a dot."""
    return import_with_notices(kind, {name.replace("_", "."): text.encode() for name, text in texts.items()})


def refused(kind, files):
    with pytest.raises(LabError) as caught:
        import_files(kind, files)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def is_whole(scenario):
    """TOML gives the same scenario back, and its graph has no circle."""
    assert Scenario.from_data(tomllib.loads(to_toml(scenario))).digest() == scenario.digest()
    dag = build_dag(scenario)
    dag.validate()
    return dag


def test_simai_files_in_any_order():
    one, _ = of("simai", workload_txt=SIMAI, topology=TOPOLOGY)
    other, said = of("simai", topology=TOPOLOGY, workload_txt=SIMAI)
    assert one.program.work == other.program.work and one.cluster == other.cluster and one.name == "workload"
    assert one.cluster.gpus_per_node == 2 and one.cluster.nvswitches == 2 and one.cluster.gpu == "H100-SXM" and one.program.ranks == 4
    assert is_whole(one).n_ranks == 4 and said == ["collectives of 0 bytes are done after their path's delay: 1"]


def test_a_topology_larger_than_the_workload_lists_the_idle_gpus():
    large = "129 8 0 1 128 H100\n128\n" + "".join(f"{gpu} 128 400Gbps 1us 0\n" for gpu in range(128))
    eight = WORKLOAD.replace("all_gpus: 16", "all_gpus: 8").replace("group: 2 ep: 2 pp: 2", "group: 2 ep: 2 pp: 1")
    scenario, said = of("simai", w_txt=eight, topo=large)
    assert "120 of 128 GPUs are idle: gpu8 to gpu127" in said and is_whole(scenario).n_ranks == 128


def test_a_workload_larger_than_the_topology_is_refused():
    text = refused("simai", {"w": WORKLOAD.encode(), "t": TOPOLOGY.encode()})
    assert text == "w:1: all_gpus 16: t has 4 GPUs, and a rank needs one of its own; the nearest is all_gpus: 4, or a topology of 16 GPUs"


def test_a_simai_workload_alone_takes_a_cluster_and_says_so():
    scenario, said = of("simai", w_txt=WORKLOAD)
    assert scenario.cluster.gpus == 16 and scenario.cluster.topology == "rail-optimised"
    assert "no topology is given: 16 H100 GPUs in servers of 8 on rails of 400 Gb/s are taken" in said


def test_chakra_traces_with_network_and_system():
    network, system = NETWORK.replace("[ 4, 2 ]", "[ 2, 1 ]"), SYSTEM.replace("halvingDoubling", "direct")
    scenario, said = import_with_notices("astra", {**SENT, "network.yml": network.encode(), "system.json": system.encode()})
    assert scenario.program.splits == 4 and scenario.program.all_reduce == ("ring", "direct") and scenario.program.dimensions == (2, 1)
    dag = is_whole(scenario)
    assert dag.n_flows == 4 * 4 + 1 and dag.n_ranks == 2 and any("without effect here" in notice for notice in said)


def test_a_network_alone_runs_one_all_reduce_by_dimension():
    scenario, said = of("astra", network_yml=NETWORK)
    assert scenario.program.dimensions == (4, 2) and any(notice.startswith("no trace is given: one all-reduce of 64 MB over all 8 NPUs") for notice in said)
    dag, network = is_whole(scenario), build_network(scenario.cluster)
    joined = set(zip(network.port_src.tolist(), network.port_dst.tolist(), strict=True))
    inner = dag.flow_src // 4 == dag.flow_dst // 4
    assert all((a, b) in joined for a, b in zip(dag.flow_src[inner].tolist(), dag.flow_dst[inner].tolist(), strict=True))
    assert int(dag.flow_bytes.sum()) == 2 * 7 * 64_000_000


def test_algorithms_are_those_that_are_given():
    system = json.dumps({"all-reduce-implementation": ["direct", "direct"]})
    scenario, said = of("astra", network_yml=NETWORK, system_json=system)
    assert scenario.program.all_reduce == ("direct", "direct") and scenario.cluster.hosts_forward
    assert any(notice.startswith("NPUs that no dimension joins directly reach each other over others") for notice in said)


def test_process_groups_are_any_other_json():
    traces = {f"t.{rank}.et": trace(all_reduce(1, 8, pg_name="a")) for rank in range(4)}
    scenario = import_files("chakra", {**traces, "groups.json": b'{"a": [3, 2, 1, 0]}'})
    assert scenario.program.ranks == 4 and scenario.program.source == "groups.json, t.0.et, 2 more, t.3.et"


def test_hpcc_files():
    scenario, said = of("hpcc", topology_txt=STAR, flow_txt=FLOWS, config_txt=CONFIG)
    assert [(flow.src, flow.dst, flow.bytes) for flow in scenario.traffic.flows] == [(2, 3, 0), (1, 2, 5_000_000_000), (0, 1, 1000)]
    assert [flow.start_us for flow in scenario.traffic.flows] == [0, 0.001, 500_000]
    transport = scenario.transport
    assert transport.congestion_control == "hpcc" and transport.payload_bytes == 4000 and transport.ecn_kmin_kb == 100 and transport.ecn_kmax_kb == 400
    assert [(fault.kind, fault.a, fault.b, fault.at_us) for fault in scenario.faults] == [("link-down", "2", "4", 5)]
    assert "flows were not in order of their start and have been sorted" in said and scenario.description.endswith("time 0 is 2 s there.")
    is_whole(scenario)


def test_hpcc_files_with_paths_and_without_configuration():
    scenario, said = of("hpcc", topology_txt=STAR, flow_txt=FLOWS, paths_csv="src,dst,path,ack_path\n0,1,0-4-1,1-4-0\n")
    assert [flow.path for flow in scenario.traffic.flows] == [None, None, ("0", "4", "1")]
    assert "no configuration is given: DCQCN with the HPCC simulator's defaults" in said


def test_very_many_flows_are_packed():
    rows = "\n".join(f"{n % 4} {(n + 1) % 4} 3 100 {n} {n}e-6" for n in range(6000))
    scenario, _ = of("hpcc", topology_txt=STAR, flow_txt=f"6000\n{rows}\n")
    dag = is_whole(scenario)
    assert scenario.program.kind == "htsim" and dag.n_flows == 6000 and dag.flow_bytes.tolist() == list(range(6000))
    assert dag.start_ps.tolist() == [n * 10**6 for n in range(6000)]


def test_htsim_files():
    scenario, _ = of("htsim", a_cm=PLAIN, b_topo=THREE)
    assert scenario.traffic.pattern == "flows" and scenario.cluster.gpus == 16 and scenario.traffic.flows[0].bytes == 2
    triggered, said = of("htsim", a_cm=MATRIX, b_topo=THREE)
    assert triggered.program.kind == "htsim" and "12 of 16 GPUs are idle: gpu4 to gpu15" in said
    assert is_whole(triggered).n_flows == 4
    alone, said = of("htsim", b_topo=THREE)
    assert alone.traffic.pattern == "ring" and "no connection matrix is given" in said[0]


@pytest.mark.parametrize(
    "kind, files, words",
    [
        ("hpc", {"a": b"1"}, "import of 'hpc': did you mean 'hpcc'?"),
        ("simai", {}, "import simai: no file is given; it takes a workload"),
        ("simai", {"t": TOPOLOGY.encode()}, "import simai: there is no workload among the files"),
        ("simai", {"a": WORKLOAD.encode(), "b": WORKLOAD.encode()}, "import simai: a and b are both a workload; give one"),
        ("simai", {"a": WORKLOAD.encode(), "readme.md": b"# Hello there"}, "readme.md: begins '# Hello there': is none of what import simai takes"),
        ("simai", {"a": b""}, "a: is empty"),
        ("simai", {"a": b"\xff\xfe"}, "a: cannot be read as text"),
        ("hpcc", {"t": STAR.encode()}, "import hpcc: there is no flow file among the files"),
        ("hpcc", {"t": STAR.encode(), "f": b"3\n0 1 3 100 1000 2.5\n"}, "f:1: 3 flows announced, 1 found"),
        ("hpcc", {"t": STAR.encode(), "f": b"0\n"}, "f: lists 0 flows: at least 1 is needed"),
        ("hpcc", {"t": STAR.encode(), "f": FLOWS.encode(), "c": b"CC_MODE 10\n"}, "c:1: CC_MODE '10': HPCC-PINT is not simulated; the nearest is 3 (HPCC)"),
        ("hpcc", {"t": STAR.encode(), "f": b"1\n0 1 3 100 1 0\n", "c": b"CC_MOD 1\n"}, "c:1: 'CC_MOD' is not one of the 50 keys of the HPCC simulator"),
        ("astra", {"system.json": SYSTEM.encode()}, "import astra: there is no trace or network.yml among the files"),
        ("astra", {**SENT, "n.yml": NETWORK.replace("[ 4, 2 ]", "[ 2, 1 ]").encode(), "s.json": b'{"all-reduce-implementation": ["ring", "ring", "ring"]}'},
         "s.json:1: all-reduce-implementation has 3 algorithms, n.yml 2 dimensions"),
        ("chakra", {f"t.{n}.et": trace() for n in range(9)} | {"n.yml": NETWORK.encode()}, "n.yml:2: npus_count makes 8 NPUs, the traces have 9 ranks"),
        ("htsim", {"a.cm": MATRIX.replace("Nodes 4", "Nodes 40").encode(), "b": THREE.encode()}, "a.cm has 40 nodes, b 16: a node needs a host of its own"),
        ("htsim", {"a.cm": b"Nodes 4\nConnections 0\n"}, "a.cm: lists 0 connections: at least 1 is needed"),
    ],
)  # fmt: skip
def test_refused_in_one_line(kind, files, words):
    assert words in refused(kind, files)


def test_two_parts_of_a_network_are_told():
    torn = STAR.replace("5 1 4", "5 1 3").replace("3 4 100Gbps 1us 0\n", "")
    with pytest.raises(LabError, match="there is no path from 2 to 3.*the network falls into 2 parts"):
        import_files("hpcc", {"t": torn.encode(), "f": FLOWS.encode()})


def test_sizes_are_limited():
    with pytest.raises(FormatError, match="the files hold 11 bytes; at most 10 are read"):
        import_files("hpcc", {"a": b"0" * 11}, limit_bytes=10)
    rows = "".join(f"{n} {300_000 + n}\n" for n in range(10))
    assert "a:" in refused("hpcc", {"a": rows.encode()})


def test_a_scenario_that_could_not_be_read_back_is_refused(monkeypatch):
    monkeypatch.setattr("sim.formats.importing.MAX_SCENARIO_BYTES", 500)
    assert "make a scenario of " in refused("hpcc", {"t": STAR.encode(), "f": FLOWS.encode()})


def test_long_files_of_nothing_do_not_hang():
    for text in ("\n" * 10**6, "# " * 10**6 + "x", " \n" * 10**6 + "Connections", "[" * 10**6, "1 " * 10**6, "a" * 10**7, "A" * 10**6 + " "):
        for kind in IMPORTERS:
            refused(kind, {"file": text.encode()})


FILES = {
    "simai": {"w": SIMAI, "t": TOPOLOGY}, "hpcc": {"t": STAR, "f": FLOWS, "c": CONFIG}, "astra": {"n.yml": NETWORK, "s.json": SYSTEM},
    "htsim": {"a": MATRIX, "b": THREE},
}  # fmt: skip


def refused_or_whole(kind, files):
    try:
        scenario = import_files(kind, files)
    except LabError as problem:
        assert "\n" not in str(problem)
        return
    if scenario.cluster.gpus < 200:
        build_dag(scenario)


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, files in FILES.items() for name in files])
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_damage_to_any_file_ends_in_one_line_or_in_a_scenario(kind, name, data):
    files = {other: whole.encode() for other, whole in FILES[kind].items()}
    refused_or_whole(kind, {**files, name: data.draw(mutated_texts(FILES[kind][name]))})


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(first=mutated_bytes(SENT["t.0.et"]))
def test_any_damage_to_a_trace_ends_in_one_line_or_in_a_scenario(first):
    refused_or_whole("chakra", {**SENT, "t.0.et": first})


def test_every_importer_says_what_it_takes():
    assert all(importer.TAKES for importer in IMPORTERS.values()) and set(IMPORTERS) == {"hpcc", "simai", "astra", "chakra", "htsim"}


def test_what_a_run_would_refuse_is_refused_at_once():
    crossed = {f"t.{rank}.et": trace(all_reduce(1, 8, comm_type=rank), all_reduce(2, 8, [1], comm_type=2 - rank)) for rank in (0, 2)}
    traces = {"t.0.et": crossed["t.0.et"], "t.1.et": crossed["t.2.et"]}
    assert refused("chakra", traces).startswith("deadlock: all-reduce 'n1' (node 1, group of all ranks) on rank 0 waits for rank 1, which waits in all-gather")
