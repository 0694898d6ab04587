"""Take over what another thread has found out about a partition, as if it had been found out here."""

from numpy import int64

from sim.jit import called, entry
from sim.rows import bundle_of
from sim.wormhole.canonical import put
from sim.wormhole.effort import note_chunk
from sim.wormhole.graph import keep_state
from sim.wormhole.outcome import MAIN, PER_FLOW, PER_PORT, keep_outcome


@entry
def adopt(w, v, a):
    """Partition `a` of `w` gets the outcome that `v` found first; `v` began with that partition's state and nothing else."""
    adopt_outcome(bundle_of(w), bundle_of(v), a)


@called
def copy_words(w, v, at, count):
    """Append words of the other arena."""
    for j in range(at, at + count):
        put(w, v.arena[j])


@called
def adopt_component(w, v, at):
    """The state of one component and its block, as `solve.keep_component` puts them; returns the block's place."""
    p = w.p[0]
    S = v.state[v.arena[at]]
    begin = p.arena_end
    copy_words(w, v, S.at, S.words)
    p.ports = S.ports
    p.packets = S.packets
    state = keep_state(w, begin, S.flows)
    block = p.arena_end
    put(w, state)
    copy_words(w, v, at + 1, 2 + v.arena[at + 1] + v.arena[at + 2])
    return block


@called
def adopt_outcome(w, v, a):
    """See `adopt`."""
    p = w.p[0]
    A = w.part[a]
    V = v.outcome[0]
    flows = int64(A.flows)
    o = keep_outcome(w, A.state, MAIN)
    O = w.outcome[o]
    O.kind = V.kind
    O.dt = V.dt
    O.hops = V.hops
    O.skipped = V.skipped
    O.data_packets = V.data_packets
    O.marks = V.marks
    O.pauses = V.pauses
    O.drops = V.drops
    O.losses = V.losses
    O.retransmits = V.retransmits
    O.timeouts = V.timeouts
    O.skipped_ps = V.skipped_ps
    O.skip_from = V.skip_from
    O.periods = V.periods
    O.variance = V.variance
    if V.drew > 0:
        O.drew = p.arena_end
        copy_words(w, v, V.drew, 3 * flows)
    events = v.arena[V.at]
    comps = v.arena[V.at + 1]
    words = p.words_moved
    for c in range(comps):
        w.tmp[c].block = adopt_component(w, v, v.arena[V.at + 2 + c])
    O.at = p.arena_end
    put(w, events)
    put(w, comps)
    for c in range(comps):
        put(w, w.tmp[c].block)
    copy_words(w, v, V.at + 2 + comps, 2 * events + PER_FLOW * flows + PER_PORT * int64(A.ports))
    p.words_moved = words + v.p[0].words_moved
    p.executed += O.hops
    p.misses += 1
    p.solves += 1
    p.found_periods += v.p[0].found_periods
    note_chunk(w, o)
