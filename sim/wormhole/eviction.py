"""Forget what has not proved useful, when the memo has reached its limit: memory is bounded where nothing repeats.

Kept is what partitions stand on now, and outcomes that were played more than once since the last time; states
that nobody refers to any more go, and all joins, which are quickly put together again.
"""

import numpy as np

from sim.wormhole.layout import ACTIVE, FORGOTTEN, Wormhole

MOST_WORDS = 48 << 20  # of the arena: 384 MB
WORTH_KEEPING = 2  # uses since the last time


class _Arena:
    """A new arena that words are copied to."""

    def __init__(self, old: np.ndarray):
        self.old, self.words, self.end = old, np.zeros(old.size, old.dtype), 0  # zeros_like would touch every page

    def copy(self, at: int, count: int) -> int:
        self.words[self.end : self.end + count] = self.old[at : at + count]
        self.end += count
        return self.end - count


def forget(w: Wormhole) -> Wormhole:
    """Drop what is not needed; numbers of states and outcomes change, the indexes are to be made anew."""
    row = w.p[0]
    parts = w.part[w.part["next"] == ACTIVE]
    outcomes, states = w.outcome[: int(row["outcomes"])], w.state[: int(row["states"])]
    keep = outcomes["uses"] >= WORTH_KEEPING
    keep[parts["outcome"][parts["outcome"] >= 0]] = True
    kept = np.flatnonzero(keep)
    blocks = [_blocks(w.arena, outcomes[o]) for o in kept.tolist()]
    wanted = np.zeros(len(states), bool)
    wanted[parts["state"]] = True
    wanted[outcomes["state"][kept]] = True
    wanted[[int(w.arena[at]) for ats in blocks for at in ats]] = True
    new_state = np.where(wanted, np.cumsum(wanted) - 1, FORGOTTEN)
    new_outcome = np.where(keep, np.cumsum(keep) - 1, FORGOTTEN)
    arena = _Arena(w.arena)
    fresh_states = states[wanted].copy()
    for state in fresh_states:
        state["at"] = arena.copy(int(state["at"]), int(state["words"]))
    fresh_states["ahead"] = 0
    fresh_outcomes = outcomes[kept].copy()
    for outcome, ats in zip(fresh_outcomes, blocks, strict=True):
        _move(arena, outcome, ats, states, new_state)
    _chain(fresh_outcomes)
    w.part["state"][w.part["next"] == ACTIVE] = new_state[parts["state"]]
    w.part["outcome"][w.part["next"] == ACTIVE] = _renumbered(parts["outcome"], new_outcome)
    log = w.episode[: int(row["episodes"])]
    for name, new in (("state", new_state), ("outcome", new_outcome)):
        log[name] = _renumbered(log[name], new)
    row["states"], row["outcomes"], row["joins"], row["arena_end"] = len(fresh_states), len(kept), 0, arena.end
    w.state[: len(fresh_states)], w.outcome[: len(kept)] = fresh_states, fresh_outcomes
    none = np.full(4, -1, np.int32)
    return w._replace(arena=arena.words, state_index=none, edge_index=none.copy(), join_index=none.copy())


def _renumbered(numbers, new) -> np.ndarray:
    """New numbers; what has none (-1) stays so."""
    return np.append(new, -1)[numbers]


def _blocks(arena, outcome) -> list[int]:
    """Where the blocks of an outcome's components lie."""
    at = int(outcome["at"])
    return arena[at + 2 : at + 2 + int(arena[at + 1])].tolist()


def _move(arena: _Arena, outcome, blocks, states, new_state) -> None:
    """Copy an outcome's words; its blocks name states by their new numbers."""
    old, of = arena.old, states[int(outcome["state"])]
    flows, ports = int(of["flows"]), int(of["ports"])
    if outcome["drew"] > 0:
        outcome["drew"] = arena.copy(int(outcome["drew"]), 3 * flows)
    moved = []
    for at in blocks:
        to = arena.copy(at, 3 + int(old[at + 1]) + int(old[at + 2]))
        arena.words[to] = new_state[int(old[at])]
        moved.append(to)
    at = int(outcome["at"])
    to = arena.copy(at, 2 + len(blocks) + 2 * int(old[at]) + 4 * flows + 7 * ports)
    arena.words[to + 2 : to + 2 + len(moved)] = moved
    outcome["at"], outcome["uses"], outcome["state"] = to, 0, new_state[int(outcome["state"])]


def _chain(outcomes: np.ndarray) -> None:
    """Outcomes of the same state and offset, for other random draws, follow each other."""
    first: dict[tuple[int, int], int] = {}
    for number, outcome in enumerate(outcomes):
        key = int(outcome["state"]), int(outcome["offset"])
        outcome["next"] = first.get(key, -1)
        first[key] = number
