"""The network at a moment: colours follow utilisation, points carry their port."""

import numpy as np

from sim.preset import load_preset
from tests import fabricate
from views.figures import heat as heat_module
from views.figures.heat import down_links, heat, impaired
from views.parts import palette


def port_points(figure):
    (trace,) = [trace for trace in figure.data if trace.customdata is not None]
    return trace


def test_every_port_can_be_clicked_and_shows_its_own_utilisation(incast):
    trace = port_points(heat(incast, 5))
    ports = np.asarray(trace.customdata)
    assert sorted(ports) == list(range(incast.network.n_ports))
    np.testing.assert_allclose(np.asarray(trace.marker.color), 100 * incast.series.utilisation(5)[ports])


def test_hover_names_the_port_with_speed_queue_marks_and_pauses(incast):
    text = port_points(heat(incast, 30)).text[1]
    for part in ("switch0->gpu0", "100 Gb/s", "utilisation 97 %", "deepest queue", "ECN marks", "paused"):
        assert part in text


def test_the_line_of_a_full_link_is_the_hottest_colour(incast):
    lines = {trace.line.color for trace in heat(incast, 5).data if trace.mode == "lines"}
    assert palette.heat(11.5 / 12) in lines  # the receiver's port at 97 %


def test_selected_port_gets_a_halo_below_the_colours(incast):
    names = [trace.name for trace in heat(incast, 5, selected=1).data]
    assert names[0] == "selected port"


def test_large_networks_draw_the_busier_direction_only(gpt, monkeypatch):
    monkeypatch.setattr(heat_module, "DIRECTIONS_APART", 10)
    monkeypatch.setattr(heat_module, "MARKED_PORTS", 10)
    ports = np.asarray(port_points(heat(gpt, 50)).customdata)
    share = gpt.series.utilisation(50)
    assert len(ports) == gpt.network.n_ports // 2
    assert (share[ports] >= share[ports ^ 1]).all()


def test_a_link_is_drawn_broken_only_while_it_is_down():
    result = fabricate.result(load_preset("link-failure"))  # leaf0-spine0 is down from 200 to 600 us
    down = {time_us: down_links(result, time_us * 1e-6) for time_us in (100, 300, 700)}
    assert [len(ports) for ports in down.values()] == [0, 1, 0]
    assert result.network.port_name(int(down[300][0])) in ("leaf0->spine0", "spine0->leaf0")
    names = [{trace.name for trace in heat(result, result.series.bin_at(time_us * 1e-6)).data} for time_us in down]
    assert ["link down" in those for those in names] == [False, True, False]


def test_heat_colours_get_darker_all_the_way():
    def lightness(colour):
        red, green, blue = (int(part) for part in colour[4:-1].split(","))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    steps = [lightness(palette.heat(share)) for share in np.linspace(0.2, 1, 30)]
    assert (np.diff(steps) < 0).all()


def test_paused_ports_have_a_square_below_their_point(incast):
    bin = int(np.flatnonzero(incast.series.paused_s.any(axis=0))[0])
    names = [trace.name for trace in heat(incast, bin).data]
    assert "paused by PFC" in names and "paused by PFC" not in [trace.name for trace in heat(incast, 0).data]
    (squares,) = [trace for trace in heat(incast, bin).data if trace.name == "paused by PFC"]
    assert len(squares.x) == np.count_nonzero(incast.series.paused_s[:, bin])
    assert names.index("paused by PFC") < [trace.customdata is not None for trace in heat(incast, bin).data].index(True)


def test_all_links_of_a_switch_are_broken_while_it_is_down():
    faults = [{"kind": kind, "a": "spine0", "at_us": at_us} for kind, at_us in (("switch-down", 200), ("switch-up", 600))]
    result = fabricate.result(load_preset("link-failure").replace_all({"faults": faults}))
    down = {time_us: {result.network.port_name(int(port)) for port in down_links(result, time_us * 1e-6)} for time_us in (100, 300, 700)}
    assert [len(names) for names in down.values()] == [0, 4, 0]
    assert all("spine0" in name for name in down[300])


def test_links_that_lose_packets_or_are_slow_are_marked_until_set_right():
    def fault(kind, at_us, **more):
        return {"kind": kind, "a": "leaf0", "b": "spine0", "at_us": at_us, **more}

    lossy = [fault("loss", 0, probability=0.01), fault("loss", 300, probability=0)]
    faults = [*lossy, fault("degrade", 200, rate_factor=0.5), fault("degrade", 600, rate_factor=1)]
    result = fabricate.result(load_preset("link-failure").replace_all({"faults": faults}))
    marked = {time_us: [int(impaired(result, time_us * 1e-6, kind).sum()) for kind in ("loss", "degrade")] for time_us in (100, 250, 400, 700)}
    assert marked == {100: [2, 0], 250: [2, 2], 400: [0, 2], 700: [0, 0]}, "both directions of one link"
    names = {trace.name for trace in heat(result, result.series.bin_at(100e-6)).data}
    assert "loses packets" in names and "slowed down" not in names
