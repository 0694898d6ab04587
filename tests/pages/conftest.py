"""Every page test runs with a scripted job and empty caches."""

from types import SimpleNamespace

import pytest
import streamlit as st

from sim import job as jobs
from tests.pages.app_under_test import ScriptedJob, opened, run_now


@pytest.fixture(autouse=True)
def scripted(monkeypatch):
    st.cache_resource.clear()
    monkeypatch.setattr(jobs, "Job", ScriptedJob)
    monkeypatch.setattr(jobs, "warm_up", lambda: SimpleNamespace(state="ready"))
    ScriptedJob.latest = None
    return ScriptedJob


@pytest.fixture
def app():
    """The opened app, on its first page."""
    return opened()


@pytest.fixture
def finished(app):
    """The app with a finished run of the first preset, on the Run page."""
    return run_now(app)
