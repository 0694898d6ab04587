"""How much is found out at once, and whether finding out pays."""

from sim.jit import called, kernel
from sim.wormhole.layout import PAUSE_POINT

WORDS_PER_HOP = 8  # that can be put, hashed or loaded in the time of a packet-hop
HOPS_PER_SOLVE = 40  # what loading and emptying cost besides
LINGER_HOPS_PER_WORD = 2  # so that words take at most a fifth of the time
SHORTEST_CHUNK, LONGEST_CHUNK = 512, 1 << 17  # packet-hops solved ahead at once
GUARD_SHARE = 0.8  # of the packet-hops credited: with less to gain the rest is run packet by packet
LOSS_SHARE = 1.3  # with more spent than that, it is given up at the first look


@kernel
def labour(w):
    """Packet-hops simulated so far, and what went into words in their measure."""
    p = w.p[0]
    return p.executed + p.words_moved // WORDS_PER_HOP + HOPS_PER_SOLVE * (p.solves + p.join_misses)


@kernel
def note_chunk(w, o):
    """What is paused at gets longer the longer nothing interrupts; what follows a pause keeps to what was so at the pause."""
    p = w.p[0]
    p.chunk = min(LONGEST_CHUNK, p.chunk + p.chunk // 8)
    O = w.outcome[o]
    if O.kind == PAUSE_POINT:
        S = w.state[w.arena[w.arena[O.at + 2]]]
        if S.chunk == 0:
            S.chunk = p.chunk


@kernel
def pause_after(w):
    """Packet-hops after which a partition that has no event is put into words, to lose less if something enters."""
    p = w.p[0]
    if p.logged > 0:
        return p.linger
    return max(p.pause, p.linger) if p.slots >= p.large else p.pause


@called
def is_lost_labour(w):
    """Whether going on packet by packet costs less: too little of what is credited is replayed or skipped, or too much is put into words.

    What counts is what came since the network was last divided into partitions.
    """
    p = w.p[0]
    credited = p.credited - p.credited_before
    p.spent = labour(w) - p.spent_before
    if p.spent > p.first_look and p.spent > LOSS_SHARE * (credited + p.pending):
        return True
    return p.spent > p.guard and p.pending <= credited and p.spent > GUARD_SHARE * credited
