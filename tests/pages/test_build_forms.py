"""Every key of a scenario can be set on the Build page, whatever goes wrong included, and what belongs to a choice goes with it."""

import pytest

from sim.preset import load_preset, to_link
from sim.scenario import Scenario
from sim.scenario_base import models_in
from tests.pages.app_under_test import linked, opened, press, widget
from views.parts import keys

ELSEWHERE = {  # set by other means, or not by hand at all
    "cluster.graph", "cluster.nvswitches", "traffic.flows", "transport.parameters", "simulation.mode", "simulation.level",
}  # fmt: skip
OF_FAULTS = ("kind", "a", "b", "at_us", "rate_factor", "probability")


def fields_of(section):
    return models_in(Scenario.model_fields[section].annotation)[0].model_fields


def open_section(app, preset, section):
    widget(app.selectbox, "Preset").select(preset).run()
    app.segmented_control(key="section").set_value(section).run()
    return app


@pytest.fixture
def moe(app):
    return open_section(app, "moe-8x7b-64", "Workload")


def labels(app):
    return {one.label for one in (*app.number_input, *app.selectbox, *app.text_input, *app.toggle)}


@pytest.mark.parametrize("section", ["cluster", "model", "parallelism", "traffic", "transport", "simulation"])
def test_every_key_of_a_section_is_in_the_form(section):
    offered = {field.key for field in keys.FIELDS}
    assert {f"{section}.{name}" for name in fields_of(section)} - ELSEWHERE <= offered


@pytest.mark.parametrize("section", ["jobs", "background", "stragglers"])
def test_every_key_of_an_entry_is_in_the_form(section):
    offered = {field.key for field in keys.ROWS[section][1]}
    assert set(fields_of(section)) - {"model", "parallelism"} == offered


def test_faults_know_every_key():
    assert set(fields_of("faults")) == set(OF_FAULTS)


@pytest.mark.parametrize(
    ("preset", "label", "value", "key"),
    [
        ("gpt-7b-64", "Schedule", "gpipe", "schedule"),
        ("gpt-7b-64", "Schedule", "zb-h1", "schedule"),
        ("gpt-7b-64", "Recompute activations", "full", "recompute"),
        ("gpt-7b-64", "Optimizer and ZeRO", "zero-3", "optimizer"),
        ("gpt-7b-64", "Placement of ranks", "spread", "placement"),
        ("gpt-7b-64", "Precision", "fp8", "precision"),
        ("moe-8x7b-64", "Token exchange", "hierarchical", "expert_algorithm"),
    ],
)
def test_choices_of_the_strategy(app, preset, label, value, key):
    open_section(app, preset, "Workload")
    widget(app.selectbox, label).select(value).run()
    assert not app.error and getattr(linked(app).parallelism, key) == value


def test_virtual_stages_make_the_schedule_interleaved_and_the_default_says_so(app):
    open_section(app, "gpt-7b-64", "Workload")
    assert widget(app.selectbox, "Schedule").options[0] == "1F1B (default)"
    widget(app.number_input, "Virtual stages per GPU").set_value(3).run()
    assert not app.error and linked(app).parallelism.schedule == "interleaved"
    assert widget(app.selectbox, "Schedule").options[0] == "interleaved 1F1B (default)"
    assert any("(p − 1)/(v m) = 1/(3 · 2) = **17 %**" in caption.value for caption in app.caption)


def test_a_default_is_offered_once_whatever_is_chosen(app):
    open_section(app, "all-reduce-64", "Workload")
    assert [one for one in widget(app.selectbox, "Algorithm").options if one.startswith("ring")] == ["ring (default)"]
    widget(app.selectbox, "Algorithm").select("double-binary-tree").run()
    offered = widget(app.selectbox, "Algorithm").options
    assert offered[0] == "ring (default)" and "ring" not in offered and "double-binary-tree" in offered
    widget(app.selectbox, "Algorithm").select(None).run()
    assert "algorithm" not in linked(app).given()["traffic"] and linked(app).traffic.algorithm == "ring"


def test_a_default_that_was_written_out_is_shown_as_the_default():
    app = opened(to_link(load_preset("all-reduce-64").replace("traffic.algorithm", "ring")))
    app.segmented_control(key="section").set_value("Workload").run()
    assert widget(app.selectbox, "Algorithm").value is None and linked(app).given()["traffic"]["algorithm"] == "ring"


def test_switches_are_written_as_they_stand(app):
    open_section(app, "gpt-7b-64", "Workload")
    widget(app.toggle, "Sequence parallel").set_value(True).run()
    widget(app.toggle, "Overlap gradients").set_value(False).run()
    assert linked(app).parallelism.sequence_parallel and not linked(app).parallelism.overlap_gradients


def test_experts_are_offered_only_where_there_are_any(app, moe):
    assert {"Expert parallel (EP)", "Skew of expert loads", "Experts per token"} <= labels(moe)
    open_section(app, "gpt-7b-64", "Workload")
    assert not {"Expert parallel (EP)", "Skew of expert loads", "Experts per token"} & labels(app)
    widget(app.number_input, "Experts per layer").set_value(8).run()
    assert "Expert parallel (EP)" in labels(app) and not app.error


def test_uneven_experts_are_drawn(moe):
    widget(moe.number_input, "Skew of expert loads").set_value(1.0).run()
    assert "experts" in [chart.key for chart in moe.get("plotly_chart")]
    assert any("one rank has" in caption.value and "× the mean load" in caption.value for caption in moe.caption)
    assert not any("drops" in caption.value for caption in moe.caption)
    widget(moe.number_input, "Capacity factor").set_value(1.0).run()
    assert any("The capacity factor drops" in caption.value for caption in moe.caption)


def test_an_own_shape_begins_with_the_model_that_was_there_and_a_model_takes_its_place(moe):
    before = linked(moe).model
    widget(moe.selectbox, "Model").select(None).run()
    own = linked(moe).model
    assert not moe.error and own.name is None
    assert (own.layers, own.hidden, own.kv_heads, own.experts, own.expert_ffn) == (32, 4096, 8, 8, before.expert_ffn)
    widget(moe.number_input, "Layers").set_value(4).run()
    assert linked(moe).model.layers == 4
    widget(moe.selectbox, "Model").select("gpt-7b").run()
    assert "experts" in moe.error[0].value  # ep = 8 stays as given, and can be seen
    widget(moe.number_input, "Expert parallel (EP)").set_value(1).run()
    assert linked(moe).model.layers == 36 and not moe.error


def test_latent_attention_is_a_list_of_numbers(moe):
    widget(moe.text_input, "Latent attention").set_value("1536, 512, 192, 64, 128").run()
    assert not moe.error and linked(moe).model.latent == (1536, 512, 192, 64, 128)
    widget(moe.text_input, "Latent attention").set_value("many").run()
    assert moe.error[0].value.startswith("**Latent attention** = 'many': must be a list")
    widget(moe.text_input, "Latent attention").set_value("").run()
    assert not moe.error and linked(moe).model.given().get("latent") is None


def test_a_server_of_the_catalogue_brings_its_own_parts(app):
    widget(app.selectbox, "Preset").select("gpt-7b-64").run()
    widget(app.selectbox, "Server type").select("dgx-b200").run()
    assert not app.error and linked(app).cluster.gpu == "B200-SXM" and "gpu" not in linked(app).cluster.given()
    assert widget(app.selectbox, "GPU type").value == "B200-SXM" and widget(app.number_input, "NIC speed (Gb/s)").value == 400
    widget(app.selectbox, "Server type").select("gb300-nvl72").run()
    assert "**GPUs** = 64: must be whole servers of **GPUs per server** = 72" in app.error[0].value
    widget(app.number_input, "GPUs").set_value(72).run()
    widget(app.selectbox, "Server type").select(None).run()
    widget(app.number_input, "GPUs").set_value(64).run()
    assert not app.error and linked(app).cluster.gpu == "H100-SXM"


def test_slow_gpus_and_jitter(app):
    open_section(app, "gpt-small-16", "What goes wrong")
    press(app, "Add a slow GPU")
    press(app, "Add a slow GPU")
    assert [one.gpu for one in linked(app).stragglers] == [0, 1]
    widget(app.number_input, "Speed / that of the others").set_value(0.5).run()
    widget(app.number_input, "Compute jitter (deviation / mean)").set_value(0.02).run()
    assert linked(app).stragglers[0].speed == 0.5 and linked(app).parallelism.compute_jitter == 0.02
    press(app, "Remove slow GPU 1")
    assert [(one.gpu, one.speed) for one in linked(app).stragglers] == [(1, 0.7)]
    press(app, "Remove slow GPU 1")
    assert not linked(app).stragglers and not app.error


def test_traffic_of_others(app):
    open_section(app, "incast-16", "What goes wrong")
    assert "Add a job" not in [button.label for button in app.button]
    press(app, "Add traffic")
    assert not app.error and linked(app).background[0].times == 100
    assert "Receiver of the incast" not in labels(app) and widget(app.number_input, "GPUs in it").proto.placeholder == "all"
    widget(app.selectbox, "Background pattern").select("incast").run()
    widget(app.number_input, "Receiver of the incast").set_value(3).run()
    widget(app.number_input, "How often").set_value(7).run()
    (one,) = linked(app).background
    assert (one.pattern, one.receiver, one.times) == ("incast", 3, 7)
    press(app, "Remove background 1")
    assert not linked(app).background


def test_a_job_is_added_on_a_server_of_its_own_and_edited(app):
    open_section(app, "gpt-small-16", "What goes wrong")
    press(app, "Add a job")
    assert not app.error and linked(app).cluster.gpus == 24
    (job,) = linked(app).jobs
    assert (job.first_gpu, job.gpus, job.parallelism.dp, job.name) == (16, 8, 8, "job 1")
    widget(app.text_input, "Name of the job").set_value("neighbour").run()
    widget(app.selectbox, "Model").select("gpt-350m").run()
    widget(app.number_input, "Tensor parallel (TP)").set_value(2).run()
    assert app.error[0].value.startswith("**Data parallel (DP)** of job 1 = 8: ")
    widget(app.number_input, "Data parallel (DP)").set_value(4).run()
    (job,) = linked(app).jobs
    assert not app.error and (job.name, job.model.layers, job.parallelism.tp) == ("neighbour", 24, 2)
    assert linked(app).model.name == "gpt-125m"


def test_pictures_are_of_the_job_that_is_chosen(app):
    open_section(app, "two-tenants", "Cluster")
    rows = app.dataframe[0].value
    assert set(rows["kind"]) == {"TP", "PP", "DP", "embedding"}
    app.segmented_control(key="job shown").set_value(1).run()
    assert not app.exception and "EP" in set(app.dataframe[0].value["kind"])


def test_jobs_and_slow_gpus_do_not_outlast_the_training(app):
    open_section(app, "two-tenants", "Workload")
    app.segmented_control(key="workload").set_value("Plain traffic").run()
    assert not app.error and not linked(app).jobs and len(linked(app).background) == 1


def test_a_whole_switch_can_fail(app):
    open_section(app, "lossy-link", "What goes wrong")
    widget(app.selectbox, "What happens").select("switch-down").run()
    (fault,) = linked(app).faults
    assert not app.error and (fault.kind, fault.a, fault.b, fault.probability) == ("switch-down", "leaf0", None, None)
    widget(app.selectbox, "Switch").select("spine2").run()
    assert linked(app).faults[0].a == "spine2"
    widget(app.selectbox, "What happens").select("loss").run()
    (fault,) = linked(app).faults
    assert not app.error and "spine2" in (fault.a, fault.b) and fault.probability == 0.001


def test_presets_are_grouped(app):
    options = widget(app.selectbox, "Preset").options
    groups = [option.split(":")[0] for option in options]
    assert groups == sorted(groups, key=["Teaching", "Training", "What goes wrong"].index)
    assert "Training: Mixtral 8x7B on 64 GPUs (moe-8x7b-64)" in options and "What goes wrong: A PFC storm (pfc-storm)" in options
    assert "Teaching: Incast: 16 senders, one receiver (incast-16)" in options
