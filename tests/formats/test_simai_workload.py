"""SimAI workloads: header, layers, and every way to be refused."""

import pytest
from hypothesis import given, settings

from sim.errors import FormatError, ScenarioError
from sim.formats.simai_workload import is_simai_workload, read_simai_workload
from sim.formats.text import text_of
from sim.workload.program_simai_work import from_text, to_text
from tests.formats.mutate import mutated_texts, one_line_or_answer

HEADER = (
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 2 vpp: 1 ga: 4 all_gpus: 16 checkpoints: 0 "
    "checkpoint_initiates: 0 pp_comm: 4096"
)
LAYERS = (
    "embedding\t-1\t556000\tALLREDUCE\t16777216\t1\tNONE\t0\t1\tNONE\t0\t100\n"
    "moe -1 3000000000 ALLTOALL_EP 5000000000 7 ALLTOALL_EP 0 9 REDUCESCATTER_DP_EP 64 0\n"
)
WORKLOAD = f"{HEADER}\n2\n{LAYERS}"


def test_a_workload():
    work, said = read_simai_workload(WORKLOAD)
    assert (work.tp, work.ep, work.pp, work.vpp, work.ga, work.gpus, work.dp, work.pp_comm_bytes) == (2, 2, 2, 1, 4, 16, 4, 4096)
    assert work.name == ["embedding", "moe"] and work.update_ns.tolist() == [100, 0]
    assert work.ns.tolist() == [[556000, 3_000_000_000], [1, 7], [1, 9]]
    assert work.comm == [["ALLREDUCE", "ALLTOALL_EP"], ["NONE", "ALLTOALL_EP"], ["NONE", "REDUCESCATTER_DP_EP"]]
    assert work.n_bytes.tolist() == [[16777216, 5_000_000_000], [0, 0], [0, 64]]
    assert said == ["collectives of 0 bytes are done after their path's delay: 1"]


def test_what_the_generators_write_besides():
    work, said = read_simai_workload(WORKLOAD.replace(" pp_comm: 4096", ""))
    assert work.pp_comm_bytes == 0 and said[0] == "pp_comm is not given: pipeline stages hand over 0 bytes"
    assert read_simai_workload(WORKLOAD.replace("pp_comm: 4096", "pp_comm 4096.0"))[0].pp_comm_bytes == 4096
    assert "vpp 12" in read_simai_workload(WORKLOAD.replace("vpp: 1", "vpp: 12"))[1][0]
    assert "bytes beside NONE are not sent: 1" in read_simai_workload(WORKLOAD.replace("NONE\t0", "NONE\t8", 1))[1][0]


def test_windows_line_ends_and_a_byte_order_mark():
    work, _ = read_simai_workload(text_of(b"\xef\xbb\xbf" + WORKLOAD.replace("\n", "\r\n").encode(), "w"))
    assert to_text(work) == to_text(read_simai_workload(WORKLOAD)[0])


def test_tp_1_with_ep_8_works():
    work, _ = read_simai_workload(WORKLOAD.replace("group: 2 ep: 2 pp: 2", "group: 1 ep: 8 pp: 2"))
    assert (work.tp, work.ep, work.dp) == (1, 8, 8)


def test_the_canonical_text_says_the_same():
    work, _ = read_simai_workload(WORKLOAD)
    again = from_text(to_text(work))
    assert to_text(again) == to_text(work) and again.n_bytes.tolist() == work.n_bytes.tolist()
    many, _ = read_simai_workload(f"{HEADER}\n200\n" + LAYERS * 100)
    assert to_text(many).startswith("zlib:") and len(from_text(to_text(many)).name) == 200


def test_recognised():
    assert is_simai_workload(WORKLOAD) and is_simai_workload("DATA model_parallel_NPU_group: 8") and not is_simai_workload("5 1 4\n")


@pytest.mark.parametrize(
    "text, words",
    [
        ("", ["w.txt: is empty"]),
        (WORKLOAD.replace("HYBRID_TRANSFORMER_FWD_IN_BCKWD", "MICRO"), ["w.txt:1: policy 'MICRO': only HYBRID_TRANSFORMER_FWD_IN_BCKWD"]),
        (WORKLOAD.replace(" ga: 4", ""), ["w.txt:1: ga is missing", "must be like HYBRID"]),
        (WORKLOAD.replace("vpp:", "vvp:"), ["w.txt:1: 'vvp' is not a key of the header: did you mean 'vpp'?"]),
        (WORKLOAD.replace(" vpp: 1", " pp: 1"), ["w.txt:1: pp stands twice"]),
        (WORKLOAD.replace("pp_comm: 4096", "pp_comm:"), ["w.txt:1: pp_comm has no value"]),
        (WORKLOAD.replace("checkpoints: 0", "checkpoints: 2"), ["w.txt:1: checkpoints '2'", "the nearest is 0"]),
        (WORKLOAD.replace("group: 2", "group: 0"), ["w.txt:1: model_parallel_NPU_group '0'", "from 1 to 65536; the nearest is 1"]),
        (WORKLOAD.replace("group: 2", "group: eight"), ["w.txt:1: model_parallel_NPU_group 'eight'"]),
        (WORKLOAD.replace("all_gpus: 16", "all_gpus: 18"), ["w.txt:1: all_gpus 18: must be a multiple of model_parallel", "2 x 2 = 4", "16 or 20"]),
        (WORKLOAD.replace("ep: 2", "ep: 3"), ["w.txt:1: ep 3: must divide the 8 GPUs of a pipeline stage (all_gpus 16 / pp 2)", "the nearest is 2"]),
        (WORKLOAD.replace("\n2\n", "\n3\n"), ["w.txt:2: 3 layers announced, 2 found"]),
        (WORKLOAD.replace("\n2\n", "\n1\n"), ["w.txt:2: 1 layers announced, 2 found", "write 2 there"]),
        (HEADER + "\n", ["w.txt:2: the number of layers is missing"]),
        (HEADER + "\n1\n", ["w.txt:2: 1 layers announced, 0 found", "a layer is: name -1"]),
        (WORKLOAD.replace("\n2\n", "\n2 2\n"), ["w.txt:2: 2 values: must be the number of layers alone"]),
        (WORKLOAD.replace("moe -1", "moe 0"), ["w.txt:4: dependency '0': must be -1"]),
        (WORKLOAD.replace("ALLTOALL_EP 5", "ALLTOALLEP 5"), ["w.txt:4: fwd communication 'ALLTOALLEP' is not known: did you mean 'ALLTOALL_EP'?"]),
        (WORKLOAD.replace("5000000000", "5GB"), ["w.txt:4: fwd bytes '5GB'", "whole number"]),
        (WORKLOAD.replace("3000000000", "-3"), ["w.txt:4: fwd_ns '-3'"]),
        (WORKLOAD.replace(" 64 0\n", " 64\n"), ["w.txt:4: 11 values instead of 12: a layer is"]),
    ],
)
def test_refused_in_one_line(text, words):
    with pytest.raises(FormatError) as caught:
        read_simai_workload(text, "w.txt")
    assert "\n" not in str(caught.value) and all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    "change, words",
    [
        (('"tp":2', '"tp":0'), "program.work: tp = 0: must be a whole number from 1"),
        (('"tp":2', '"tp":true'), "tp = True"),
        (('"tp":2', '"tq":2'), "'tq' is not a known key"),
        (('"gpus":16', '"gpus":18'), "program.work: all_gpus 18"),
        (("ALLREDUCE", "ALLREDUC"), "is not a collective"),
        (("{", "["), "is damaged"),
        (('["moe"', "[7"), "names must be a list of words"),
        (("16777216", "-1"), r"fwd_bytes\[0\] = -1"),
        (('"layers"', '"lairs"'), "'lairs' is not a known key"),
    ],
)
def test_a_canonical_text_that_was_tampered_with(change, words):
    with pytest.raises(ScenarioError, match=words):
        from_text(to_text(read_simai_workload(WORKLOAD)[0]).replace(*change, 1))


@settings(max_examples=150, deadline=None)
@given(mutated_texts(WORKLOAD))
def test_any_damage_ends_in_one_line_or_in_a_workload(content):
    found = one_line_or_answer(lambda: read_simai_workload(text_of(content, "w"), "w"))
    if found:
        assert to_text(from_text(to_text(found[0]))) == to_text(found[0])


@pytest.mark.parametrize("word", ["NONE_EP", "NONE_DP_EP"])
def test_none_takes_each_suffix_too(word):
    plain = "a -1 1 NONE 0 1 NONE 0 1 NONE 0 1"
    header = WORKLOAD.split("\n")[0]
    found = [read_simai_workload(f"{header}\n1\n{row}\n") for row in (plain, plain.replace("NONE", word))]
    assert found[0][0].comm == found[1][0].comm == [["NONE"], ["NONE"], ["NONE"]] and found[0][1] == found[1][1]
