"""The program section: exclusive, within the cluster, and kept whole by TOML and links."""

import tomllib

import pytest

from sim.errors import ScenarioError
from sim.preset import from_link, to_link, to_toml
from sim.scenario import Scenario, gpus_used, notices
from sim.workload.build import build_dag
from sim.workload.program_chakra_work import one_all_reduce, to_text

CLUSTER = {"topology": "one-switch", "gpus": 8, "gpus_per_node": 1, "nvlink_gbps": 0}
PROGRAM = {"kind": "chakra", "ranks": 4, "work": to_text(one_all_reduce(4, 1000)), "source": "t.0.et"}


def scenario(**changes):
    return Scenario.from_data({"cluster": CLUSTER, "program": {**PROGRAM, **changes}})


def test_it_runs_on_its_ranks_and_the_others_are_idle():
    found = scenario()
    assert gpus_used(found) == 4 and "4 of 8 GPUs are idle: gpu4 to gpu7" in notices(found)
    dag = build_dag(found)
    assert dag.n_ranks == 8 and dag.n_flows == 24 and set(dag.flow_src.tolist()) == {0, 1, 2, 3}


def test_toml_and_links_keep_it_whole():
    found = scenario(dimensions=(2, 2), all_reduce=("ring", "direct"), splits=2)
    assert Scenario.from_data(tomllib.loads(to_toml(found))).digest() == found.digest() == from_link(to_link(found)).digest()
    assert found.digest() != scenario().digest()


def test_background_beside_it():
    found = Scenario.from_data({"cluster": CLUSTER, "program": PROGRAM, "background": [{"pattern": "ring", "flow_bytes": 1}]})
    assert build_dag(found).n_flows == 32


@pytest.mark.parametrize(
    "data, words",
    [
        ({"program": PROGRAM, "traffic": {"pattern": "ring"}}, r"\[program\] and \[traffic\] exclude each other"),
        ({"program": PROGRAM, "model": {"name": "gpt-7b"}}, r"\[program\] and \[model\] exclude each other"),
        ({"program": {**PROGRAM, "ranks": 9}}, "program.ranks = 9: there are cluster.gpus = 8.*the nearest is cluster.gpus = 9"),
        ({"program": {**PROGRAM, "kind": "simay"}}, "program.kind = 'simay' is not one of the choices: did you mean 'simai'?"),
        ({"program": {**PROGRAM, "all_reduce": ["rings"]}}, "did you mean 'ring'?"),
        ({"program": {**PROGRAM, "all_reduce": ["ring", "ring"]}}, "program.all_reduce has 2 algorithms, program.dimensions 0"),
        ({"program": {**PROGRAM, "dimensions": [0, 4]}}, r"program.dimensions = \[0, 4\]: must be whole numbers of at least 1"),
        ({"program": {**PROGRAM, "splits": 0}}, "program.splits = 0: must be at least 1"),
        ({}, r"\[model\] is missing: .* or \[program\]"),
    ],
)
def test_refused_in_one_line(data, words):
    with pytest.raises(ScenarioError, match=words):
        Scenario.from_data({"cluster": CLUSTER, **data})


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"ranks": 3}, "program.ranks = 3: program.work has 4 ranks; the nearest is 4"),
        ({"work": "zlib:AAAA"}, "program.work: is damaged"),
        ({"work": "{}"}, "program.work: 'nodes_of_rank' is missing"),
        ({"kind": "simai"}, "program.work: 'nodes_of_rank' is not a known key"),
        ({"all_to_all": ["double-binary-tree"], "work": PROGRAM["work"].replace('"collective":[0,0,0,0]', '"collective":[3,3,3,3]')}, "all-to-all"),
    ],
)
def test_what_only_the_work_shows_is_refused_when_it_is_built(changes, words):
    with pytest.raises(ScenarioError, match=words):
        build_dag(scenario(**changes))
