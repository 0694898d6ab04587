"""Scenarios: what is refused and in which words, what is filled in, what the digest sees."""

import pytest

from sim.errors import LabError, ScenarioError
from sim.scenario import Cluster, Fault, Scenario, Transport, legal_strategies, notices

GPT = {
    "name": "gpt",
    "cluster": {"topology": "rail-optimised", "gpus": 64},
    "model": {"name": "gpt-7b"},
    "parallelism": {"tp": 8, "pp": 2, "dp": 4},
}
FLOWS = {"cluster": {"topology": "one-switch", "gpus": 16, "nvlink_gbps": 0.0}, "traffic": {"pattern": "incast"}}


@pytest.fixture
def gpt():
    return Scenario.from_data(GPT)


@pytest.fixture
def incast():
    return Scenario.from_data(FLOWS)


def refusal(scenario, **changes):
    with pytest.raises(ScenarioError) as caught:
        scenario.replace_all({key.replace("__", "."): value for key, value in changes.items()})
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_dependent_defaults_are_filled(gpt):
    assert (gpt.model.layers, gpt.model.hidden, gpt.model.sequence) == (36, 4096, 2048)
    assert (gpt.cluster.leaves, gpt.cluster.spines, gpt.cluster.hosts_per_leaf) == (8, 8, 8)
    assert (gpt.cluster.fabric_gbps, gpt.cluster.nvlink_gbps) == (400.0, 3600.0)
    assert gpt.parallelism.micro_batches == 2


def test_filled_defaults_do_not_stick(gpt):
    assert gpt.replace("model.name", "gpt-13b").model.layers == 40
    assert gpt.replace("cluster.nic_gbps", 100.0).cluster.fabric_gbps == 100.0
    assert gpt.given() == GPT


def test_overriding_the_hidden_size_rescales_the_mlp(gpt):
    assert gpt.replace("model.hidden", 2048).model.ffn_hidden == 8192


def test_dp_is_derived_from_the_gpus(gpt):
    assert gpt.replace("parallelism.dp", None).replace("cluster.gpus", 128).parallelism.dp == 8


def test_frozen(gpt):
    with pytest.raises(Exception, match="frozen"):
        gpt.cluster.gpus = 3


@pytest.mark.parametrize(
    "key, value, words",
    [
        ("cluster.gpuss", 3, ["cluster.gpuss is not a known key", "did you mean 'gpus'?"]),
        ("clustr.gpus", 3, ["clustr.gpus is not a known key", "did you mean 'cluster'?"]),
        ("cluster.topology", "fattree", ["cluster.topology = 'fattree'", "did you mean 'fat-tree'?", "leaf-spine"]),
        ("transport.congestion_control", "dqcn", ["did you mean 'dcqcn'?", "swift"]),
        ("transport.payload_bytes", 0, ["transport.payload_bytes = 0: must be at least 1", "nearest is 1"]),
        ("traffic", {"pattern": "ring", "flow_bytes": 2**50 + 1}, [f"must be at most {2**50}; the nearest is {2**50}"]),
        ("transport.payload_bytes", 10.5, ["transport.payload_bytes = 10.5: must be a whole number"]),
        ("transport.payload_bytes", True, ["must be a whole number"]),
        ("transport.buffer_mb", float("nan"), ["must be a finite number"]),
        ("transport.ecn_pmax", "1", ["transport.ecn_pmax = '1': must be a number"]),
        ("cluster.gpu", "h100", ["'h100' is not in the catalogue", "did you mean 'H100-SXM'?"]),
        ("model.name", "gpt7b", ["'gpt7b' is not in the catalogue", "did you mean 'gpt-7b'?"]),
        ("cluster.gpus", 65, ["whole servers of cluster.gpus_per_node = 8", "64 and 72"]),
        ("cluster.tiers", 4, ["must be at most 3"]),
        ("name.x", 3, ["name is a value, not a section"]),
        ("faults", [{"kind": "degrad", "a": 1, "b": 2}], ["faults.0.kind = 'degrad'", "did you mean 'degrade'?"]),
        ("faults", [{"kind": "loss", "a": 1, "b": 2}], ["loss of 1-2 needs probability"]),
        ("cluster", None, ["cluster is missing"]),
    ],
)
def test_one_line_names_key_value_rule_and_the_nearest(gpt, key, value, words):
    message = refusal(gpt, **{key: value})
    assert all(word in message for word in words), message


def test_a_section_built_alone_is_refused_in_the_same_words():
    with pytest.raises(ScenarioError, match=r"cluster\.gpus = -1: must be at least 2"):
        Cluster(topology="one-switch", gpus=-1)
    with pytest.raises(ScenarioError, match=r"transport\.ecn_kmin_kb = 9: must be at most ecn_kmax_kb = 3"):
        Transport(ecn_kmin_kb=9.0, ecn_kmax_kb=3.0)
    with pytest.raises(ScenarioError, match="link-down of 0-1 takes no rate_factor"):
        Fault(kind="link-down", a=0, b=1, rate_factor=0.5)


def test_a_world_that_is_not_the_gpus_says_where_each_number_came_from(gpt):
    message = refusal(gpt, parallelism__dp=8)
    for word in (
        "parallelism.tp = 8",
        "parallelism.pp = 2",
        "parallelism.dp = 8",
        "is 128 GPUs",
        "more than cluster.gpus = 64",
        "TP 8 PP 2 DP 4",
    ):
        assert word in message
    assert "is 48 GPUs" in refusal(gpt, parallelism__dp=3)


def test_batch_not_divisible_offers_batches_and_strategies(gpt):
    wide = gpt.replace_all(
        {"model.name": "gpt-175b", "cluster.gpus": 1472, "parallelism.pp": 8, "parallelism.dp": None}
    )
    assert wide.parallelism.dp == 23
    message = refusal(wide, parallelism__global_batch=32)
    assert (
        "parallelism.global_batch = 32: must be a multiple of dp x micro_batch = 23 x 1 = 23; the nearest are 23 and 46"
        in message.replace(" or ", " and ")
    )
    assert "DP 16 with cluster.gpus = 1024" in message
    assert "TP 8 PP 4 DP 2" in refusal(gpt, parallelism__global_batch=6)


def test_global_batch_makes_micro_batches(gpt):
    assert gpt.replace("parallelism.global_batch", 32).parallelism.micro_batches == 8
    assert "makes 8; give one of the two" in refusal(gpt, parallelism__global_batch=32, parallelism__micro_batches=4)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"parallelism.tp": 3}, ["tp = 3: must divide cluster.gpus_per_node = 8", "TP 4"]),
        ({"parallelism.tp": 12}, ["tp = 12: must divide cluster.gpus_per_node = 8 or be a multiple of it"]),
        ({"parallelism.pp": 5}, ["pp = 5: must divide model.layers = 36"]),
        ({"model.heads": 4}, ["tp = 8: must divide model.heads = 4"]),
        ({"model.heads": 33}, ["model.heads = 33: must divide model.hidden = 4096; the nearest is 32"]),
        ({"model.name": None}, ["model.layers is missing"]),
    ],
)
def test_shapes_must_divide(gpt, changes, words):
    message = refusal(gpt, **changes)
    assert all(word in message for word in words), message


def test_every_strategy_offered_is_legal(gpt):
    offered = legal_strategies(gpt.model, gpt.cluster, gpt.parallelism, 8, 2, 4)
    assert offered[0] == (8, 2, 4) and len(offered) > 5
    for tp, pp, dp in offered:
        changed = gpt.replace_all({"parallelism.tp": tp, "parallelism.pp": pp, "parallelism.dp": dp})
        assert notices(changed) == []


def test_a_small_workload_on_a_large_cluster_lists_the_idle_gpus(gpt):
    small = gpt.replace_all({"cluster.gpus": 128, "parallelism.dp": 4})
    assert notices(small) == ["64 of 128 GPUs are idle: gpu64 to gpu127"]


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"traffic.receiver": 16}, ["traffic.receiver = 16", "legal range 0 to 15"]),
        ({"traffic.senders": 16}, ["traffic.senders = 16", "nearest is 15"]),
        ({"traffic.pattern": "flows"}, ["traffic.flows is empty"]),
        ({"traffic.flows": [{"src": 0, "dst": 1, "bytes": 1}]}, ["did you mean pattern 'flows'?"]),
        (
            {"traffic": {"pattern": "flows", "flows": [{"src": 3, "dst": 3, "bytes": 1}]}},
            ["traffic.flows.0: src = dst = 3", "itself"],
        ),
        (
            {"traffic": {"pattern": "flows", "flows": [{"src": 3, "dst": 40, "bytes": 1}]}},
            ["traffic.flows.0.dst = 40", "0 to 15"],
        ),
        (
            {"traffic": {"pattern": "flows", "flows": [{"src": 3, "dst": 4, "bytes": -1}]}},
            ["traffic.flows.0.bytes = -1: must be at least 0"],
        ),
        ({"traffic": None}, ["[model] is missing"]),
        ({"model": {"name": "gpt-7b"}}, ["[traffic] and [model] exclude each other"]),
    ],
)
def test_traffic(incast, changes, words):
    message = refusal(incast, **changes)
    assert all(word in message for word in words), message


@pytest.mark.parametrize("size", [0, 4, 5_000_000_000])
def test_any_size_works(incast, size):
    changed = incast.replace("traffic.flow_bytes", size)
    assert any("0 bytes" in line for line in notices(changed)) == (size == 0)


@pytest.mark.parametrize(
    "cluster, words",
    [
        ({"topology": "fat-tree", "gpus": 64, "fat_tree_k": 4}, ["k^3/4 = 16 hosts", "smallest that fits is 8"]),
        ({"topology": "fat-tree", "gpus": 16, "fat_tree_k": 5}, ["must be even; the nearest are 4 and 6"]),
        ({"topology": "fat-tree", "gpus": 128, "oversubscription": 3.0}, ["whole", "the nearest is 4"]),
        (
            {"topology": "leaf-spine", "gpus": 64, "leaves": 2, "hosts_per_leaf": 16},
            ["hold 32 of the 64 GPUs", "leaves = 4 or hosts_per_leaf = 32"],
        ),
        (
            {"topology": "leaf-spine", "gpus": 64, "spines": 16, "oversubscription": 2.0},
            ["disagrees with cluster.spines = 16"],
        ),
        ({"topology": "rail-optimised", "gpus": 64, "leaves": 3}, ["make 8 leaves"]),
        ({"topology": "file"}, ["cluster.graph is missing"]),
    ],
)
def test_cluster_sizes(cluster, words):
    with pytest.raises(ScenarioError) as caught:
        Cluster(**cluster)
    assert all(word in str(caught.value) for word in words), caught.value


def test_oversubscription_makes_fewer_spines():
    assert Cluster(topology="leaf-spine", gpus=64, hosts_per_leaf=16, oversubscription=4.0).spines == 4
    assert Cluster(topology="rail-optimised", gpus=1024).leaves == 32
    assert Cluster(topology="rail-optimised", gpus=256, tiers=3).pod_servers == 16


def test_digest_sees_content_and_only_content(gpt):
    assert gpt.digest() == gpt.replace("title", "other").replace("name", "n").digest()
    assert gpt.digest() == gpt.replace("transport.payload_bytes", 1000).digest(), "a default written out"
    assert gpt.digest() != gpt.replace("simulation.seed", 2).digest()
    assert len(gpt.digest()) == 64


def test_hpcc_has_an_arithmetic_and_no_other_controller(incast):
    by_hpcc = incast.replace("transport.congestion_control", "hpcc")
    assert (by_hpcc.transport.hpcc_arithmetic, incast.transport.hpcc_arithmetic) == ("fixed", None)
    assert by_hpcc.replace("transport.int_telemetry", "ns3").transport.hpcc_arithmetic == "float"
    assert by_hpcc.digest() == by_hpcc.replace("transport.hpcc_arithmetic", "fixed").digest()
    assert by_hpcc.digest() != by_hpcc.replace("transport.hpcc_arithmetic", "float").digest()
    told = refusal(incast, transport__hpcc_arithmetic="float")
    assert "congestion_control 'dcqcn' has no such choice; leave the key out" in told
    told = refusal(by_hpcc, transport__hpcc_arithmetic="fixed", transport__int_telemetry="ns3")
    assert 'needs int_telemetry = "exact"' in told
    assert "did you mean 'fixed'" in refusal(by_hpcc, transport__hpcc_arithmetic="fixd")


def test_replace_steps_into_lists(incast):
    failing = incast.replace("faults", [{"kind": "link-down", "a": "gpu0", "b": 16, "at_us": 5.0}])
    assert failing.replace("faults.0.at_us", 7).faults[0].at_us == 7.0
    assert failing.faults[0].b == "16"
    assert "entries 0 to 0" in refusal(failing, faults__3__at_us=1.0)


def test_an_entry_of_a_list_that_is_not_there(gpt):
    with pytest.raises(ScenarioError, match=r"^jobs\.0\.start_us: jobs is empty; give a list of tables, like jobs = \[\{\.\.\.\}\]$"):
        gpt.replace("jobs.0.start_us", 5.0)


def test_errors_are_never_pydantics(gpt):
    for data in (
        {},
        {"cluster": 3},
        {"cluster": []},
        {"cluster": {"topology": 3}},
        {**GPT, "expect": {"iteration_s": 3}},
        {**GPT, "faults": 7},
    ):
        with pytest.raises(LabError):
            Scenario.from_data(data)


def test_a_mixture_without_its_experts_is_dense(gpt):
    dense = gpt.replace_all({"model.name": "mixtral-8x7b", "model.experts": 0}).model
    assert (dense.experts, dense.top_k, dense.expert_ffn, dense.ffn_hidden) == (0, 0, 0, 14336)
    assert "model.top_k = 2: needs model.experts" in refusal(gpt, model__top_k=2)
