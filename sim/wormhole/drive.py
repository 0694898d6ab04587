"""The one compiled entry of every run: packet by packet, or along the graph of states with packets where it ends."""

from sim.jit import called, entry
from sim.packet.layout import IDLE, NEED_FLOWS, NEED_PACKETS, NEVER, RUNNING
from sim.packet.loop import advance
from sim.player.loop import FINISHED, LIMIT, STALLED, handle_instant, start_ready
from sim.rows import bundle_of
from sim.wormhole.effort import pause_after
from sim.wormhole.loop import NEED_ROOM, PACKETS, SOLVING, after_packets, walk
from sim.wormhole.room import has_room
from sim.wormhole.solve import solve_stop


@entry
def drive(s, d, w, table, limit, hop_limit):
    """Play until everything has ended, to time `limit` (excluded), or past `hop_limit` packet-hops simulated.

    Returns FINISHED, RUNNING (hop limit), LIMIT, STALLED (nothing can happen any more), NEED_FLOWS, NEED_PACKETS,
    NEED_ROOM, GUARD (the wormhole kernel gains nothing here) or HALTED.
    """
    return go_on(bundle_of(s), bundle_of(d), bundle_of(w), bundle_of(table), limit, hop_limit)


@called
def go_on(s, d, w, table, limit, hop_limit):
    """See `drive`."""
    g = s.g[0]
    p = w.p[0]
    while True:
        packets = p.phase == PACKETS
        stop = limit
        hops = hop_limit
        if packets:
            if not start_ready(s, d, table):
                return NEED_FLOWS
            if d.p[0].left == 0:
                return FINISHED
            if g.packet_hops >= hop_limit:
                return RUNNING
            timer = d.heap[0].at if d.p[0].heap > 0 else NEVER
            stop = min(timer + 1, limit)
        else:
            p.limit = limit
            if p.solving < 0:
                code = walk(s, w, d, table)
                if code != SOLVING:
                    return code
            elif not has_room(s, w, d):
                return NEED_ROOM
            if g.packet_hops >= hop_limit:
                return RUNNING
            stop = solve_stop(s, w)
            if p.probing == 0 and p.solve_until == NEVER:
                hops = min(hop_limit, p.hops_before + pause_after(w) + 1)
        status = advance(s, stop, hops)
        if status == NEED_PACKETS:
            return NEED_PACKETS
        if not packets:
            after_packets(s, w, d, table, status)
        elif g.events > 0 or (status == IDLE and stop == timer + 1 and g.now == timer + 1):
            handle_instant(s, d, g.now - 1)
        elif status == IDLE:
            return STALLED if timer == NEVER and g.active_flows == 0 else LIMIT
