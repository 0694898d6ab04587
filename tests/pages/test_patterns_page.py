"""Conflict patterns page: a gallery in the order asked for, one pattern close up, files to take away."""

import io

import networkx as nx
import numpy as np
import pytest

from sim.convergence import Settling
from sim.preset import load_preset
from sim.topology.build import build_network
from sim.wormhole_simulation import WormholeSimulation
from tests.pages.app_under_test import go, press, run_now, widget
from views.parts import pattern_curves, pattern_files


@pytest.fixture
def patterns(finished):
    return go(finished, "patterns")


@pytest.fixture
def iteration(finished, scripted):
    """The page over the result of the kernel itself."""
    scripted.latest.result = WormholeSimulation(load_preset("gpt-small-16")).run()
    return lambda: go(finished, "patterns")


def captions(app):
    return " ".join(caption.value for caption in app.caption)


def cards(app):
    return [line.value for line in app.markdown if line.value.startswith("Pattern ")]


def test_without_a_result_the_page_says_how_to_get_one(app):
    go(app, "patterns")
    assert app.info[0].value == "Nothing has been simulated yet." and not app.get("plotly_chart")


def test_a_gallery_of_those_that_save_most_and_one_close_up(patterns):
    assert len(cards(patterns)) == 5 and len(patterns.get("plotly_chart")) == 6
    assert {metric.label: metric.value for metric in patterns.metric[:2]} == {"Patterns": "16", "Times met": "280"}
    assert cards(patterns)[0] == "Pattern 1: **2 flows**, 8 ports"
    press(patterns, "Show 10 more of 11")
    assert len(cards(patterns)) == 15
    press(patterns, "Show the last one")
    assert len(cards(patterns)) == 16


def test_the_order_can_be_chosen(patterns):
    widget(patterns.get("button_group"), "Sort by").set_value("Flows").run()
    assert cards(patterns)[0] == "Pattern 15: **16 flows**, 64 ports"


def test_a_closer_look_shows_flows_and_shared_ports(patterns):
    widget(patterns.selectbox, "Pattern").set_value(2).run()
    assert not patterns.exception
    assert list(patterns.dataframe[0].value["flow"]) == [0, 1, 2]
    widget(patterns.get("button_group"), "Table").set_value("Shared ports").run()
    shared = patterns.dataframe[0].value
    assert shared["flows"].tolist() == [3, 3] and shared["with data"].tolist() == [3, 0]
    widget(patterns.get("button_group"), "Table").set_value("Pairs").run()
    assert patterns.dataframe[0].value["share"].tolist() == [2, 2, 2]
    assert [button.label for button in patterns.get("download_button")] == ["Download GraphML", "Download JSON"]


def test_look_closer_scrolls_to_what_it_opens_and_only_then(patterns):
    def scrolls(app):
        return [one.proto.body for one in app.get("html") if "scrollIntoView" in one.proto.body]

    assert not scrolls(patterns)
    press(patterns, "Look closer")
    (first,) = scrolls(patterns)
    assert ".st-key-one-pattern" in first and widget(patterns.selectbox, "Pattern").value != 1
    assert not scrolls(patterns.run())
    press(patterns, "Look closer")
    assert scrolls(patterns) != [first], "the same script would not run twice"


def test_files_tell_the_flows_and_the_links_that_they_share():
    result = WormholeSimulation(load_preset("parallel-links")).run()
    pattern_id = int(result.patterns.sort_values("flows")["pattern_id"].iloc[-1])
    from_xml = nx.read_graphml(io.BytesIO(pattern_files.as_graphml(result, pattern_id).encode()), node_type=int)
    (one, other, edge), *_ = from_xml.edges(data=True)
    names = edge["ports"].split("; ")
    shared = result.ports.set_index("name").loc[names]
    assert len(names) == edge["weight"] and set(shared["kind"]) == {edge["kind"]} and "loss" not in edge
    assert edge["rate_bps"] == shared["rate_bps"].min() and edge["delay_s"] == result.network.port_delay_ps[shared["port_id"]].max() / 1e12
    flows = result.flows.set_index("flow_id").loc[[from_xml.nodes[node]["flow_id"] for node in (one, other)]]
    assert flows["src"].tolist() == [from_xml.nodes[node]["src"] for node in (one, other)]
    assert set(names) <= set.intersection(*({result.ports["name"][port] for port in both(result, flow)} for flow in flows.index))


def both(result, flow):
    raw = result.raw
    return [*result.flow_path(flow), *raw.ack_ports[slice(*raw.ack_ptr[flow : flow + 2])].tolist()]


def test_where_the_flows_cannot_be_told_files_have_what_kinds_of_ports_say(patterns, scripted):
    found = pattern_files.detailed(scripted.latest.result, 2)
    assert [set(edge) for *_, edge in found.edges(data=True)] == [{"weight", "rate_bps", "delay_s"}] * 3
    assert all(edge["rate_bps"] == 100_000_000_000 and edge["delay_s"] == 1e-6 for *_, edge in found.edges(data=True))


def test_a_link_that_loses_packets_tells_its_loss():
    network = build_network(load_preset("parallel-links").cluster)
    network.port_loss[0] = 0.25
    told = pattern_files._links(network, np.array([0, 1]))
    assert told["loss"] == 0.25 and told["ports"] == f"{network.port_name(0)}; {network.port_name(1)}"


def test_a_lone_flow_shares_nothing(patterns):
    widget(patterns.selectbox, "Pattern").set_value(0).run()
    widget(patterns.get("button_group"), "Table").set_value("Pairs").run()
    assert any("lone flow" in caption.value for caption in patterns.caption) and not patterns.exception


def test_curves_that_cannot_be_made_say_so(patterns):
    assert "Rates and queues over time are not recorded, and cannot be made for this pattern" in captions(patterns)


def test_rates_and_queues_are_drawn_at_once_where_that_is_cheap_and_kept(iteration, monkeypatch):
    page = iteration()
    assert len(page.get("plotly_chart")) == 6, "four cards, one close up, its curves"
    assert "They start with empty queues and fresh controllers" in captions(page) and "stays within 5 %" in captions(page)
    assert [button.label for button in page.get("download_button")][-1] == "Download curves"
    monkeypatch.setattr(Settling, "advance", None)  # nothing is simulated twice
    widget(page.get("button_group"), "Sort by").set_value("Flows").run()
    assert not page.exception and len(page.get("plotly_chart")) == 6


def test_what_costs_more_is_simulated_when_asked(iteration, monkeypatch):
    monkeypatch.setattr(pattern_curves, "CHEAP_HOPS", 1000)
    page = iteration()
    assert len(page.get("plotly_chart")) == 5 and "are simulated alone to see them" in captions(page)
    press(page, next(button.label for button in page.button if button.label.startswith("Simulate about")))
    assert len(page.get("plotly_chart")) == 6 and not any(button.label.startswith("Simulate about") for button in page.button)


def test_one_that_was_interrupted_goes_on_without_being_asked_again(iteration, monkeypatch):
    monkeypatch.setattr(pattern_curves, "CHEAP_HOPS", 1000)
    page = iteration()
    monkeypatch.setattr(Settling, "begun", True)
    page.run()
    assert len(page.get("plotly_chart")) == 6 and not page.exception


def test_a_run_of_another_mode_offers_wormhole_mode(app):
    widget(app.get("button_group"), "Mode").set_value("flow").run()
    go(run_now(app), "patterns")
    assert "made in mode flow" in app.info[0].value
