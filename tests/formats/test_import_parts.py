"""What importers put in where files say nothing: buffers that hold what PFC sets aside."""

import math

import pytest

from sim.formats.importing import import_with_notices

MATRIX = b"Nodes %d\nConnections 1\n0->1 id 1 start 0 size 1000\n"
SWITCH = b"topology: [Switch]\nnpus_count: [512]\nbandwidth: [50.0]\nlatency: [500.0]\n"
CLOS = b"Nodes 8\nTiers 2\nTier 0\nDownlink_speed_Gbps 400\nRadix_Up 4\nRadix_Down 4\nDownlink_Latency_ns 100000\nTier 1\nDownlink_speed_Gbps 400\n\
Downlink_Latency_ns 100000\n"
SIMAI = b"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 500\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n"


@pytest.mark.parametrize("kind, files, ports, rate_gbps, delay_us", [
    ("htsim", {"a.cm": MATRIX % 256}, 256, 400, 1),
    ("htsim", {"lat.topo": CLOS}, 8, 400, 100),
    ("astra", {"n.yml": SWITCH}, 512, 400, 0.5),
    ("simai", {"w.txt": SIMAI}, 500, 400, 1),
])  # fmt: skip
def test_a_default_buffer_grows_to_what_the_network_needs(kind, files, ports, rate_gbps, delay_us):
    """Per port a reserve of 4096 B and headroom of three one-way bandwidth-delay products; a quarter more to share."""
    scenario, said = import_with_notices(kind, files)
    need = ports * (4096 + 3 * rate_gbps * 125 * delay_us)
    assert scenario.transport.buffer_mb == math.ceil(need * 1.25 / 1e6)
    assert sum("transport.buffer_mb is set to" in line and f"the {ports} ports of" in line for line in said) == 1


def test_a_default_buffer_that_is_enough_stays():
    scenario, said = import_with_notices("htsim", {"a.cm": MATRIX % 4})
    assert scenario.transport.buffer_mb == 32 and not any("buffer" in line for line in said)
