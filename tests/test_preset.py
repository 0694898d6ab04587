"""Presets: TOML there and back, links there and back, and what happens to damaged ones."""

import base64
import json
import tomllib
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim import preset
from sim.errors import LabError, ScenarioError
from sim.scenario import Scenario

SCENARIO = Scenario.from_data(
    {
        "name": "two",
        "title": 'A "quoted" title \\ and ünïcode',
        "description": 'first line\nsecond "line"\n',
        "cluster": {"topology": "leaf-spine", "gpus": 32, "nvlink_gbps": 0.0},
        "traffic": {
            "pattern": "flows",
            "flows": [
                {"src": 0, "dst": 1, "bytes": 5_000_000_000, "path": ["gpu0", "leaf0", "gpu1"]},
                {"src": 1, "dst": 2, "bytes": 0},
            ],
        },
        "transport": {"congestion_control": "hpcc", "parameters": {"u_target": 0.95}},
        "faults": [{"kind": "degrade", "a": "leaf0", "b": "spine0", "rate_factor": 0.5}],
        "expect": {"max_fct_s": {"value": 1.0}},
    }
)


@pytest.mark.parametrize("name", preset.list_presets())
def test_every_preset_loads_and_returns_from_text_and_link(name):
    scenario = preset.load_preset(name)
    assert scenario.name == name and scenario.title and scenario.description
    assert Scenario.from_data(tomllib.loads(preset.to_toml(scenario))) == scenario
    assert preset.from_link(preset.to_link(scenario)) == scenario


def test_toml_returns_the_same_scenario():
    text = preset.to_toml(SCENARIO)
    assert Scenario.from_data(tomllib.loads(text)) == SCENARIO
    assert "nvlink_gbps = 0.0  # Gb/s, NVLink per GPU" in text, "every key carries its unit"


def test_link_is_short_and_url_safe():
    link = preset.to_link(SCENARIO)
    assert len(link) < 700 and all(c.isalnum() or c in "-_" for c in link)
    assert preset.from_link(link) == SCENARIO
    assert preset.from_link(link).digest() == SCENARIO.digest()


@pytest.mark.parametrize("cut", [0, 1, 2, 10, -1])
def test_a_cut_link_is_refused(cut):
    with pytest.raises(ScenarioError, match="copy the whole link|begins with"):
        preset.from_link(preset.to_link(SCENARIO)[:cut])


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_no_link_leaks_a_foreign_error(text):
    for link in (text, "1" + text):
        with pytest.raises(LabError):
            preset.from_link(link)


def test_a_bomb_is_refused():
    bomb = "1" + base64.urlsafe_b64encode(zlib.compress(b'"' + b"0" * 20_000_000)).decode().rstrip("=")
    with pytest.raises(ScenarioError, match="holds more than"):
        preset.from_link(bomb)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("transport.congestion_control=hpcc", ("transport.congestion_control", "hpcc")),
        ("cluster.gpus = 128", ("cluster.gpus", 128)),
        ("cluster.nic_gbps=1e2", ("cluster.nic_gbps", 100.0)),
        ("name='a b'", ("name", "a b")),
        ("cluster.spines=", ("cluster.spines", None)),
        ("cluster.topology=fat-tree", ("cluster.topology", "fat-tree")),
        ("a=[1, 2]", ("a", [1, 2])),
    ],
)
def test_settings(text, expected):
    assert preset.parse_setting(text) == expected


@pytest.mark.parametrize("text", ["transport", "=3", "a=[1"])
def test_settings_refused(text):
    with pytest.raises(ScenarioError, match="--set"):
        preset.parse_setting(text)


def test_settings_are_checked_together():
    changed = preset.apply_settings(
        SCENARIO, ["cluster.topology=one-switch", "traffic.pattern=ring", "traffic.flows=", "faults="]
    )
    assert changed.traffic.pattern == "ring" and changed.faults == ()


def test_unknown_preset(tmp_path):
    with pytest.raises(ScenarioError, match="neither a preset nor a .toml file"):
        preset.load_preset("nothing-like-it")
    with pytest.raises(ScenarioError, match="neither a preset"):
        preset.load_preset("../presets/incast-16")
    with pytest.raises(ScenarioError, match="no such file"):
        preset.load_preset(tmp_path / "missing.toml")


def test_broken_toml_names_file_and_line(tmp_path):
    path = tmp_path / "broken.toml"
    path.write_text("[cluster]\ngpus = = 3\n")
    with pytest.raises(ScenarioError, match=r"broken\.toml: is not TOML: .*line 2"):
        preset.load_preset(path)
    for text, words in (("a = " + "[" * 20_000, "nested too deep"), ("a = " + "1" * 5000, "a number has more than 4300 digits")):
        path.write_text(text)
        with pytest.raises(ScenarioError, match=f"is not TOML: .*{words}"):
            preset.load_preset(path)
        with pytest.raises(ScenarioError, match=f"^--set a: .*{words}$"):
            preset.parse_setting(text)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ScenarioError, match="cannot be read as text"):
        preset.load_preset(path)


def test_a_graph_file_becomes_part_of_the_scenario(tmp_path):
    (tmp_path / "net.txt").write_text("3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n")
    path = tmp_path / "mine.toml"
    path.write_text('[cluster]\ntopology = "file"\nfile = "net.txt"\n[traffic]\npattern = "incast"\n')
    scenario = preset.load_preset(path)
    bigger = scenario.cluster.graph.replace("3 1 2", "4 1 3").replace("2\n", "3\n", 1)
    assert scenario.replace("cluster.graph", bigger).cluster.gpus == 3
    assert scenario.cluster.gpus == 2 and scenario.cluster.graph.startswith("3 1 2") and scenario.name == "mine"
    path.write_text('[cluster]\ntopology = "file"\nfile = "nett.txt"\n[traffic]\npattern = "incast"\n')
    with pytest.raises(ScenarioError, match="did you mean 'net.txt'"):
        preset.load_preset(path)


def test_a_link_cannot_read_files():
    data = {"cluster": {"topology": "file", "file": "secret.txt", "graph": "3 1 2"}, "traffic": {"pattern": "ring"}}
    link = "1" + base64.urlsafe_b64encode(zlib.compress(json.dumps(data).encode())).decode()
    with pytest.raises(ScenarioError, match="cluster.file is not a known key"):
        preset.from_link(link.rstrip("="))


def test_a_byte_order_mark_and_line_ends_of_other_systems_are_read(tmp_path):
    path = tmp_path / "windows.toml"
    path.write_bytes(b"\xef\xbb\xbf" + (preset.PRESET_DIRECTORY / "incast-16.toml").read_bytes().replace(b"\n", b"\r\n"))
    assert preset.load_preset(path).digest() == preset.load_preset("incast-16").digest()


def test_files_are_larger_than_links_can_be(tmp_path, monkeypatch):
    file = tmp_path / "large.toml"
    file.write_text("#" * 5_000_000 + "\n" + preset.to_toml(SCENARIO), "utf-8")
    assert preset.load_preset(file) == SCENARIO
    monkeypatch.setattr(preset, "MAX_SCENARIO_BYTES", 5_000_000)
    with pytest.raises(ScenarioError, match="large.toml: is 500.... bytes; at most 5000000 are read"):
        preset.load_preset(file)
