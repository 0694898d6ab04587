"""Scenarios in which a run along the graph of states once differed from packet mode, each for a reason of its own."""

from tests.wormhole.test_exact import NO_GUARD, compare


def test_nics_that_wake_at_one_instant():
    """Two links fail and come up together: what their ports sent before decides no tie."""
    links = [{"kind": kind, "a": "switch0", "b": host, "at_us": at} for kind, at in (("link-down", 10), ("link-up", 11)) for host in ("gpu1", "gpu2")]
    data = {
        "cluster": {"topology": "one-switch", "gpus": 8, "gpus_per_node": 1, "nic_gbps": 100, "nic_delay_ns": 500},
        "transport": {"buffer_mb": 0.5},
        "traffic": {"pattern": "incast", "senders": 5, "flow_bytes": 60_000},
        "faults": links,
    }
    for guard in (None, NO_GUARD):
        assert compare(data, guard=guard)[0] == {}


def test_a_pause_that_begins_as_an_episode_ends():
    data = {
        "cluster": {"topology": "fat-tree", "gpus": 16, "gpus_per_node": 4, "nic_gbps": 25},
        "transport": {"payload_bytes": 4096, "ack_every": 2, "pfc": "fixed", "pfc_xoff_kb": 50},
        "model": {"layers": 2, "hidden": 128, "heads": 8, "vocabulary": 1024, "sequence": 128, "experts": 2},
        "parallelism": {"pp": 2, "micro_batch": 2, "optimizer": "zero-2", "recompute": "full", "placement": "spread"},
    }
    different, found = compare(data, guard=None)
    assert different == {}
    assert found.result().raw.port_pauses.sum() > 0


def test_flows_that_move_to_another_nic_queue_up_as_they_entered():
    data = {
        "cluster": {"topology": "fat-tree", "gpus": 8, "gpus_per_node": 4, "nic_gbps": 10, "nic_delay_ns": 0, "fabric_delay_ns": 1000},
        "transport": {"congestion_control": "hpcc", "payload_bytes": 257},
        "model": {"layers": 2, "hidden": 256, "heads": 8, "vocabulary": 1024, "sequence": 128, "tied_embeddings": False, "experts": 2, "top_k": 2},
        "parallelism": {
            "cp": 2, "ep": 2, "dp": 2, "micro_batches": 5, "optimizer": "distributed", "recompute": "selective", "iterations": 2,
            "bucket_parameters": 100_000, "context_form": "ring", "expert_skew": 0.3,
        },
        "jobs": [
            {
                "gpus": 4,
                "model": {"layers": 4, "hidden": 128, "heads": 8, "vocabulary": 1024, "sequence": 256, "tied_embeddings": False, "experts": 2, "top_k": 1},
                "parallelism": {
                    "pp": 2, "dp": 2, "micro_batches": 3, "optimizer": "zero-3", "recompute": "selective", "iterations": 3, "placement": "spread",
                },
            }
        ],
        "faults": [{"kind": "link-down", "a": "nvswitch1", "b": "gpu6", "at_us": 100}],
    }  # fmt: skip
    assert compare(data, guard=None)[0] == {}


def test_a_pause_that_lasts_when_a_period_is_measured():
    """400 Gb/s into 100 Gb/s: the NIC is paused most of the time, also where periods begin and end."""
    data = {
        "cluster": {"topology": "rail-optimised", "gpus": 12, "gpus_per_node": 2, "nvlink_gbps": 0, "nic_gbps": 400, "fabric_gbps": 100},
        "transport": {"payload_bytes": 9000, "header_bytes": 100, "ack_priority": "strict", "pfc": "fixed", "pfc_xoff_kb": 100, "window": "bdp"},
        "traffic": {"pattern": "flows", "flows": [{"src": 5, "dst": 4, "bytes": 3_000_000, "start_us": 0}]},
    }  # fmt: skip
    different, found = compare(data, guard=None)
    assert different == {}
    assert found.result().raw.port_pauses.sum() > 10 and found.kernel_counters()["packet_hops"]["skipped"] > 0
