"""The states that are known: found by their words, kept once."""

from numpy import int64, uint64

from sim.jit import called, kernel
from sim.packet.draw import mix


@kernel
def hash_words(w, begin, end):
    """Hash of arena words; a filter only, the words themselves are compared."""
    h = uint64(0x9E3779B97F4A7C15)
    for j in range(begin, end):
        h = (h ^ uint64(w.arena[j])) * uint64(0xBF58476D1CE4E5B9)
        h ^= h >> uint64(29)
    return int64(mix(h) >> uint64(1))


@kernel
def same_words(w, a, b, count):
    """Whether two runs of arena words are equal."""
    j = 0
    while j < count and w.arena[a + j] == w.arena[b + j]:
        j += 1
    return j == count


@called
def keep_state(w, begin, n):
    """The number of the state whose words begin there: a known one (the words are dropped) or a new one."""
    p = w.p[0]
    words = p.arena_end - begin
    p.words_moved += 2 * words
    h = hash_words(w, begin, p.arena_end)
    j = h & p.state_mask
    while p.use_memo and w.state_index[j] >= 0:
        S = w.state[w.state_index[j]]
        if S.hash == h and S.words == words and same_words(w, S.at, begin, words):
            p.arena_end = begin
            return int64(w.state_index[j])
        j = (j + 1) & p.state_mask
    i = p.states
    p.states += 1
    S = w.state[i]
    S.at = begin
    S.words = words
    S.hash = h
    S.flows = n
    S.ports = p.ports
    S.packets = p.packets
    S.visits = 0
    S.chunk = 0
    S.ahead = 0
    if p.use_memo:
        w.state_index[j] = i
    return i
