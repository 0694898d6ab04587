"""Sources of what the catalogue supplies, as the form says them."""

from sim.catalogue.gpus import GPUS
from sim.catalogue.models import MODELS
from sim.catalogue.nodes import NODES
from tests.pages.app_under_test import widget
from views.parts.sources import of_cluster, of_model


def test_a_server_brings_its_gpu():
    assert of_cluster({"node": "dgx-b200"}) == f"dgx-b200: {NODES['dgx-b200'].source}.  \nB200-SXM: {GPUS['B200-SXM'].source}."
    assert of_cluster({"node": "dgx-b200", "gpu": "H200-SXM"}).endswith(f"H200-SXM: {GPUS['H200-SXM'].source}.")
    assert of_cluster({}) == of_cluster({"node": "nothing"}) == ""


def test_a_model_has_its_paper():
    assert of_model({"name": "deepseek-v3"}) == f"deepseek-v3: {MODELS['deepseek-v3'].source}."
    assert of_model({"name": None}) == of_model({}) == ""


def test_the_form_says_them(app):
    widget(app.selectbox, "Preset").select("gpt-7b-64").run()
    app.segmented_control(key="section").set_value("Cluster").run()
    widget(app.selectbox, "Server type").select("dgx-a100").run()
    assert any(NODES["dgx-a100"].source in caption.value for caption in app.caption)
    app.segmented_control(key="section").set_value("Workload").run()
    assert any(MODELS["gpt-7b"].source in caption.value for caption in app.caption)
