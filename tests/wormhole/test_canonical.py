"""States that look alike but for which ports belong together are told apart: pauses go back over the same link."""

from tests.wormhole.test_exact import compare

CLUSTER = {
    "topology": "leaf-spine", "gpus": 8, "gpus_per_node": 1, "nvlink_gbps": 0, "nic_gbps": 25, "nic_delay_ns": 500,
    "fabric_gbps": 25, "fabric_delay_ns": 1000, "hosts_per_leaf": 4, "spines": 2,
}  # fmt: skip


def pair(size_bytes, *ways):
    """Hosts 4 and 5 send to host 0, every 500 us over other spines: `ways` are, each time, (data, ACKs) of both flows."""
    flows = [
        {
            "src": src, "dst": 0, "bytes": size_bytes, "start_us": 500.0 * turn,
            "path": [f"gpu{src}", "leaf1", f"spine{there}", "leaf0", "gpu0"],
            "ack_path": ["gpu0", "leaf0", f"spine{back}", "leaf1", f"gpu{src}"],
        }
        for turn, both in enumerate(ways)
        for src, (there, back) in zip((4, 5), both, strict=True)
    ]  # fmt: skip
    transport = {"congestion_control": "dcqcn", "payload_bytes": 4096, "pfc": "dynamic", "buffer_mb": 1.0, "ack_priority": "strict"}
    return {"cluster": CLUSTER, "traffic": {"pattern": "flows", "flows": flows}, "transport": transport}


ACROSS, ALONG = ((0, 1), (1, 0)), ((0, 0), (1, 1))


def test_acks_over_the_link_that_is_paused_and_over_another_one():
    different, found = compare(pair(500_000, ACROSS, ALONG))
    assert different == {}
    assert found.result().summary["pfc_pauses"] > 0
    assert found.kernel_counters()["packet_hops"]["replayed"] == 0


def test_the_same_over_other_links_is_replayed():
    different, found = compare(pair(500_000, ALONG, ALONG[::-1], ALONG))
    assert different == {}
    hops = found.kernel_counters()["packet_hops"]
    assert hops["replayed"] == hops["total"] - hops["irreducible"] == 2 * hops["irreducible"]
