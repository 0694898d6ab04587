"""Opening and using the app under Streamlit's own test runner, with a job that does what the test tells it to."""

import threading
from pathlib import Path
from types import SimpleNamespace

from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest

from sim import job as jobs
from sim.preset import from_link
from tests import fabricate, fabricate_records

APP = Path(__file__).parents[2] / "app.py"


class ScriptedJob:
    """Has the interface of `sim.job.Job`, but moves on only when told."""

    latest = None

    def __init__(self, scenario, mode=None, **options):
        self.scenario, self.state, self.progress, self.result, self.error = scenario, "waiting", None, None, None
        self.mode, self.options = mode or scenario.simulation.mode, options
        self._ended = threading.Event()
        ScriptedJob.latest = self

    def start(self):
        self.state = "compiling"

    def cancel(self):
        if self.state == "running":
            self.end("cancelled", stop_after=0.5)
        elif self.state not in jobs.ENDED:
            self.state = "cancelled"
            self._ended.set()

    def wait(self, timeout=None):
        return self._ended.wait(timeout)

    def run_to(self, fraction):
        self.state = "running"
        self.progress = SimpleNamespace(
            fraction=fraction, sim_time_s=fraction * 1e-3, packet_hops=int(fraction * 1e6),
            flows_finished=int(fraction * 16), flows_total=16, bytes_left=int((1 - fraction) * 16e6), eta_s=None if fraction == 0 else 4.2,
            kernel=fabricate_records.kernel(int(fraction * 1e6)) if self.mode == "wormhole" else None,
        )  # fmt: skip

    def end(self, state="finished", stop_after=1.0):
        self.result = fabricate.result(self.scenario, stop_after)
        self.result.raw.mode = self.mode
        if self.mode == "wormhole":
            fabricate_records.add_to(self.result)
        self.state = state
        self._ended.set()

    def fail(self, message):
        self.state, self.error = "failed", message
        self._ended.set()


def opened(link=None) -> AppTest:
    """The app on its first page, optionally opened by a shared link."""
    app = AppTest.from_file(APP, default_timeout=60)
    if link is not None:
        app.query_params["scenario"] = link
    return app.run()


def close_the_tab():
    """What Streamlit does when a page is left or loaded anew; all apps under test are one session to it."""
    clear_session_resource_cache("test session id")


def run_now(app, stop_after=1.0):
    """Press Run and let the job end."""
    press(app, "Run")
    ScriptedJob.latest.end("finished" if stop_after == 1 else "cancelled", stop_after)
    return go(app, "run")


def go(app, page):
    app.switch_page(f"views/{page}.py").run()
    assert not app.exception, app.exception
    return app


def press(app, label):
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception, app.exception
    return app


def linked(app):
    """The scenario that the address bar holds."""
    given = app.query_params["scenario"]
    return from_link(given if isinstance(given, str) else given[0])


def widget(kind, label):
    return next(one for one in kind if one.label == label)
