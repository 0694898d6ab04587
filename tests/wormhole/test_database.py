"""The memo file: what is written is read; what is damaged, foreign or written by two at once costs a warning, never a wrong answer."""

import sqlite3
import threading

import numpy as np
import pytest

from sim.case import case_of
from sim.scenario import Scenario
from sim.wormhole import layout
from sim.wormhole.database import Database, pack, unpack
from sim.wormhole.memo import IN_PROCESS, Memo
from sim.wormhole_simulation import WormholeSimulation
from tests.walls.runs import arrays, finish, training

RECORDS = (layout.STATE, layout.OUTCOME, layout.JOIN)


@pytest.fixture(autouse=True)
def nothing_in_process():
    IN_PROCESS.clear()
    yield
    IN_PROCESS.clear()


def run(path):
    IN_PROCESS.clear()  # as in a process of its own
    sim = finish(WormholeSimulation(case_of(Scenario.from_data(training())), memo=Database(path)))
    sim.keep()
    return arrays(sim)["acked_ps"].tolist(), sim.kernel_counters()["packet_hops"]["executed"]


def test_a_later_process_begins_with_what_an_earlier_one_learnt(tmp_path):
    path = tmp_path / "memo.sqlite"
    first, second = run(path), run(path)
    assert first[0] == second[0] and first[1] > 0 and second[1] == 0
    assert 0 < Database(path).size_bytes() < 500_000


def test_packing_keeps_every_word(tmp_path):
    run(tmp_path / "memo.sqlite")
    name, memo = next(iter(IN_PROCESS._memos.items()))
    again = unpack(pack(memo))
    for field in ("arena", "state", "outcome", "join", "classes"):
        assert np.array_equal(getattr(memo, field), getattr(again, field)), (name, field)


@pytest.mark.parametrize("harm", ["cut", "noise", "foreign", "empty"])
def test_a_file_that_is_no_memo_is_set_aside(tmp_path, harm):
    path = tmp_path / "memo.sqlite"
    whole = run(path)
    data = path.read_bytes()
    if harm == "cut":
        path.write_bytes(data[: len(data) // 3])
    elif harm == "noise":
        path.write_bytes(b"\x07" * 5000)
    elif harm == "empty":
        path.write_bytes(b"")
    else:
        path.unlink()
        with sqlite3.connect(path) as base:
            base.execute("CREATE TABLE other (x)")
    if harm == "empty":
        assert run(path) == whole
    else:
        with pytest.warns(UserWarning, match="set aside|damaged"):
            assert run(path) == whole
    assert run(path)[0] == whole[0]


def test_a_damaged_row_is_dropped(tmp_path):
    path = tmp_path / "memo.sqlite"
    whole = run(path)
    with sqlite3.connect(path) as base:
        name, data = base.execute("SELECT name, data FROM memo").fetchone()
        base.execute("UPDATE memo SET data = ? WHERE name = ?", (data[:-9] + b"\0" * 9, name))
    with pytest.warns(UserWarning, match="damaged"):
        assert run(path) == whole


def test_many_write_at_once(tmp_path):
    path = tmp_path / "memo.sqlite"
    memo = Memo(*(np.zeros(0, kind) for kind in (np.int64, *RECORDS)), classes=np.zeros((1, 1)))
    threads = [threading.Thread(target=Database(path).put, args=(f"name-{i}", memo)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with sqlite3.connect(path) as base:
        assert base.execute("SELECT count(*) FROM memo").fetchone()[0] == 8


def test_the_least_recently_used_goes_first(tmp_path):
    path = tmp_path / "memo.sqlite"
    noise = np.random.default_rng(1).integers(0, 2**62, 4000)
    memo = Memo(noise, *(np.zeros(0, kind) for kind in RECORDS), classes=np.zeros((1, 1)))
    base = Database(path, most_bytes=80_000)
    for name in ("old", "middle", "new"):
        base.put(name, memo)
    IN_PROCESS.clear()
    assert base.get("old") is None and base.get("new") is not None
    assert base.size_bytes() <= 80_000
