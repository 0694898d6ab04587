"""Templates made of templates: cut into chunks, side by side, one after the other, and on groups of the members."""

from dataclasses import replace

import numpy as np

from sim.workload.collective.template import NONE, Template, joined

IN_FLIGHT = 2  # chunks of a message on the wire at once: while one is on its way the next is sent


def chunked(template: Template, chunks: int) -> Template:
    """Every message in `chunks`, each of which goes its own way from step to step.

    They are sent in order, IN_FLIGHT at a time; the switch works on one at a time. The first has half the size, so that two
    under way do not end together: then the line would be idle while both are on their way.
    """
    if chunks == 1 or not len(template):
        return template
    rows = len(template)
    units, chunk = 2 * chunks - 1, np.repeat(np.arange(chunks), rows)

    def each(values, shift: int = 0) -> np.ndarray:
        return (np.asarray(values) + shift * np.arange(chunks)[:, None]).ravel()

    def all_of(column) -> np.ndarray:
        return np.tile(np.broadcast_to(column, rows), chunks)

    row = np.arange(rows)
    message, works = row[template.is_message], row[~template.is_message & (np.broadcast_to(template.count, rows) > 0)]
    waits = [(one + rows * index, one + rows * (index + lag)) for one, lag in ((message, IN_FLIGHT), (works, 1)) for index in range(chunks - lag)]
    before, then = (np.concatenate(ends) for ends in zip(*waits, strict=True)) if waits else (row[:0], row[:0])
    return replace(
        template, src=all_of(template.src), dst=all_of(template.dst), step=all_of(template.step),
        part=all_of(template.part) * np.where(chunk == 0, 1, 2), parts=all_of(template.parts) * units, own=all_of(template.own),
        before=np.r_[each(template.before, rows), before], then=np.r_[each(template.then, rows), then],
        last_member=np.tile(template.last_member, chunks), last_message=each(template.last_message, rows),
        draw=all_of(template.draw) * IN_FLIGHT + chunk % IN_FLIGHT, block=all_of(template.block) + chunk * template.cycle,
        count=all_of(template.count), stride=all_of(template.stride), adds=all_of(template.adds), earlier=NONE, later=NONE,
    )  # fmt: skip


def beside(lanes: list[Template]) -> Template:
    """The data split evenly over `lanes`, which do not wait for each other."""
    if len(lanes) == 1:
        return lanes[0]
    share, first = len(lanes), np.cumsum([0, *(len(lane) for lane in lanes)])
    blocks = np.cumsum([0, *(_blocks(lane) for lane in lanes)])

    def together(column: str, shift=None) -> np.ndarray:
        found = []
        for k, lane in enumerate(lanes):
            values = np.asarray(getattr(lane, column))
            values = values if column in _EDGES else np.broadcast_to(values, len(lane))
            found.append(values if shift is None else values + shift[k])
        return np.concatenate(found)

    return replace(
        lanes[0], **{name: together(name) for name in ("src", "dst", "step", "part", "own", "last_member", "count", "stride", "adds")},
        **{name: together(name, first) for name in ("before", "then", "last_message", "earlier", "later")}, parts=together("parts") * share,
        block=together("block", blocks), draw=np.concatenate([np.broadcast_to(lane.draw, len(lane)) * share + k for k, lane in enumerate(lanes)]),
    )  # fmt: skip


_EDGES = ("before", "then", "last_member", "last_message", "earlier", "later")


def _blocks(template: Template) -> int:
    """Blocks of a template, in whole cycles."""
    last = np.asarray(template.block).max() if len(template) else 0
    return (int(last) // template.cycle + 1) * template.cycle


def in_turn(*stages: Template) -> Template:
    """One stage after the other on the same members: a member sends its own data of a stage when it is done with the one before."""
    whole = stages[0]
    for stage in stages[1:]:
        whole = _followed_by(whole, stage)
    return whole


def _followed_by(first: Template, second: Template) -> Template:
    if not len(first) or not len(second):
        return second if len(second) else first
    rows, own = len(first), np.flatnonzero(second.own)
    ends, begins = joined(first.last_member, second.src[own], first.n)
    steps = int(first.step.max()) + 1

    def both(column: str) -> np.ndarray:
        return np.concatenate([np.broadcast_to(getattr(stage, column), len(stage)) for stage in (first, second)])

    return replace(
        first, **{name: both(name) for name in ("src", "dst", "part", "parts", "own", "block", "count", "stride", "adds", "draw")},
        step=np.r_[first.step, second.step + steps],
        before=np.r_[first.before, second.before + rows, first.last_message[ends]], then=np.r_[first.then, second.then + rows, own[begins] + rows],
        earlier=np.r_[first.earlier, second.earlier + rows], later=np.r_[first.later, second.later + rows],
        last_member=np.r_[first.last_member, second.last_member], last_message=np.r_[first.last_message, second.last_message + rows],
    )  # fmt: skip


def on_groups(template: Template, groups: np.ndarray, n: int, *, first=0, scale: int = 1, count: int = 1, stride: int = 1, share: int = 1) -> Template:
    """`template` on each of `groups` int[g, members] of `n` members.

    Its block b stands for `count` blocks of the whole, first[g] + b x scale and on by `stride`; its data are 1/`share` of the whole.
    """
    g, rows = len(groups), len(template)

    def each(column) -> np.ndarray:
        return np.tile(np.broadcast_to(column, rows), g)

    def edges(column: np.ndarray) -> np.ndarray:
        return (column + rows * np.arange(g)[:, None]).ravel()

    first = np.repeat(np.broadcast_to(first, g), rows)
    return Template(
        n=n, src=groups[:, template.src].ravel(), dst=groups[:, template.dst].ravel(), step=each(template.step), part=each(template.part),
        parts=each(template.parts) * share, own=each(template.own), before=edges(template.before), then=edges(template.then),
        earlier=edges(template.earlier), later=edges(template.later), last_member=groups[:, template.last_member].ravel(),
        last_message=edges(template.last_message), draw=each(template.draw),
        block=first + each(template.block) * scale, count=each(template.count) * count,
        stride=np.full(g * rows, stride) if count > 1 else each(template.stride) * scale, adds=each(template.adds), cycle=n,
    )  # fmt: skip
