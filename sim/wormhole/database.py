"""Memos on disk, one SQLite file for all processes of a user: compressed, checked by a digest, the least recently used dropped first.

Whatever is wrong with the file (cut short, foreign, of another layout, locked for ever) costs a warning and what was
remembered, never a run and never a wrong hit: what is read is used only if its digest is right.
"""

import hashlib
import io
import os
import sqlite3
import time
import warnings
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np

from sim.errors import RunError
from sim.jit import CACHE_DIRECTORY
from sim.wormhole import layout
from sim.wormhole.memo import IN_PROCESS, Memo

FILE_NAME = "memo.sqlite"
APPLICATION_ID, LAYOUT = 0x574C4142, 1
MOST_BYTES = 256 << 20  # of the whole file
MOST_OF_ONE = 32 << 20  # compressed bytes of one memo; what is larger hardly ever repeats
BUSY_S = 2.0
DTYPES = {"arena": np.dtype(np.int64), "state": layout.STATE, "outcome": layout.OUTCOME, "join": layout.JOIN}


def default_path() -> Path:
    """Where the user's memos lie."""
    return CACHE_DIRECTORY.parent / FILE_NAME


def _layout_of(base) -> tuple[int, int]:
    """Whose file this is, and in which layout; (0, 0) if nobody has said so yet."""
    return base.execute("PRAGMA application_id").fetchone()[0], base.execute("PRAGMA user_version").fetchone()[0]


def pack(memo: Memo) -> bytes:
    """One memo as bytes: lengths, then arrays with equal bytes of their words side by side, compressed."""
    parts = [np.array([memo.classes.shape[0], memo.classes.shape[1], *(len(getattr(memo, name)) for name in DTYPES)], np.int64).tobytes()]
    parts.append(np.ascontiguousarray(memo.classes).tobytes())
    for name in DTYPES:
        words = np.frombuffer(np.ascontiguousarray(getattr(memo, name)).tobytes(), np.uint8).reshape(-1, 8)
        parts.append(zlib.compress(np.ascontiguousarray(words.T).tobytes(), 1))
    out = io.BytesIO()
    for part in parts:
        out.write(len(part).to_bytes(8, "little"))
        out.write(part)
    return out.getvalue()


def unpack(data: bytes) -> Memo:
    """The memo that `pack` made; ValueError if it is not one."""
    parts, at = [], 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 8], "little")
        parts.append(data[at + 8 : at + 8 + size])
        at += 8 + size
    if len(parts) != 2 + len(DTYPES) or at != len(data):
        raise ValueError("not a memo")
    fields, columns, *lengths = np.frombuffer(parts[0], np.int64).tolist()
    classes = np.frombuffer(parts[1], np.float64).reshape(fields, columns).copy()
    arrays = {}
    for (name, dtype), length, part in zip(DTYPES.items(), lengths, parts[2:], strict=True):
        raw = np.frombuffer(zlib.decompress(part), np.uint8).reshape(8, -1).T
        arrays[name] = np.frombuffer(np.ascontiguousarray(raw).tobytes(), dtype)
        if len(arrays[name]) != length:
            raise ValueError("a memo of other lengths than it says")
    return Memo(classes=classes, **arrays)


class Database:
    """Memos by namespace in the file `path`, and in this process in front of it."""

    def __init__(self, path: str | os.PathLike | None = None, most_bytes: int = MOST_BYTES):
        self.path = Path(path) if path is not None else default_path()
        if self.path.exists() and not self.path.is_file():
            raise RunError(f"memo {self.path}: is no regular file; give the path of a file that is to hold the memo")
        if path is not None and not self.path.absolute().parent.is_dir():
            raise RunError(f"memo {self.path}: there is no folder {self.path.parent}; make it, or give another path")
        self.most_bytes = most_bytes

    def get(self, name: str) -> Memo | None:
        """The memo of a namespace, or None."""
        known = IN_PROCESS.get(f"{self.path} {name}")
        return known if known is not None else self._guarded(lambda base: self._read(base, name))

    def put(self, name: str, memo: Memo) -> None:
        """Keep a memo unless a larger one is there; makes room by dropping what was not used for longest."""
        IN_PROCESS.put(f"{self.path} {name}", memo)
        self._guarded(lambda base: self._write(base, name, memo))

    def size_bytes(self) -> int:
        """Compressed bytes of all memos."""
        return self._guarded(lambda base: base.execute("SELECT coalesce(sum(length(data)), 0) FROM memo").fetchone()[0]) or 0

    def _guarded(self, action):
        try:
            with closing(self._open()) as base:
                return action(base)
        except (sqlite3.DatabaseError, OSError, ValueError, zlib.error) as problem:
            if isinstance(problem, sqlite3.OperationalError) and "locked" in str(problem):
                return None
            self._set_aside(problem)
            return None

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        base = sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None)
        try:
            if _layout_of(base) == (0, 0):
                base.execute("BEGIN IMMEDIATE")
                if _layout_of(base) == (0, 0) and not base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    base.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                    base.execute(f"PRAGMA user_version = {LAYOUT}")
                    base.execute("CREATE TABLE memo (name TEXT PRIMARY KEY, used REAL, outcomes INT, digest TEXT, data BLOB)")
                base.execute("COMMIT")
            if _layout_of(base) != (APPLICATION_ID, LAYOUT):
                raise ValueError(f"it is no memo database of layout {LAYOUT}")
        except BaseException:
            base.close()
            raise
        return base

    def _read(self, base, name: str) -> Memo | None:
        row = base.execute("SELECT digest, data FROM memo WHERE name = ?", (name,)).fetchone()
        if row is None:
            return None
        if hashlib.sha256(row[1]).hexdigest() != row[0]:
            base.execute("DELETE FROM memo WHERE name = ?", (name,))
            warnings.warn(f"{self.path}: a memo was damaged and is dropped", stacklevel=4)
            return None
        base.execute("UPDATE memo SET used = ? WHERE name = ?", (time.time(), name))
        memo = unpack(row[1])
        IN_PROCESS.put(f"{self.path} {name}", memo)
        return memo

    def _write(self, base, name: str, memo: Memo) -> None:
        known = base.execute("SELECT outcomes FROM memo WHERE name = ?", (name,)).fetchone()
        if known is not None and known[0] >= len(memo.outcome):
            base.execute("UPDATE memo SET used = ? WHERE name = ?", (time.time(), name))
            return
        data = pack(memo)
        if len(data) > min(MOST_OF_ONE, self.most_bytes):
            return
        base.execute("BEGIN IMMEDIATE")
        base.execute(
            "INSERT OR REPLACE INTO memo VALUES (?, ?, ?, ?, ?)",
            (name, time.time(), len(memo.outcome), hashlib.sha256(data).hexdigest(), data),
        )
        rows = base.execute("SELECT name, length(data) FROM memo ORDER BY used DESC").fetchall()
        total = 0
        for other, size in rows:
            total += size
            if total > self.most_bytes:
                base.execute("DELETE FROM memo WHERE name = ?", (other,))
        base.execute("COMMIT")

    def _set_aside(self, problem: Exception) -> None:
        aside = self.path.with_name(f"{self.path.name}.aside-{os.getpid()}-{time.time_ns()}")
        try:
            os.replace(self.path, aside)
            Path(f"{self.path}-journal").unlink(missing_ok=True)
            warnings.warn(f"{self.path} cannot be used ({problem}); it is set aside as {aside.name}, a new one is begun", stacklevel=4)
        except OSError:
            warnings.warn(f"{self.path} cannot be used ({problem}); this run remembers nothing", stacklevel=4)
