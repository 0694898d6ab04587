"""The switch that lets runs begin with what earlier ones have learnt."""

from tests.pages.app_under_test import press
from views.parts.words import show_bytes


def switch(app):
    return next(toggle for toggle in app.toggle if toggle.label == "Remember")


def test_runs_remember_only_when_told(finished, scripted):
    assert scripted.latest.options["memo"] is None
    assert not switch(finished).value
    switch(finished).set_value(True).run()
    assert switch(finished).value
    press(finished, "Run again")
    assert scripted.latest.options["memo"] == "user"


def kept(app):
    return [caption.value for caption in app.caption if "Remembered for later runs" in caption.value]


def test_what_was_kept_is_said_after_such_a_run_and_no_other(finished, scripted):
    switch(finished).set_value(True).run()
    assert not kept(finished), "this run was made before"
    press(finished, "Run again")
    scripted.latest.end()
    (line,) = kept(finished.run())
    memo = scripted.latest.result.summary["memo"]
    assert f"{memo['patterns']} states" in line and show_bytes(memo["bytes"]) in line
    switch(finished).set_value(False).run()
    press(finished, "Run again")
    scripted.latest.end()
    assert not kept(finished.run())
