"""A newcomer's journey in a real browser: preset, run, cancel, finish, scrub, share; nothing leaves the machine."""

import re
from pathlib import Path

import pytest

from tests.browser.steps import (
    choose,
    choose_mode,
    click_a_flow,
    click_a_lane,
    click_a_port,
    download,
    go,
    press,
    scrub,
    settled,
    zoom_to_the_flow,
)

LONG_MS = 180_000  # the first run compiles the kernel


def test_first_result_in_two_clicks(address, browse):
    page = browse()
    page.goto(address)
    press(page, "Run")
    page.get_by_text("Completion time", exact=True).wait_for(timeout=LONG_MS)
    assert page.get_by_test_id("stMetricValue").count() == 12  # eight of the network, four of where the answer came from
    page.locator(".js-plotly-plot").first.wait_for()


def test_cancel_one_finish_one_scrub_and_share(address, browse):
    page = browse()
    page.goto(address)
    choose(page, "GPT-7B on 64 GPUs")
    page.get_by_text("Memory of each GPU").wait_for()
    page.locator(".js-plotly-plot").nth(2).wait_for()
    choose_mode(page, "Packet")
    press(page, "Run")
    page.get_by_test_id("stProgress").wait_for()
    page.get_by_text(re.compile(r"Simulating every packet: \d+ %")).wait_for(timeout=LONG_MS)
    page.get_by_text("Flows finished").wait_for()
    press(page, "Cancel")
    page.get_by_text("Partial result (cancelled)").wait_for()
    page.get_by_text("Simulated so far").wait_for()
    go(page, "Timeline")
    page.get_by_text("Partial result (cancelled)").wait_for()

    go(page, "Build")
    choose(page, "A small GPT on two servers")
    settled(page)
    press(page, "Run")
    page.get_by_text("Iteration time").wait_for(timeout=LONG_MS)
    time_shown = page.get_by_test_id("stMetricValue").first.inner_text()
    go(page, "Timeline")
    zoom_to_the_flow(page)
    click_a_flow(page)

    go(page, "Network")
    scrub(page)
    click_a_port(page)
    press(page, "Play")
    page.get_by_role("button", name="Pause", exact=True).wait_for()
    press(page, "Pause")
    page.get_by_role("button", name="Play", exact=True).wait_for()

    shared = page.url
    assert "scenario=" in shared
    other = browse()
    other.goto(shared.replace("/network", "/"))
    other.get_by_text("16 GPUs and").wait_for()
    go(other, "Run")
    other.get_by_text("Iteration time").wait_for()
    assert other.get_by_test_id("stMetricValue").first.inner_text() == time_shown


def test_what_was_simulated_what_repeats_and_whether_it_is_right(address, browse):
    page = browse()
    page.goto(address)
    choose(page, "A small GPT on two servers")
    settled(page)
    press(page, "Run")
    page.get_by_text("Where the answer came from").wait_for(timeout=LONG_MS)
    go(page, "Partitions")
    page.get_by_text("Only the dark stretches were simulated").wait_for()
    click_a_lane(page)

    go(page, "Conflict patterns")
    page.get_by_role("button", name="Look closer").nth(1).click()
    settled(page)
    page.get_by_role("radio", name="Pairs").click()
    settled(page)
    assert "<graphml" in Path(download(page, "Download GraphML")).read_text("utf-8")
    page.get_by_role("button", name=re.compile("^See it on the network at ")).click()
    page.get_by_role("heading", name="Partitions", exact=True).wait_for()
    settled(page)

    go(page, "Accuracy")
    press(page, "Run flow and packet mode beside it")
    page.get_by_text("Identical: start and end of").wait_for(timeout=LONG_MS)
    press(page, "Switch replay and skip off, one at a time")
    page.get_by_text("Replay, skip, or both").wait_for(timeout=LONG_MS)


def test_a_page_loaded_anew_during_a_run_shows_it_again(address, browse):
    page = browse()
    page.goto(address)
    choose(page, "GPT-7B on 64 GPUs")
    settled(page)
    choose_mode(page, "Packet")
    press(page, "Run")
    progress = page.get_by_text(re.compile(r"Simulating every packet: [1-9]\d* %"))
    progress.wait_for(timeout=LONG_MS)
    page.reload()
    progress.wait_for()
    press(page, "Cancel")
    page.get_by_text("Partial result (cancelled)").wait_for()


def test_a_preset_is_as_it_was_after_a_look_at_every_section(address, browse):
    page = browse()
    page.goto(address)
    choose(page, "Two tenants share a network")
    settled(page)
    for section in ("Workload", "What goes wrong", "Transport", "Cluster"):
        page.get_by_role("radio", name=section, exact=True).click()
        settled(page)
    assert page.get_by_text("(edited)").count() == 0
    assert page.get_by_role("spinbutton", name="Spine switches").input_value() == "4"
    press(page, "Run")
    page.get_by_role("heading", name="Jobs", exact=True).wait_for(timeout=LONG_MS)
    go(page, "Timeline")
    page.get_by_role("radio", name="mixture", exact=True).click()
    page.wait_for_function(
        """() => {
            const rows = document.querySelectorAll('.js-plotly-plot')[1]?.layout?.yaxis?.ticktext ?? []
            const ranks = rows.filter(row => row.startsWith('rank ')).map(row => parseInt(row.slice(5)))
            return ranks.length > 4 && ranks.every(rank => rank >= 32)
        }"""
    )


def test_files_of_another_tool_are_run(address, browse, tmp_path):
    (tmp_path / "m.cm").write_text("Nodes 4\nConnections 2\n0->1 id 1 start 0 size 2000000\n2->3 id 2 start 0 size 2000000\n")
    page = browse()
    page.goto(address)
    go(page, "Import")
    page.get_by_role("radio", name="htsim", exact=True).click()
    settled(page)
    page.locator("input[type=file]").set_input_files(tmp_path / "m.cm")
    page.get_by_text("The network as it was read").wait_for()
    press(page, "Use this scenario")
    page.get_by_role("heading", name="Build", exact=True).wait_for()
    page.get_by_text("Ready: 2 flows").wait_for()
    press(page, "Run")
    page.get_by_text("2 of 2 flows finished").wait_for(timeout=LONG_MS)
    for name, begins in (("Download HTML report", b"<!DOCTYPE html>"), ("Download Perfetto trace", b"\x1f\x8b"), ("Download CSV", b"PK")):
        assert Path(download(page, name)).read_bytes().startswith(begins)


@pytest.mark.parametrize("width", [1440, 420])
def test_no_page_is_wider_than_its_window_or_shows_an_error(address, browse, width):
    page = browse(width)
    page.goto(address)
    press(page, "Run")
    page.get_by_text("Completion time", exact=True).wait_for(timeout=LONG_MS)
    for name in ("Import", "Timeline", "Network", "Partitions", "Conflict patterns", "Accuracy", "Validation", "Build", "Run"):
        menu = page.get_by_test_id("stExpandSidebarButton")
        if width < 700 and menu.count():
            menu.click()
            page.wait_for_timeout(500)
        go(page, name)
        main = page.get_by_test_id("stMain")
        assert main.evaluate("one => one.scrollWidth") <= main.evaluate("one => one.clientWidth"), name
        assert page.get_by_test_id("stException").count() == 0 and page.get_by_text("encountered an error").count() == 0
        for chart in page.locator(".js-plotly-plot").all():
            assert chart.bounding_box()["width"] <= width
