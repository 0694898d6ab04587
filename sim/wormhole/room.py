"""Whether the next step has room in every array; what is missing is made by `memory.make_room`, outside compiled code."""

from sim.jit import called

SPARE_WORDS, SPARE_ITEMS = 1 << 15, 256


@called
def measure_needs(s, w, d):
    """Write down the room that one step can need at most; the packets of a partition fill the pool at most."""
    p = w.p[0]
    g = s.g[0]
    flows = p.live_flows + d.p[0].ready + p.ready + p.slots
    per_packet = 12 + 5 * (g.hops_max if g.telemetry else 0)
    per_flow = p.columns + 2 * g.region_size + 16 + 3 * g.hops_max
    p.need_words = SPARE_WORDS + 3 * (p.live_words + p.capacity_packets * per_packet + flows * (per_flow + 16 * g.region_size))
    p.need_lists = SPARE_WORDS + 2 * p.live_lists + flows * 4 * g.region_size
    p.need_items = SPARE_ITEMS + 2 * flows
    p.need_packets = p.live_packets + SPARE_ITEMS


@called
def has_room(s, w, d):
    """Whether every array has the room that one step can need."""
    p = w.p[0]
    g = s.g[0]
    measure_needs(s, w, d)
    return (
        p.arena_end + p.need_words <= p.capacity_arena
        and p.lists_end + p.need_lists <= p.capacity_lists
        and p.live_parts + p.need_items <= p.capacity_parts
        and p.heap + p.need_items <= p.capacity_heap
        and p.states + p.need_items <= p.capacity_states
        and p.outcomes + p.need_items <= p.capacity_outcomes
        and p.joins + p.need_items <= p.capacity_joins
        and p.episodes + p.need_items <= p.capacity_episodes
        and p.live_lists + p.need_items * 2 <= p.capacity_tmp
        and g.free_flows >= p.need_items
        and g.free_regions >= p.need_items
        and (p.solving >= 0 or g.free_packets >= p.need_packets)
    )
