"""`import`: files of other tools in, a scenario that runs out."""

import pytest

from sim.preset import load_preset
from tests.formats.test_htsim_cm import MATRIX
from tests.formats.test_htsim_topo import THREE
from tests.formats.test_importing import CONFIG, FLOWS, NETWORK, SENT, SIMAI, STAR, TOPOLOGY

FILES = {
    "hpcc": {"topology.txt": STAR, "flow.txt": FLOWS, "config.txt": CONFIG}, "simai": {"workload.txt": SIMAI, "topology": TOPOLOGY},
    "astra": {"network.yml": NETWORK}, "chakra": SENT, "htsim": {"a.cm": MATRIX, "a.topo": THREE},
}  # fmt: skip


def written(where, files):
    for name, content in files.items():
        (where / name).write_bytes(content if isinstance(content, bytes) else content.replace("\n", "\r\n").encode())
    return [where / name for name in files]


@pytest.mark.parametrize("kind", FILES)
def test_what_is_imported_runs(sim, tmp_path, kind):
    done = sim("import", kind, *written(tmp_path, FILES[kind]), "--out", tmp_path / "made.toml")
    assert done.code == 0, done.error
    assert done.out.startswith(f"{tmp_path / 'made.toml'}: Imported from ") and "python -m sim run" in done.out
    assert load_preset(tmp_path / "made.toml").cluster.gpus >= 2
    limit = ["--set", "traffic.flows.1.bytes=4000", "--set", "faults=[]"] if kind == "hpcc" else []
    ran = sim("run", tmp_path / "made.toml", *limit, "--mode", "flow", "--json", "-")
    assert ran.code == 0 and ran.json()["status"] == "finished", ran.error
    assert ran.json()["flows"] == ran.json()["flows_finished"] > 0


def test_what_was_assumed_goes_to_standard_error(sim, tmp_path):
    done = sim("import", "chakra", *written(tmp_path, SENT), "--out", "-")
    assert done.code == 0 and "[program]" in done.out and "note: no topology is given: 2 GPUs around one switch" in done.error


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["simay", "w", "--out", "x.toml"], "import simay: did you mean 'simai'?"),
        (["simai", "w", "--out", "x.txt"], "--out x.txt: must end in .toml; the nearest is x.txt.toml"),
        (["simai", "nothing-there", "--out", "x.toml"], "nothing-there: there is no such file"),
        (["simai", "--out", "x.toml"], "FILE"),
        (["simai", "w"], "--out"),
        (["simai", "w", "w", "--out", "x.toml"], "a second file is named w"),
        (["simai", "w", "--out", "nowhere/x.toml"], "there is no directory nowhere"),
    ],
)
def test_refused_in_one_line(sim, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w").write_text(SIMAI)
    done = sim("import", *arguments)
    assert done.code == 2 and words in done.error and done.error.count("\n") == 1 and not done.out


def test_a_broken_file_leaves_nothing_behind(sim, tmp_path):
    files = written(tmp_path, {"w": SIMAI.replace("\n2\n", "\n3\n")})
    done = sim("import", "simai", *files, "--out", tmp_path / "x.toml")
    assert done.code == 2 and "w:2: 3 layers announced, 2 found" in done.error and not (tmp_path / "x.toml").exists()


def test_a_line_end_in_a_file_name_is_one_line_all_the_same(sim, tmp_path):
    name = tmp_path / "a\nb.txt"
    name.write_text("3 1 20\n2\n")
    done = sim("import", "hpcc", name, "--out", tmp_path / "x.toml")
    assert done.code == 2 and done.error.count("\n") == 1
    (tmp_path / "f").write_text("1\n0 1 3 100 10 0\n")
    name.write_text("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n")
    done = sim("import", "hpcc", name, tmp_path / "f", "--out", tmp_path / "x.toml")
    assert done.code == 0 and done.out.count("\n") == 1 and "a\\nb.txt" in done.out
