"""Network page: time scrubbed and played, a port chosen by list or by click."""

from tests.pages.app_under_test import go, press, run_now, widget


def port_heading(app):
    return next(heading.value for heading in app.subheader if heading.value.startswith("Port "))


def test_without_a_result_the_page_says_how_to_get_one(app):
    go(app, "network")
    assert app.info[0].value == "Nothing has been simulated yet." and not app.get("plotly_chart")


def test_opens_at_the_busiest_moment_on_the_most_troubled_port(finished):
    go(finished, "network")
    assert len(finished.get("plotly_chart")) == 2
    assert finished.subheader[0].value == "Incast: 16 senders, one receiver"
    assert port_heading(finished) == "Port switch0->gpu16"
    assert [metric.label for metric in finished.metric] == [
        "Mean utilisation",
        "Deepest queue",
        "ECN marks",
        "Paused by PFC",
    ]


def test_scrubbing_moves_the_moment(finished):
    go(finished, "network")
    finished.select_slider[0].set_value(0).run()
    assert any(caption.value.startswith("Between 0 s and") for caption in finished.caption)
    finished.select_slider[0].set_value(63).run()
    assert not finished.exception
    assert any("and 1.30 ms" in caption.value for caption in finished.caption)


def test_any_port_can_be_chosen_by_name(finished):
    go(finished, "network")
    port = widget(finished.selectbox, "Port")
    port.select_index(3).run()
    assert not finished.exception
    assert port_heading(finished).startswith("Port gpu")


def test_play_starts_and_pauses(finished):
    go(finished, "network")
    before = finished.select_slider[0].value
    press(finished, "Play")
    assert "Pause" in [button.label for button in finished.button]
    assert finished.select_slider[0].value > before
    press(finished, "Pause")
    assert "Play" in [button.label for button in finished.button]


def test_a_new_run_forgets_the_port_of_the_old_one(finished):
    go(finished, "network")
    go(finished, "build")
    widget(finished.selectbox, "Preset").select("gpt-small-16").run()
    run_now(finished)
    go(finished, "network")
    assert not finished.exception and "switch0" not in port_heading(finished)


def test_moment_and_port_are_kept_while_on_another_page(finished):
    go(finished, "network")
    finished.select_slider[0].set_value(7).run()
    widget(finished.selectbox, "Port").select_index(5).run()
    heading = port_heading(finished)
    go(go(finished, "timeline"), "network")
    assert finished.select_slider[0].value == 7 and port_heading(finished) == heading


def test_partial_results_are_drawn_and_marked(app):
    run_now(app, stop_after=0.3)
    go(app, "network")
    assert app.subheader[0].value == "Incast: 16 senders, one receiver – partial result"
    assert "Partial result" in app.warning[0].value and len(app.get("plotly_chart")) == 2


def test_the_share_of_traffic_of_others_is_told_where_there_is_any(app):
    widget(app.selectbox, "Preset").select("two-tenants").run()
    go(run_now(app), "network")
    share = next(metric.value for metric in app.metric if metric.label == "Background")
    assert share.endswith(" %") and not app.exception
    assert set(app.dataframe[0].value["job"]) <= {"own job", "mixture", "background 1"}


def test_paused_ports_are_explained_where_there_are_any(finished):
    go(finished, "network")
    bins = finished.select_slider[0]
    assert any("PFC paused that port" in caption.value for caption in finished.caption)
    bins.set_value(63).run()
    assert not any("PFC paused that port" in caption.value for caption in finished.caption)


def test_a_port_without_marks_says_so_and_does_not_explain_them(app, scripted):
    press(app, "Run")
    scripted.latest.end()
    scripted.latest.result.raw.series_marks[:] = 0
    (told,) = [caption.value for caption in go(app, "network").caption if "No packet was marked at this port." in caption.value]
    assert "kmin" not in told and "While it is paused" in told


def test_the_first_look_is_at_a_link_with_a_fault(app):
    widget(app.selectbox, "Preset").select("lossy-link").run()
    page = go(run_now(app), "network")
    assert {"leaf0", "spine0"} == set(page.subheader[-1].value.removeprefix("Port ").split("->"))
