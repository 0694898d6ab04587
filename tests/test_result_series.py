"""Curves of ports over time."""

import numpy as np

from sim.modes import make_simulation
from sim.preset import load_preset
from sim.result_series import PortSeries, _held_while_paused


def test_a_queue_stays_as_it_is_while_its_port_is_paused():
    queue = np.array([[5, 0, 0, 0, 7, 0], [0, 3, 0, 0, 0, 0]])
    paused = np.array([[10, 100, 100, 0, 0, 0], [100, 0, 100, 100, 0, 100]])
    sent = np.array([[9, 2, 3, 0, 7, 0], [0, 0, 1, 5, 0, 0]])
    assert _held_while_paused(queue, paused, sent).tolist() == [[5, 5, 3, 0, 7, 0], [0, 3, 3, 2, 0, 0]]


def test_ports_of_a_pfc_storm_keep_their_queues():
    result = make_simulation(load_preset("pfc-storm"), "packet").run()
    series = PortSeries.of(result.raw)
    port = next(port for port in range(result.network.n_ports) if result.network.port_name(port) == "leaf3->spine0")
    paused = series.paused_s[port] > 0
    assert paused.sum() > 10
    assert (series.max_queue_bytes[port][paused] > 100_000).all()
    assert not result.raw.series_max_queue_bytes[port][paused].all(), "nothing comes in a bin that a pause fills"
