"""Import page: files of every tool are read, shown and taken over; what is wrong is one line, and nothing is taken over then."""

import pytest

from sim.preset import load_preset, to_toml
from tests.formats.chakra_files import COMP, RECV, SEND, all_reduce, node, trace
from tests.formats.test_htsim_cm import MATRIX
from tests.formats.test_importing import CONFIG, FLOWS, SIMAI, STAR
from tests.formats.test_simai_topology import TOPOLOGY
from tests.pages.app_under_test import ScriptedJob, go, linked, press, run_now, widget
from views.parts import link, uploads

HPCC = {"topology.txt": STAR, "flow.txt": FLOWS, "config.txt": CONFIG}
CHAKRA = {
    "t.0.et": trace(node(1, COMP, us=5), all_reduce(2, 4096, [1]), node(3, SEND, [2], comm_size=64, comm_dst=1)),
    "t.1.et": trace(node(1, COMP, us=5), all_reduce(2, 4096, [1]), node(3, RECV, [2], comm_size=64, comm_src=0)),
}
FOREIGN = {"hpcc": HPCC, "simai": {"workload.txt": SIMAI, "topology": TOPOLOGY}, "astra": CHAKRA, "htsim": {"m.cm": MATRIX}}


@pytest.fixture
def page(app):
    return go(app, "import_files")


def give(app, kind, files):
    app.segmented_control(key="import kind").set_value(kind).run()
    content = [(name, text if isinstance(text, bytes) else text.encode(), "") for name, text in files.items()]
    app.file_uploader(key="files to import").set_value(content).run()
    assert not app.exception, app.exception
    return app


def test_files_stay_when_their_tool_is_chosen_after_them(page):
    give(page, "own", HPCC)
    assert "choose it above" in page.error[0].value
    page.segmented_control(key="import kind").set_value("hpcc").run()
    assert not page.error and figures(page)["GPUs"]


def use(app):
    press(app, "Use this scenario")
    assert [title.value for title in app.title] == ["Build"]
    return go(app, "build")


def figures(app):
    return {metric.label: metric.value for metric in app.metric}


@pytest.mark.parametrize("kind", FOREIGN)
def test_files_of_a_tool_are_shown_and_taken_over(page, kind):
    give(page, kind, FOREIGN[kind])
    assert not page.error and len(page.get("plotly_chart")) == 1
    gpus, messages = int(figures(page)["GPUs"].replace(",", "")), int(figures(page)["Messages"].replace(",", ""))
    use(page)
    assert not page.error
    assert widget(page.selectbox, "Preset").value is None
    assert page.success[0].value.startswith("Ready") and linked(page).cluster.gpus == gpus
    said = " ".join(success.value for success in page.success)
    assert messages == 0 or f"{messages:,} flow" in said
    run_now(page)
    assert not page.exception and ScriptedJob.latest.scenario.digest() == linked(page).digest()


def test_imported_work_is_named_on_the_build_page_and_can_be_left(page):
    give(page, "astra", CHAKRA)
    use(page)
    page.segmented_control(key="section").set_value("Workload").run()
    assert page.segmented_control(key="workload").value == "Imported work"
    assert any("Tasks and messages of 2 GPUs, imported" in caption.value for caption in page.caption)
    page.segmented_control(key="workload").set_value("Plain traffic").run()
    assert not page.error and linked(page).program is None
    press(page, "Undo all changes")
    assert linked(page).program.kind == "chakra"


def test_notices_of_the_import_are_shown(page):
    give(page, "simai", {"workload.txt": SIMAI})
    assert any("no topology is given: 4 GPUs" in caption.value for caption in page.caption)


@pytest.mark.parametrize(
    ("kind", "files", "line"),
    [
        ("hpcc", {**HPCC, "topology.txt": STAR.replace("5 1 4", "5 1 9")}, "topology.txt"),
        ("hpcc", {"topology.txt": STAR}, "there is no flow file among the files"),
        ("hpcc", {"picture.png": b"\x89PNG\x00"}, "picture.png: cannot be read as text"),
        ("simai", {"workload.txt": "nothing of the kind"}, "is none of what import simai takes"),
        ("astra", {"t.0.et": b"\xff\xff\xff"}, "t.0.et"),
        ("htsim", {"m.cm": "Nodes two"}, "m.cm"),
        ("own", {"a.toml": "x = "}, "a.toml: is not TOML"),
        ("own", {"a.toml": "x = " + "[" * 20_000}, "a.toml: is not TOML: lists or tables are nested too deep"),
        ("own", {"a.toml": "title = 'x'"}, "a.toml: cluster is missing"),
        ("own", {"a.toml": "[cluster]\ntopology = 'file'\nfile = '/etc/passwd'\n"}, "names another file, which is not here"),
        ("own", {"a.toml": "", "b.toml": ""}, "2 files: a scenario is one .toml file; for files of another tool choose it above"),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_taken_over(page, kind, files, line):
    give(page, kind, files)
    (error,) = page.error
    assert line in error.value.replace("**", "") and "\n" not in error.value
    assert "Use this scenario" not in [button.label for button in page.button]


def test_an_own_scenario_comes_back_as_it_was_written(page):
    scenario = load_preset("two-tenants").replace_all({"name": "mine", "title": "Mine"})
    give(page, "own", {"mine.toml": to_toml(scenario)})
    assert page.subheader[0].value == "Mine"
    use(page)
    assert linked(page) == scenario


def test_an_import_is_never_taken_for_a_preset(page):
    give(page, "htsim", {"incast-16.cm": MATRIX})
    use(page)
    assert linked(page).name == "incast-16-imported" and widget(page.selectbox, "Preset").value is None
    press(page, "Run")
    assert "(edited)" not in page.subheader[0].value


def test_too_much_is_refused_before_it_is_read(monkeypatch, page):
    monkeypatch.setattr(uploads, "MAX_UPLOAD_MB", 1)
    give(page, "htsim", {"a.cm": MATRIX + " " * 600_000, "b.topo": " " * 600_000})
    assert "at most 1 MB are taken here" in page.error[0].value


def test_two_files_of_one_name_are_refused(page):
    page.segmented_control(key="import kind").set_value("htsim").run()
    page.file_uploader(key="files to import").set_value([("m.cm", MATRIX.encode(), ""), ("m.cm", MATRIX.encode(), "")]).run()
    assert page.error[0].value.startswith("m.cm: two files have this name")


def test_work_too_large_for_a_link_is_used_all_the_same(monkeypatch, page):
    monkeypatch.setattr(link, "MAX_TEXT", 10)
    give(page, "astra", CHAKRA)
    use(page)
    assert page.success[0].value.startswith("Ready") and "scenario" not in page.query_params
    assert any("too large for a link" in caption.value for caption in page.caption)
