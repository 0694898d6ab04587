"""Configuration files: every known key, and every way to be refused."""

import pytest

from sim.errors import FormatError
from sim.formats.hpcc_config import KEYS, read_config

GOOD = {
    "CC_MODE": ("8", "dctcp"), "LINK_DOWN": ("10 0 4", (10, 0, 4)), "RATE_AI": ("50Mb/s", 50_000_000), "RATE_HAI": ("0.5Gbps", 500_000_000),
    "DCTCP_RATE_AI": ("615Mb/s", 615_000_000), "MIN_RATE": ("1000Mb/s", 10**9),
    "KMIN_MAP": ("2 100000000000 400 400000000000 1600", {10**11: 400, 4 * 10**11: 1600}),
    "KMAX_MAP": ("1 100000000000 1600", {10**11: 1600}), "PMAX_MAP": ("1 100000000000 0.2", {10**11: 0.2}), "EWMA_GAIN": ("0.0625", 0.0625),
    "U_TARGET": ("0.95", 0.95), "SIMULATOR_STOP_TIME": ("4.00", 4.0), "ERROR_RATE_PER_LINK": ("0.001", 0.001), "PACKET_PAYLOAD_SIZE": ("1000", 1000),
    "L2_CHUNK_SIZE": ("4000", 4000), "L2_ACK_INTERVAL": ("1", 1), "BUFFER_SIZE": ("32", 32), "MI_THRESH": ("0", 0), "INT_MULTI": ("4", 4),
    "FAST_RECOVERY_TIMES": ("1", 1), "ALPHA_RESUME_INTERVAL": ("1", 1), "RATE_DECREASE_INTERVAL": ("4", 4), "RP_TIMER": ("300", 300),
}  # fmt: skip


def test_every_key_is_read():
    text = "".join(
        f"{key} {GOOD.get(key, ('1',))[0]}\n" for key in KEYS if key not in ("MULTI_RATE", "SAMPLE_FEEDBACK")
    )
    config = read_config(text)
    for key, (name, _) in KEYS.items():
        if key not in ("MULTI_RATE", "SAMPLE_FEEDBACK"):
            assert getattr(config, name) == GOOD.get(key, (None, True))[1], key
    assert config.notices == ()


def test_empty_is_the_simulators_default():
    config = read_config("\n# nothing\n")
    assert config.controller == "dcqcn" and config.has_window and config.payload_bytes == 1000
    assert config.notices == ("CC_MODE is not given: 1 (dcqcn), the simulator's default, is used",)


def test_keys_of_outputs_are_passed_over():
    assert read_config("CC_MODE 3\nTRACE_OUTPUT_FILE mix/trace.tr\nPINT_PROB 1.0\n").controller == "hpcc"


def test_a_key_twice_is_said():
    config = read_config("CC_MODE 3\nCC_MODE 7\n", "c.txt")
    assert config.controller == "timely" and config.notices == (
        "CC_MODE stands in lines 1 and 2 of c.txt: the last counts",
    )


@pytest.mark.parametrize(
    "text, words",
    [
        ("CC_MODE 10\n", ["c.txt:1: CC_MODE '10'", "HPCC-PINT", "nearest is 3"]),
        ("CC_MODE 2\n", ["CC_MODE '2': must be one of 1 (dcqcn), 3 (hpcc)"]),
        ("CC_MOD 1\n", ["c.txt:1: 'CC_MOD' is not one of the 50 keys of the HPCC simulator: did you mean 'CC_MODE'?"]),
        ("XYZ 1\n", ["is not one of the 50 keys of the HPCC simulator: the nearest are '"]),
        ("CC_MODE 1\nRATE_AI 50\n", ["c.txt:2: RATE_AI '50'", "did you mean 50Mb/s?"]),
        ("RATE_AI\n", ["c.txt:1: RATE_AI ''", "like 50Mb/s"]),
        ("U_TARGET 1.5\n", ["c.txt:1: U_TARGET '1.5'", "from 0.01 to 1; the nearest is 1"]),
        ("PACKET_PAYLOAD_SIZE 0\n", ["must be one whole number from 1 to 65536; the nearest is 1"]),
        ("PACKET_PAYLOAD_SIZE 10.5\n", ["whole number"]),
        ("PACKET_PAYLOAD_SIZE 1e400\n", ["must be one whole number from 1 to 65536; the nearest is 65536"]),
        ("BUFFER_SIZE 3_2\n", ["BUFFER_SIZE '3_2': must be one whole number from 1 to"]),
        ("SIMULATOR_STOP_TIME ٣\n", ["must be one number from 0 to"]),
        ("RATE_AI １００Gbps\n", ["RATE_AI '１００Gbps': must be one rate with its unit"]),
        ("HAS_WIN yes\n", ["HAS_WIN 'yes': must be 0 or 1"]),
        ("KMIN_MAP 2 100000000000 400\n", ["KMIN_MAP", "2 rates announced, 1 found"]),
        ("KMIN_MAP 1 100Gbps 400\n", ["rate '100Gbps' must be whole bit/s"]),
        ("PMAX_MAP 1 100000000000 2\n", ["from 0 to 1", "nearest is 1"]),
        ("LINK_DOWN 3 0\n", ["LINK_DOWN", "time_us node node"]),
        ("EWMA_GAIN nan\n", ["EWMA_GAIN 'nan'"]),
        ("RP_TIMER 0\n", ["RP_TIMER '0'", "from 0.001"]),
        ("CC_MODE 3\nMULTI_RATE 1\n", ["c.txt:2: MULTI_RATE '1'", "nearest is MULTI_RATE 0"]),
    ],
)
def test_refused_in_one_line(text, words):
    with pytest.raises(FormatError) as caught:
        read_config(text, "c.txt")
    assert "\n" not in str(caught.value)
    assert all(word in str(caught.value) for word in words), caught.value
