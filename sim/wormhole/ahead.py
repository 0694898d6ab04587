"""Other threads find out ahead of time what becomes of partitions that stand at a pause.

A pause is where a partition that had no event for long was put into words, so that an entry costs little. Mostly nothing
enters, and what follows the pause is needed a little later. It depends on nothing but the state, so whoever finds it out,
and when, changes no result: what is not needed after all is dropped, and counts nowhere but in CPU time.
"""

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from sim.packet.layout import NEED_PACKETS, NEVER
from sim.wormhole.adopt import adopt
from sim.wormhole.drive import drive
from sim.wormhole.layout import ACTIVE, Wormhole
from sim.wormhole.loop import NEED_ROOM, SETTLING
from sim.wormhole.memory import NO_LIMIT, check_arena, grow_pool, lengthen_arena, make_room

ALONE_HOPS = 1_000_000  # packet-hops simulated before other threads are called in
WAITING, UNUSED = 2, 256  # jobs for each thread before no more are taken, and what is kept before the oldest is dropped


class _Worker:
    """A packet simulation of its own, and a memory that knows one partition."""

    def __init__(self, state, hole: Wormhole):
        self.state, self.hole = state, hole

    def find_out(self, job, plan, table) -> tuple[Wormhole, float]:
        """What becomes of the state of `job`: a memory whose first outcome it is, and the CPU seconds it took."""
        cpu = time.thread_time()
        self._begin(*job)
        while self.hole.p[0]["outcomes"] == 0:
            self.hole.p[0]["budget"] = 0
            code = drive(self.state, plan, self.hole, table, NEVER, NO_LIMIT)
            check_arena(self.hole)
            if code == NEED_ROOM:
                self.hole, self.state = make_room(self.hole, self.state)
            elif code == NEED_PACKETS:
                self.state = grow_pool(self.hole, self.state)
        p = self.hole.p[0]
        found = dict(p=self.hole.p.copy(), arena=self.hole.arena[: int(p["arena_end"])].copy())
        found |= dict(state=self.hole.state[: int(p["states"])].copy(), outcome=self.hole.outcome[:1].copy())
        return self.hole._replace(**found), time.thread_time() - cpu

    def _begin(self, words, state, flows, ports, progress) -> None:
        """Forget all, and let one partition stand where it is to be looked at."""
        p, count = self.hole.p[0], len(flows) + len(ports)
        p["arena_end"], p["need_words"] = len(words), len(words)
        p["lists_end"], p["need_lists"], p["live_lists"], p["need_items"] = count, count, count, len(flows)
        p["states"], p["outcomes"], p["joins"], p["heap"], p["words_moved"], p["found_periods"] = 1, 0, 0, 0, 0, 0
        p["live_parts"], p["live_flows"], p["live_words"], p["live_packets"] = 1, len(flows), len(words), state["packets"]
        p["phase"], p["cursor"], p["fresh"], p["solving"], p["need_packets"] = SETTLING, 0, 1, -1, state["packets"]
        for index in (self.hole.state_index, self.hole.edge_index):
            index.fill(-1)
        self.hole, self.state = make_room(self.hole, self.state)
        hole = self.hole
        hole.arena[: len(words)] = words
        hole.lists[: len(flows)], hole.lists[len(flows) : count] = flows, ports
        hole.state[0] = state
        hole.state[0]["at"] = 0
        hole.tmp[0]["fresh"] = 0
        part = hole.part[0]
        part["state"], part["began"], part["outcome"], part["next"], part["told"] = 0, 0, -1, ACTIVE, 0
        part["flows_at"], part["flows"], part["ports_at"], part["ports"] = 0, len(flows), len(flows), len(ports)
        hole.port["local"][ports] = np.arange(len(ports))
        for name, values in progress.items():
            hole.flow[name][flows] = values


class Crew:
    """The threads of one run besides its own: called in once it has become long, sent home where it goes over to packets or ends."""

    def __init__(self, helpers: int):
        self.helpers = helpers
        self.ahead: Ahead | None = None

    def call_in(self, w: Wormhole, make_worker, plan) -> None:
        """Let the others take part, if there are any and the run is long enough."""
        if self.ahead is None and self.helpers > 0 and w.p[0]["executed"] > ALONE_HOPS:
            self.ahead, w.p[0]["offers"] = Ahead(self.helpers, make_worker, plan), 1

    def forget(self, w: Wormhole) -> None:
        """States have other numbers from now on."""
        if self.ahead is not None:
            self.ahead.clear(w)

    def send_home(self, w: Wormhole) -> float:
        """CPU seconds that the others took."""
        if self.ahead is None:
            return 0.0
        spent, self.ahead, w.p[0]["offers"] = self.ahead.close(), None, 0
        return spent


class Ahead:
    """Threads that solve ahead for one run; `make_worker` makes the memory of one: (packet simulation, hole)."""

    def __init__(self, threads: int, make_worker, plan):
        self._make_worker, self._most = make_worker, WAITING * threads
        self._plan = plan._replace(p=plan.p.copy())
        self._plan.p[0]["ready"] = 0
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="solving ahead")
        self._own = threading.local()
        self._jobs: dict[int, Future] = {}
        self._spent: list[float] = []

    def offer(self, w: Wormhole, table) -> None:
        """Have somebody find out what follows the pause that the offered partition goes to, unless all have enough to do."""
        if sum(not job.done() for job in self._jobs.values()) >= self._most:
            return
        state, job = _after_pause(w, w.part[int(w.p[0]["offered"])])
        while len(self._jobs) >= UNUSED:
            self._drop(w, next(iter(self._jobs)))
        w.state[state]["ahead"] = 1
        self._jobs[state] = self._threads.submit(self._work, job, table)

    def deliver(self, w: Wormhole, scratch, table) -> Wormhole:
        """The offered partition is needed now: take what was found out over, or leave it to whoever asks if nobody has begun."""
        a = int(w.p[0]["offered"])
        state = int(w.part[a]["state"])
        w.state[state]["ahead"] = 0
        job = self._jobs.pop(state)
        if job.cancel():
            return w
        found, cpu_s = job.result()
        self._spent.append(cpu_s)
        if not _draws_alike(w, w.part[a], found, table):
            return w
        w = lengthen_arena(w, scratch, found.arena.size)
        adopt(w, found, a)
        check_arena(w)
        return w

    def clear(self, w: Wormhole) -> None:
        """Drop everything that was not needed so far."""
        for state in list(self._jobs):
            self._drop(w, state)

    def close(self) -> float:
        """End the threads; CPU seconds that they took in all."""
        for job in self._jobs.values():
            if not job.cancel():
                job.add_done_callback(self._count)
        self._jobs.clear()
        self._threads.shutdown(wait=True)
        return sum(self._spent)

    def _drop(self, w: Wormhole, state: int) -> None:
        job = self._jobs.pop(state)
        w.state[state]["ahead"] = 0
        if not job.cancel():
            job.add_done_callback(self._count)

    def _count(self, job: Future) -> None:
        if not job.cancelled() and job.exception() is None:
            self._spent.append(job.result()[1])

    def _work(self, job, table):
        if not hasattr(self._own, "worker"):
            self._own.worker = _Worker(*self._make_worker())
        return self._own.worker.find_out(job, self._plan, table)


def _draws_alike(w: Wormhole, part, found: Wormhole, table) -> bool:
    """Whether what was found out for another partition in the same state holds for this one, random draws included."""
    drew, flows = int(found.outcome[0]["drew"]), int(part["flows"])
    ids = w.lists[int(part["flows_at"]) :][:flows]
    keys = np.stack([table.draw_key[ids], w.flow["base"][ids], w.flow["sends"][ids]], axis=1)
    return drew == 0 or np.array_equal(found.arena[drew : drew + 3 * flows], keys.reshape(-1))


def _after_pause(w: Wormhole, part):
    """(state, what a worker must know of it): where the flows and ports of a partition stand when its outcome has come to its pause."""
    outcome = w.outcome[part["outcome"]]
    at = int(outcome["at"])
    events, comps, block = (int(x) for x in w.arena[at : at + 3])
    number, flows, ports = (int(x) for x in w.arena[block : block + 3])
    local = w.arena[block + 3 : block + 3 + flows]
    done = w.arena[at + 2 + comps + 2 * events :][: 4 * int(part["flows"])].reshape(-1, 4)[local]
    ids = w.lists[int(part["flows_at"]) + local]
    listed = w.lists[int(part["ports_at"]) + w.arena[block + 3 + flows : block + 3 + flows + ports]]
    state = w.state[number].copy()
    words = w.arena[int(state["at"]) : int(state["at"] + state["words"])].copy()
    progress = dict(order=w.flow["order"][ids], base=w.flow["base"][ids] + done[:, 0], sends=w.flow["sends"][ids] + done[:, 1])
    return number, (words, state, ids, listed, progress)
