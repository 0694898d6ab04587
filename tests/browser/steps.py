"""Steps of a journey: choosing, pressing, waiting, and clicks on what charts have drawn."""

import re

import pytest

DOWNLOADS_TRIED, DOWNLOAD_MS = 4, 15_000  # a press is lost while the page is being drawn anew


def choose(page, preset):
    page.get_by_role("combobox", name="Preset").fill(preset)  # the list shows a few at a time
    page.get_by_role("option", name=preset).first.click()


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def download(page, name):
    """Press a download button until a file comes; the file's path."""
    from playwright.sync_api import TimeoutError as TooLate

    for tried in range(DOWNLOADS_TRIED):
        settled(page)
        try:
            with page.expect_download(timeout=DOWNLOAD_MS) as taken:
                press(page, name)
            return taken.value.path()
        except TooLate:
            if tried == DOWNLOADS_TRIED - 1:
                raise


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
