"""A newcomer's journey in a real browser: preset, run, cancel, finish, scrub, share; nothing leaves the machine."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
BROWSER_ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
LONG_MS = 180_000  # the first run compiles the kernel


def need_browser():
    missing = "no chromium on this machine: apt-get install -y chromium" if CHROMIUM is None else None
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        missing = "playwright is not installed: pip install -r tests/requirements.txt"
    if missing and (os.environ.get("CI") or os.environ.get("REQUIRE_BROWSER")):
        pytest.fail(missing)
    if missing:
        pytest.skip(missing)


@pytest.fixture(scope="module")
def address():
    """The app, served on a free port for the length of these tests."""
    need_browser()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                if urllib.request.urlopen(f"{url}/_stcore/health", timeout=1).read() == b"ok":
                    break
            except OSError:
                time.sleep(0.1)
        else:
            pytest.fail(f"the app did not come up: {' '.join(command)}")
        yield url
    finally:
        server.terminate()
        server.wait(10)


@pytest.fixture
def browse(tmp_path):
    """A function that opens a fresh browser; afterwards: no console error, no request to anywhere else."""
    from playwright.sync_api import sync_playwright

    complaints, outside, contexts = [], [], []

    def watch(page):
        page.on("console", lambda message: complaints.append(message.text) if _is_complaint(message) else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: None if _at_home(request.url) else outside.append(request.url))
        page.on("websocket", lambda socket: None if _at_home(socket.url) else outside.append(socket.url))
        page.set_default_timeout(30_000)
        return page

    with sync_playwright() as playwright:

        def open_browser(width=1440):
            context = playwright.chromium.launch_persistent_context(
                tmp_path / f"profile{len(contexts)}", executable_path=CHROMIUM, args=BROWSER_ARGUMENTS,
                viewport={"width": width, "height": 900},
            )  # fmt: skip
            contexts.append(context)
            return watch(context.new_page())

        yield open_browser
        for context in contexts:
            context.close()
    assert complaints == []
    assert outside == []


def _is_complaint(message):
    """An error, unless it is Streamlit's own search for its root when a page below it is loaded anew."""
    return message.type == "error" and not re.search(r"/run/_stcore/(health|host-config)$", message.location["url"])


def _at_home(url):
    return re.match(r"(https?|wss?)://127\.0\.0\.1[:/]|data:|blob:|about:", url) is not None


def choose(page, preset):
    page.get_by_role("combobox", name="Preset").click()
    page.get_by_role("option", name=preset).click()


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def choose_mode(page, name):
    page.get_by_role("radio", name=name, exact=True).click()
    settled(page)


def settled(page):
    """Wait until the script has run to its end."""
    page.wait_for_timeout(300)
    page.wait_for_function("!document.querySelector('[data-testid=\"stStatusWidget\"]')")


def go(page, name):
    page.get_by_role("link", name=name, exact=True).click()
    page.get_by_role("heading", name=name, exact=True).wait_for()
    settled(page)


def test_first_result_in_two_clicks(address, browse):
    page = browse()
    page.goto(address)
    press(page, "Run")
    page.get_by_text("Iteration time").wait_for(timeout=LONG_MS)
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
    with page.expect_download() as told:
        press(page, "Download GraphML")
    assert "<graphml" in Path(told.value.path()).read_text("utf-8")
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


def scrub(page):
    """Move the time slider with the keyboard; the picture follows."""
    thumb = page.get_by_role("slider").first
    before = page.get_by_text(re.compile(r"^Between ")).inner_text()
    thumb.press("Home")
    page.get_by_text(re.compile(r"^Between 0 s and ")).wait_for()
    for _ in range(3):
        thumb.press("ArrowRight")
    page.wait_for_function("before => !document.body.innerText.includes(before)", arg="Between 0 s and ")
    assert page.get_by_text(re.compile(r"^Between ")).inner_text() != before


def click_a_port(page):
    """Click the dot of a port in the drawing; its detail opens below."""
    settled(page)
    before = page.get_by_role("heading", name=re.compile("^Port ")).inner_text()
    middles = page.evaluate(
        """index => [...document.querySelector('.js-plotly-plot').querySelectorAll('.scatterlayer .trace')[index]
           .querySelectorAll('path.point')].map(dot => dot.getBoundingClientRect())
           .map(box => [box.x + box.width / 2, box.y + box.height / 2])""",
        port_trace(page),
    )
    for x, y in middles[::7]:
        page.mouse.move(x - 1, y)
        page.mouse.click(x, y)
        page.wait_for_timeout(800)
        if page.get_by_role("heading", name=re.compile("^Port ")).inner_text() != before:
            return
    pytest.fail(f"clicks on ports left the page at {before!r}")


def click_a_lane(page):
    """Click the bar of a partition; its ports are those on the network below."""
    settled(page)
    chosen = page.get_by_role("combobox", name=re.compile("^Partition ")).input_value()
    middles = page.evaluate(
        """[...document.querySelectorAll('.js-plotly-plot')[0].querySelectorAll('.barlayer .trace.bars path')]
           .map(bar => bar.getBoundingClientRect()).filter(box => box.width > 3)
           .map(box => [box.x + box.width / 2, box.y + box.height / 2])"""
    )
    for x, y in middles[::-1][:30]:
        page.mouse.move(x - 1, y)
        page.mouse.click(x, y)
        page.wait_for_timeout(700)
        if page.get_by_role("combobox", name=re.compile("^Partition ")).input_value() != chosen:
            return
    pytest.fail(f"clicks on lanes left the page at {chosen!r}")


def port_trace(page):
    """Which trace of the drawing holds the ports (the one with customdata)."""
    return page.evaluate("document.querySelector('.js-plotly-plot').data.findIndex(trace => trace.customdata)")


def zoom_to_the_flow(page):
    """Press the button and wait until the Gantt chart shows a narrower time."""
    gantt = "document.querySelectorAll('.js-plotly-plot')[1]"
    page.wait_for_function(f"{gantt} && {gantt}.layout")
    whole = page.evaluate(f"{gantt}.layout.xaxis.range")
    press(page, "Zoom to it")
    page.wait_for_function(
        f"([a, b]) => {{ const [c, d] = {gantt}.layout.xaxis.range; return d - c < (b - a) / 2 }}", arg=whole
    )
    settled(page)


def click_a_flow(page):
    """Click the bar of a flow in the Gantt chart; the close look below turns to it."""
    chosen = page.get_by_role("combobox", name="Flow").input_value()
    middles = page.evaluate(
        """[...document.querySelectorAll('.js-plotly-plot')[1].querySelectorAll('.barlayer .trace.bars path')]
           .map(bar => bar.getBoundingClientRect()).filter(box => box.width > 4)
           .map(box => [box.x + box.width / 2, box.y + box.height / 2])"""
    )
    for x, y in middles[::-1][:40]:
        page.mouse.move(x - 1, y)
        page.mouse.click(x, y)
        page.wait_for_timeout(400)
        if page.get_by_role("combobox", name="Flow").input_value() != chosen:
            return
    pytest.fail(f"clicks on bars left the page at {chosen!r}")


@pytest.mark.parametrize("width", [1440, 420])
def test_no_page_is_wider_than_its_window_or_shows_an_error(address, browse, width):
    page = browse(width)
    page.goto(address)
    press(page, "Run")
    page.get_by_text("Iteration time").wait_for(timeout=LONG_MS)
    for name in ("Timeline", "Network", "Partitions", "Conflict patterns", "Accuracy", "Build", "Run"):
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
