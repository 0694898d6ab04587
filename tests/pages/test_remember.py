"""The switch that lets runs begin with what earlier ones have learnt."""

from tests.pages.app_under_test import press


def switch(app):
    return next(toggle for toggle in app.toggle if toggle.label == "Remember")


def test_runs_remember_only_when_told(finished, scripted):
    assert scripted.latest.options["memo"] is None
    assert not switch(finished).value
    switch(finished).set_value(True).run()
    assert switch(finished).value
    press(finished, "Run again")
    assert scripted.latest.options["memo"] == "user"
