"""What a flow would take alone: the yardstick of slowdowns."""

import numpy as np

from sim.units import PS_PER_S


def ideal_fct_ps(case) -> np.ndarray:
    """int64[F]: the flow alone on its idle path, store and forward, no packet sooner than the one before it."""
    table, settings, network = case.table, case.settings, case.network
    size = table.size_bytes
    if not len(size):
        return np.zeros(0, np.int64)
    packets = -(-size // settings.payload_bytes)
    full = np.minimum(settings.payload_bytes, size) + settings.header_bytes
    last = np.where(packets > 0, size - (packets - 1) * settings.payload_bytes + settings.header_bytes, 0)
    per_byte, delay = 8 * PS_PER_S / network.port_rate_bps, network.port_delay_ps
    hops = np.diff(table.data_ptr)
    pipe, slowest, arrived = np.zeros(len(size)), np.zeros(len(size)), np.zeros(len(size))
    for hop in range(int(hops.max())):
        on = np.flatnonzero((hops > hop) & (packets > 0))
        each = per_byte[table.data_ports[table.data_ptr[on] + hop]]
        pipe[on] += full[on] * each
        slowest[on] = np.maximum(slowest[on], full[on] * each)
        before = np.where(packets[on] > 1, pipe[on] + (packets[on] - 2) * slowest[on], 0)
        arrived[on] = np.maximum(arrived[on], before) + last[on] * each
    ack = np.add.reduceat(per_byte[table.ack_ports], table.ack_ptr[:-1]) * settings.ack_bytes * (packets > 0)
    delays = np.add.reduceat(delay[table.data_ports], table.data_ptr[:-1]) + np.add.reduceat(
        delay[table.ack_ports], table.ack_ptr[:-1]
    )
    return delays + np.floor(arrived + ack + 1e-3).astype(np.int64)


def empty_flow_times(case) -> np.ndarray:
    """int64[F, 2]: when a flow without bytes counts as delivered and acknowledged; -1 for all others."""
    table, delay = case.table, case.network.port_delay_ps
    times = np.full((max(1, len(table.size_bytes)), 2), -1, np.int64)
    empty = np.flatnonzero(table.size_bytes == 0)
    for f in empty.tolist():
        there = delay[table.data_ports[table.data_ptr[f] : table.data_ptr[f + 1]]].sum()
        times[f] = there, there + delay[table.ack_ports[table.ack_ptr[f] : table.ack_ptr[f + 1]]].sum()
    return times
