"""Between the graph of states and a packet simulation of the whole network: what is under way, links as they are, clock, books."""

from sim.packet.layout import NEVER
from sim.packet.state import State
from sim.wormhole.drive import drive
from sim.wormhole.layout import STATISTICS, Wormhole
from sim.wormhole.loop import DIVIDING, LOADING, NEED_ROOM, PACKETS
from sim.wormhole.memory import NO_LIMIT, START, check_arena, grow_pool, make_room

OF_LINKS = ("rate_bps", "ps_per_byte", "loss", "up")  # what faults change of a port for good
COUNTERS = ("data_packets", "marks", "pauses", "drops", "losses", "retransmits", "timeouts")


def into_packets(w: Wormhole, scratch: State, whole: State, plan, table, packet_hops: int):
    """Load every partition into the idle packet simulation `whole`, with the clock, the links and the books of the graph.

    `scratch` is what partitions were solved in. Returns the memory and the simulation, grown where need be.
    """
    p, g = w.p[0], whole.g[0]
    follow(whole, scratch)
    g["now"] = g["wheel_start"] = p["now"] + 1
    g["packet_hops"] = packet_hops
    for name in ("bins", "bin_shift", "bin_rows", *COUNTERS):
        g[name] = p[name]
    for name in STATISTICS:
        whole.port[name] = w.port[name]
    whole.bins[:] = w.bins
    w, whole = make_room(w, whole)
    while whole.g[0]["free_packets"] < p["live_packets"]:
        whole = grow_pool(w, whole)
    p["need_items"] = max(int(p["need_items"]), int(p["live_lists"]) + whole.flow.size)
    w, whole = make_room(w, whole)
    return _run_phase(LOADING, w, whole, plan, table)


def into_partitions(w: Wormhole, whole: State, make_scratch, plan, table):
    """Make partitions of all that `whole` holds, unless there is something that no state can hold.

    `make_scratch` makes the idle network in which they are solved. Returns the memory and the simulation that the run goes
    on with: that one, or `whole` as it was.
    """
    p, flows = w.p[0], whole.g[0]["active_flows"]
    p["slots"] = p["need_items"] = flows
    w, whole = make_room(w, whole)
    w, whole = _run_phase(DIVIDING, w, whole, plan, table)
    if p["phase"] == PACKETS:
        return w, whole
    scratch = make_scratch()
    follow(scratch, whole)
    for name in ("bins", "bin_shift", *COUNTERS):
        p[name] = whole.g[0][name]
    for name in STATISTICS:
        w.port[name] = whole.port[name]
    w.bins[:] = whole.bins
    scratch.g[0]["now"] = scratch.g[0]["wheel_start"] = START
    return make_room(w, scratch)


def _run_phase(phase, w, state, plan, table):
    """Let compiled code go through a phase, which one call does once there is room for it."""
    p = w.p[0]
    p["phase"], p["budget"] = phase, NO_LIMIT
    while p["phase"] == phase:
        code = drive(state, plan, w, table, NEVER, 0)
        check_arena(w)
        if code == NEED_ROOM:
            w, state = make_room(w, state)
    return w, state


def follow(state: State, other: State) -> None:
    """Let the links of an idle network be as they are in another one."""
    for name in OF_LINKS:
        state.port[name] = other.port[name]
    state.g[0]["windows"] = other.g[0]["windows"]
