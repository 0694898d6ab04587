"""The app on a free port, and browsers that watch for complaints and for requests to anywhere else."""

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
