"""Build page: presets, edits checked at once, faults, and the link that restores everything."""

import pytest

from sim.preset import list_presets, load_preset, to_link
from tests.pages.app_under_test import go, linked, opened, press, widget
from views.parts import preview


def said(app):
    """Everything the page says besides headings."""
    return " ".join(
        one.value for one in [*app.caption, *app.error, *app.success, *app.warning, *app.info, *app.markdown]
    )


def test_opens_on_a_preset_ready_to_run(app):
    assert not app.exception and not app.error
    assert [title.value for title in app.title] == ["Build"]
    assert widget(app.selectbox, "Preset").value == "incast-16"
    assert app.success[0].value.startswith("Ready: 16 flows")
    assert not widget(app.button, "Run").disabled
    assert len(app.get("plotly_chart")) == 1


@pytest.mark.parametrize("name", list_presets())
def test_every_preset_can_be_chosen_and_is_ready(app, name):
    widget(app.selectbox, "Preset").select(name).run()
    assert not app.exception and not app.error
    assert app.success[0].value.startswith("Ready")
    assert linked(app).digest() == load_preset(name).digest()
    pipeline = load_preset(name).parallelism is not None and load_preset(name).parallelism.pp > 1
    model = load_preset(name).model is not None
    assert [chart.key for chart in app.get("plotly_chart")] == ["topology"] + ["bytes", "memory"] * model + ["schedule"] * pipeline


def test_an_edit_changes_scenario_and_link_and_can_be_undone(app):
    widget(app.number_input, "NIC speed (Gb/s)").set_value(200.0).run()
    assert linked(app).cluster.nic_gbps == 200
    assert "**Incast: 16 senders, one receiver (edited)**" in said(app)
    press(app, "Undo all changes")
    assert "(edited)" not in said(app)
    assert widget(app.number_input, "NIC speed (Gb/s)").value == load_preset("incast-16").cluster.nic_gbps
    assert linked(app).digest() == load_preset("incast-16").digest()


@pytest.mark.parametrize(
    "preset, section, label, value, line",
    [
        ("gpt-7b-64", "Cluster", "GPUs", 60, "**GPUs** = 60: must be whole servers of **GPUs per server** = 8; the nearest are 56 and 64"),
        ("gpt-7b-64", "Workload", "Tensor parallel (TP)", 3, "**Tensor parallel (TP)** = 3: must divide **GPUs per server** = 8"),
        ("gpt-7b-64", "Workload", "Pipeline stages (PP)", 5, "**Pipeline stages (PP)** = 5: must divide **Layers** = 36"),
        ("gpt-7b-64", "Workload", "Data parallel (DP)", 23, "the nearest that work"),
        ("gpt-7b-64", "Workload", "Virtual stages per GPU", 5, "**Virtual stages per GPU** = 5: pp x **Virtual stages per GPU** = 10 must divide"),
        ("gpt-7b-64", "Workload", "Context parallel (CP)", 3, "x **Context parallel (CP)** = 3 x **Data parallel (DP)** = 4 is 192 GPUs"),
        ("gpt-7b-64", "Workload", "Key and value heads", 5, "**Key and value heads** = 5: must divide **Attention heads** = 32; the nearest is 4"),
        ("moe-8x7b-64", "Workload", "Expert parallel (EP)", 3, "**Expert parallel (EP)** = 3: must divide **Experts per layer** = 8"),
        ("moe-8x7b-64", "Workload", "Experts per token", 9, "**Experts per token** = 9: must be at most **Experts per layer** = 8"),
        ("two-tenants", "What goes wrong", "First GPU of the job", 8, "of job 1 = 8: GPUs 0 to 31 belong to the own job; the next free one is 32"),
        ("two-tenants", "What goes wrong", "Tensor parallel (TP)", 3, "**Tensor parallel (TP)** of job 1 = 3: must divide **GPUs per server** = 8"),
        ("two-tenants", "What goes wrong", "First GPU in it", 64, "background 1: GPUs 64 to 65 are wanted; the legal range is 0 to 63"),
        ("straggler", "What goes wrong", "Slow GPU", 16, "**Slow GPU** of slow GPU 1 = 16: there is no such GPU; the legal range is 0 to 15"),
        ("incast-16", "Cluster", "GPUs", 1, "**GPUs** = 1: must be at least 2"),
        ("incast-16", "Cluster", "NIC speed (Gb/s)", -100.0, "**NIC speed (Gb/s)** = -100.0: must be at least 0.001"),
        ("incast-16", "Workload", "Receiving GPU", 99, "**Receiving GPU** = 99: there is no such GPU"),
        ("incast-16", "Transport", "ECN kmin (kB)", 9000.0, "**ECN kmin (kB)** = 9000: must be at most **ECN kmax (kB)** = 400"),
        ("incast-16", "Transport", "Payload per packet (B)", 0, "**Payload per packet (B)** = 0: must be at least 1"),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_line_and_run_is_off(app, preset, section, label, value, line):
    widget(app.selectbox, "Preset").select(preset).run()
    if section != "Cluster":
        app.segmented_control(key="section").set_value(section).run()
    if label.startswith("ECN kmin"):
        widget(app.number_input, "ECN kmax (kB)").set_value(400.0).run()
    widget(app.number_input, label).set_value(value).run()
    assert not app.exception
    assert len(app.error) == 1 and line in app.error[0].value and "\n" not in app.error[0].value
    assert widget(app.button, "Run").disabled
    press(app, "Undo all changes")
    assert not app.error and not widget(app.button, "Run").disabled


def test_an_edited_preset_runs_under_a_title_that_says_so(app, scripted):
    widget(app.number_input, "NIC speed (Gb/s)").set_value(200.0).run()
    press(app, "Run")
    assert scripted.latest.scenario.title == "Incast: 16 senders, one receiver (edited)"
    assert app.subheader[0].value == "Incast: 16 senders, one receiver (edited)"
    assert linked(app).title == "Incast: 16 senders, one receiver"


def test_a_field_left_empty_means_its_default(app):
    widget(app.selectbox, "Preset").select("gpt-7b-64").run()
    app.segmented_control(key="section").set_value("Workload").run()
    widget(app.number_input, "Data parallel (DP)").set_value(None).run()
    assert not app.error
    assert linked(app).parallelism.dp == 4


@pytest.mark.parametrize(
    ("tp", "line"),
    [
        (8, {"TP": "NVLink", "PP": "network", "DP": "network", "EMBEDDING": "network"}),
        (4, {"TP": "NVLink", "PP": "network", "DP": "NVLink and network", "EMBEDDING": "network"}),
    ],
)
def test_what_crosses_the_network_follows_from_where_ranks_are(tp, line):
    scenario = load_preset("gpt-7b-64").replace_all({"parallelism.tp": tp, "parallelism.dp": None})
    assert preview.sent(scenario, preview.network(scenario.cluster))[1] == line


def test_data_parallelism_inside_one_server_stays_on_nvlink():
    scenario = load_preset("gpt-7b-64").replace_all(
        {"cluster.gpus": 16, "parallelism.tp": 2, "parallelism.pp": 2, "parallelism.dp": 4}
    )
    assert preview.sent(scenario, preview.network(scenario.cluster))[1]["DP"] == "NVLink"


def test_a_model_too_large_is_said_with_bytes_and_may_still_run(app):
    widget(app.selectbox, "Preset").select("gpt-7b-64").run()
    app.segmented_control(key="section").set_value("Workload").run()
    widget(app.selectbox, "Model").select("gpt-175b").run()
    assert "does not fit: stage" in app.warning[0].value and "of the 80.0 GB" in app.warning[0].value
    assert not widget(app.button, "Run").disabled


def test_changing_topology_drops_the_sizes_of_the_old_one(app):
    widget(app.selectbox, "Preset").select("leaf-spine-oversubscribed").run()
    widget(app.selectbox, "Topology").select("fat-tree").run()
    assert not app.error and not app.exception
    assert linked(app).cluster.topology == "fat-tree"
    assert "Leaf switches" not in [one.label for one in app.number_input]


def test_workload_can_be_swapped_between_model_and_traffic(app):
    widget(app.selectbox, "Preset").select("gpt-7b-64").run()
    app.segmented_control(key="section").set_value("Workload").run()
    app.segmented_control(key="workload").set_value("Plain traffic").run()
    assert not app.error and "Pattern" in [one.label for one in app.selectbox]
    app.segmented_control(key="workload").set_value("Training a model").run()
    assert not app.error and "Model" in [one.label for one in app.selectbox]


def test_faults_are_added_edited_and_removed(app):
    app.segmented_control(key="section").set_value("What goes wrong").run()
    press(app, "Add a fault")
    assert len(linked(app).faults) == 1
    widget(app.selectbox, "What happens").select("degrade").run()
    widget(app.number_input, "New rate / old").set_value(0.25).run()
    widget(app.number_input, "At (µs)").set_value(50.0).run()
    (fault,) = linked(app).faults
    assert (fault.kind, fault.rate_factor, fault.at_us) == ("degrade", 0.25, 50)
    widget(app.number_input, "New rate / old").set_value(-1.0).run()
    assert (
        app.error[0].value.startswith("**New rate / old** of fault 1 = -1.0: must be")
        and widget(app.button, "Run").disabled
    )
    press(app, "Remove")
    assert not app.error and not linked(app).faults


def test_the_section_is_kept_while_other_pages_are_looked_at(app):
    app.segmented_control(key="section").set_value("Workload").run()
    go(go(app, "timeline"), "build")
    assert app.segmented_control(key="section").value == "Workload"


def test_an_opened_link_restores_the_whole_scenario():
    scenario = load_preset("link-failure").replace_all({"transport.payload_bytes": 4000, "cluster.ecmp_seed": 7})
    app = opened(to_link(scenario))
    assert not app.exception and not app.error
    assert linked(app) == scenario
    assert widget(app.number_input, "ECMP hash seed").value == 7
    assert widget(app.selectbox, "Preset").value == "link-failure" and "(edited)**" in said(app)
    press(app, "Undo all changes")
    assert linked(app) == load_preset("link-failure")


def test_a_link_to_no_preset_is_an_own_scenario():
    app = opened(to_link(load_preset("incast-16").replace("name", "mine")))
    assert widget(app.selectbox, "Preset").value is None and not app.error
    widget(app.selectbox, "Preset").select("parallel-links").run()
    assert linked(app) == load_preset("parallel-links")


@pytest.mark.parametrize("text", ["1nonsense", "9eNo9", "", "1" + "A" * 50])
def test_a_damaged_link_is_said_in_one_line_and_the_app_goes_on(text):
    app = opened(text)
    assert not app.exception
    assert len(app.error) == (1 if text else 0)
    if text:
        assert app.error[0].value.startswith("The link could not be opened: this link")
    assert not widget(app.button, "Run").disabled


def test_words_of_a_shared_link_cannot_fetch_anything(app):
    trap = "![x](http://example.org/a.png) <img src=x> [y](http://example.org)"
    scenario = load_preset("incast-16").replace_all({"description": trap, "title": trap, "name": "../../x y"})
    app = opened(to_link(scenario))
    (shown,) = [caption.value for caption in app.caption if "example.org" in caption.value]
    assert "![" not in shown and "](" not in shown.replace("\\](", "") and "<img" not in shown.replace("\\<", "")
    press(app, "Run")
    assert "![x]" not in app.subheader[0].value


def test_what_an_algorithm_becomes_and_where_no_formula_holds_is_said():
    scenario = load_preset("moe-8x7b-64").replace_all({"parallelism.expert_algorithm": "pxn", "parallelism.capacity_factor": 0.5})
    app = opened(to_link(scenario))
    assert not app.exception and "sends tokens straight to their experts: no server holds two members of its expert-parallel groups" in said(app)
    (table,) = [frame.value for frame in app.dataframe if "formula" in frame.value]
    assert "counted: pxn, capacity 0.5" in set(table["formula"]) and "2(d-1)/d 4 P" not in set(table["formula"])


def test_edits_survive_a_visit_to_another_page(app):
    widget(app.number_input, "NIC speed (Gb/s)").set_value(200.0).run()
    app.switch_page("views/network.py").run()
    app.switch_page("views/build.py").run()
    assert widget(app.number_input, "NIC speed (Gb/s)").value == 200


def test_a_collective_is_chosen_by_its_algorithms(app):
    app.segmented_control(key="section").set_value("Workload").run()
    widget(app.selectbox, "Pattern").select("collective").run()
    assert not app.error and linked(app).traffic.algorithm == "ring"
    assert "Senders" not in [one.label for one in app.number_input] and "Bytes per flow" not in [one.label for one in app.number_input]
    assert {"halving-doubling", "double-binary-tree", "direct", "hierarchical", "NVLS"} <= set(widget(app.selectbox, "Algorithm").options)
    widget(app.selectbox, "Algorithm").select("double-binary-tree").run()
    widget(app.number_input, "Channels").set_value(2).run()
    widget(app.number_input, "GPUs that take part").set_value(4).run()
    assert (linked(app).traffic.channels, linked(app).traffic.ranks) == (2, 4)
    widget(app.selectbox, "Collective").select("all-to-all").run()
    assert not app.error and linked(app).traffic.algorithm == "direct", "the tree is none of its algorithms"
    assert {"PXN", "hierarchical"} <= set(widget(app.selectbox, "Algorithm").options) and "NVLS" not in widget(app.selectbox, "Algorithm").options
    assert "Channels" not in [one.label for one in app.number_input]
    widget(app.number_input, "GPUs that take part").set_value(40).run()
    assert "**GPUs that take part** = 40: must be from 2 to **GPUs** = 17" in app.error[0].value
    widget(app.number_input, "GPUs that take part").set_value(None).run()
    widget(app.selectbox, "Pattern").select("ring").run()
    assert not app.error and linked(app).given()["traffic"] == {"pattern": "ring"}


def test_a_list_of_gpus_is_told_instead_of_edited():
    scenario = load_preset("all-reduce-64").replace("traffic.ranks", [0, 8, 16])
    app = opened(to_link(scenario))
    app.segmented_control(key="section").set_value("Workload").run()
    assert not app.exception and "3 GPUs take part, as listed in the scenario" in said(app)
    assert "GPUs that take part" not in [one.label for one in app.number_input]
    assert linked(app).traffic.ranks == (0, 8, 16)


def test_idle_gpus_are_a_warning(app):
    widget(app.selectbox, "Preset").select("moe-8x7b-64").run()
    assert not app.warning
    widget(app.segmented_control, "Section").set_value("Workload").run()
    widget(app.number_input, "Tensor parallel (TP)").set_value(4).run()
    assert app.warning[0].value == "32 of 64 GPUs are idle: gpu32 to gpu63"


def test_a_scenario_of_ones_own_says_its_title_above_what_it_is_about():
    own = load_preset("incast-16").model_copy(update={"name": "mine", "title": "My own incast", "description": "Sent in by a friend."})
    app = opened(to_link(own))
    assert "**My own incast**: Sent in by a friend." in [caption.value for caption in app.caption]


def test_a_run_of_very_many_messages_says_what_no_repetition_saves(app):
    widget(app.selectbox, "Preset").select("all-reduce-64").run()
    assert "start and end every message" not in app.success[0].value
    widget(app.segmented_control, "Section").set_value("Workload").run()
    widget(app.number_input, "Channels").set_value(8).run()
    widget(app.number_input, "Chunks per message").set_value(16).run()
    assert "it would take **about 6 s** (about 4 s of it to start and end every message); less as far" in app.success[0].value
