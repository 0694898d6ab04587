"""Results do not depend on how hosts and switches are numbered: a mirrored network gives mirrored results, pauses included."""

import re

import pytest

from tests.walls import runs

CLUSTER = {
    "topology": "leaf-spine", "gpus": 12, "gpus_per_node": 1, "nvlink_gbps": 0, "nic_gbps": 100, "nic_delay_ns": 1000,
    "fabric_gbps": 400, "fabric_delay_ns": 1000, "hosts_per_leaf": 4, "spines": 2,
}  # fmt: skip

# controller, buffer in MB, flows as from>to:(spine of the data)(spine of the ACKs); in all of them ports of a switch end
# transmissions at one instant whose packets count against different ingresses near their thresholds
CROWDS = [
    ("none", 1.5, "4>1:00 5>0:11 6>0:00 6>1:01 7>0:10 8>1:00 9>1:10 9>0:00 10>0:10 11>0:10"),
    ("none", 4.0, "4>0:11 5>1:10 6>0:10 7>1:00 7>1:11 8>1:00 9>0:01 10>0:00 10>1:00 11>0:11"),
    ("dctcp", 1.5, "4>0:11 5>1:00 6>0:10 7>1:10 8>1:10 9>0:10 10>0:10 10>1:11 11>0:11 11>1:01"),
]


def crowd(controller, buffer_mb, ways):
    flows = [
        {
            "src": a, "dst": b, "bytes": 300_000,
            "path": [f"gpu{a}", f"leaf{a // 4}", f"spine{there}", f"leaf{b // 4}", f"gpu{b}"],
            "ack_path": [f"gpu{b}", f"leaf{b // 4}", f"spine{back}", f"leaf{a // 4}", f"gpu{a}"],
        }
        for a, b, there, back in ways
    ]  # fmt: skip
    transport = {"congestion_control": controller, "pfc": "dynamic", "buffer_mb": buffer_mb}
    return {"cluster": CLUSTER, "traffic": {"pattern": "flows", "flows": flows}, "transport": transport}


@pytest.mark.parametrize("case", CROWDS)
def test_hosts_and_spines_with_other_numbers(case):
    controller, buffer_mb, text = case
    ways = [tuple(map(int, re.fullmatch(r"(\d+)>(\d+):(\d)(\d)", way).groups())) for way in text.split()]
    mirrored = [(a ^ 1, b ^ 1, 1 - there, 1 - back) for a, b, there, back in ways]
    here, there = (runs.run(crowd(controller, buffer_mb, some)) for some in (ways, mirrored))
    assert here["pfc_pauses"] > 0
    for name in ("acked_ps", "end_ps", "flow_marks", "pfc_pauses", "packet_hops", "max_queue_bytes"):
        assert here[name].tolist() == there[name].tolist(), name
