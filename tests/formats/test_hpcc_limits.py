"""What a network or its packets do not allow, in the words and units of the configuration."""

import pytest

from sim.errors import FormatError
from sim.formats.hpcc import case_of_texts

FLOWS = "1\n0 1 3 100 1000 2\n"
FAST = "3 1 2\n2\n0 2 400Gbps 1us 0\n1 2 400Gbps 1us 0\n"
WIDE = "101 1 100\n100\n" + "".join(f"{host} 100 100Gbps 1us 0\n" for host in range(100))


def read(config, topology=FAST):
    return case_of_texts(("t", topology), ("f", FLOWS), ("c", config), windows=False)


@pytest.mark.parametrize(
    "config, words",
    [
        ("CC_MODE 1\nL2_ACK_INTERVAL 2000000\n", "c:2: L2_ACK_INTERVAL '2000000': must be from 0 to 1024000 B, 1024 packets of 1000 B; the nearest is 1024000"),
        ("CC_MODE 1\n\nRATE_HAI 41Tb/s\n", "c:3: RATE_HAI '41Tb/s': must be from 0Mb/s to 40000000Mb/s with NICs of this rate; the nearest is 40000000Mb/s"),
        ("CC_MODE 8\nDCTCP_RATE_AI 41Tb/s\n", "c:2: DCTCP_RATE_AI '41Tb/s': must be"),
        ("CC_MODE 1\nRATE_HAI -5Mb/s\n", "c:2: RATE_HAI '-5Mb/s': must be a rate from 0 b/s to 1 Pb/s; the nearest is 0Mb/s"),
        ("CC_MODE 1\nMIN_RATE 0Mb/s\n", "c:2: MIN_RATE '0Mb/s': must be a rate from 1 Mb/s to 10 Tb/s; the nearest is 1Mb/s"),
        ("CC_MODE 1\nALPHA_RESUME_INTERVAL 1000000000\n",
         "c:2: ALPHA_RESUME_INTERVAL '1000000000': must be one number from 0.001 to 1000000; the nearest is 1000000"),
        ("CC_MODE 1\nPMAX_MAP 2 100 0.1 100 0.2\n", "c:2: PMAX_MAP '2 100 0.1 100 0.2': rate 100 stands twice: must be each rate once, n 1"),
        ("PMAX_MAP 1 100000000000 1\nKMIN_MAP 1 100000000000 4000\nKMAX_MAP 1 400000000000 1600\n",
         "c:2: KMIN_MAP 4000 kB at 100 Gb/s: must be at most 400 kB, as KMAX_MAP in line 3 has it there; the nearest is 400"),
    ],
)  # fmt: skip
def test_refused_in_the_words_of_the_file(config, words):
    with pytest.raises(FormatError) as caught:
        read(config)
    assert str(caught.value).startswith(words)


def test_what_is_the_nearest_is_taken():
    assert read("CC_MODE 1\nL2_ACK_INTERVAL 1024000\n").transport.ack_every == 1024
    assert read("CC_MODE 1\nRATE_HAI 40000000Mb/s\nMIN_RATE 1Mb/s\n").transport.parameters["hyper_mbps"] == 1e7


def test_a_buffer_in_mib():
    with pytest.raises(FormatError, match=r"^c:2: BUFFER_SIZE '2': must be MiB .* of the 100 ports of switch 100, 4.16 MB; the nearest is 4$"):
        read("CC_MODE 1\nBUFFER_SIZE 2\n", WIDE)
    assert read("CC_MODE 1\nBUFFER_SIZE 4\n", WIDE).config.buffer_mib == 4
    with pytest.raises(FormatError, match=r"^c: BUFFER_SIZE is not given, 16: must be MiB"):
        read("CC_MODE 1\n", WIDE.replace("100Gbps 1us", "400Gbps 20us"))
