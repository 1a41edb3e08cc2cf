"""Finished runs in one SQLite file, and the folder of each sweep beside it."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice
from os import PathLike
from pathlib import Path
from typing import Self, TypeVar

from ackclock import _native
from ackclock.runs.store import forms, opening
from ackclock.runs.store.forms import APPLICATION, FORM

DEFAULT = "ackclock-results"
VARIABLE = "ACKCLOCK_STORE"
FILE = "runs.sqlite"
_AT_ONCE = 500
_AGAIN_S = 0.01
_PAGE = 1 << 13
"""The size of a page of a new file, in bytes: each page costs time, and in larger ones less space is left empty."""
_LOG = 1 << 26
"""The size of the write-ahead log in bytes after which SQLite copies its pages into the file."""
_CACHE_KIB = 1 << 16
"""SQLite's own cache of pages, in KiB."""
_One = TypeVar("_One")
_CHECKED = "key, run, checksum"
"""Columns that are read to return a run."""


@dataclass(frozen=True)
class Cost:
    """The cost of a run; the sum over runs is the total cost."""

    processor_s: float
    """Processor time of all cores, in seconds."""
    wall_s: float
    """Contribution to the elapsed time, in seconds; 0 if unknown."""


class Store:
    """A folder with ``runs.sqlite``: a row for each finished run. A committed row survives if any process is killed.

    Several processes may use one store at the same time. A ``Store`` must be used by the thread that opened it. A store
    on a read-only file system can be read.

    Attributes:
        folder: the folder.
        file: the file with the runs.
        writable: whether the store can be written.
    """

    def __init__(self, folder: str | PathLike[str] | None = None, create: bool = True) -> None:
        """Open the store of a folder.

        Args:
            folder: the folder. Default: the variable ``ACKCLOCK_STORE``, or ``ackclock-results`` here.
            create: create the store if it does not exist.

        Raises:
            OSError: the store cannot be created, read or written; or the file is not a store, or has a newer format.
        """
        self.folder = folder_of(folder)
        self.file = self.folder / FILE
        if create:
            self.folder.mkdir(parents=True, exist_ok=True)
        elif not self.file.is_file():
            raise FileNotFoundError(f"{self.folder}: no store of results here (no {FILE})")
        with self._named():
            self.writable = opening.writable(self.file)
            self._db = opening.to_write(self.file) if self.writable else opening.to_read(self.file)
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def __enter__(self) -> Self:
        """Return the store, to be closed by the context."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self._db.close()

    def kept(self, keys: Iterable[str]) -> set[str]:
        """Return the keys of these that are in the store.

        Raises:
            OSError: it cannot be read.
        """
        found: set[str] = set()
        with self._named():
            for some in _chunks(keys):
                found.update(key for (key,) in self._select("key", some))
        return found

    def lacking(self, keys: Iterable[str], kept: Iterable[str] | None = None) -> tuple[int, array[int]]:
        """Count the different keys of these; find the positions of those without a run, each where it comes first.

        Args:
            keys: keys, perhaps more than fit into memory.
            kept: the keys that count as stored, instead of those in the store.

        Raises:
            OSError: the store cannot be read.
        """
        with self._named(), self._transaction("DEFERRED"):
            self._db.execute("CREATE TEMP TABLE wanted (key TEXT PRIMARY KEY, position INTEGER) WITHOUT ROWID")
            self._db.executemany("INSERT OR IGNORE INTO wanted VALUES (?, ?)", zip(keys, count()))
            (different,) = self._db.execute("SELECT count(*) FROM wanted").fetchone()
            if kept is None:
                lacking = "LEFT JOIN runs USING (key) WHERE runs.key IS NULL"
            else:
                lacking = ""
                self._db.executemany("DELETE FROM wanted WHERE key = ?", ((key,) for key in kept))
            rows = self._db.execute(f"SELECT position FROM wanted {lacking} ORDER BY position")
            positions = array("Q", (position for (position,) in rows))
            self._db.execute("DROP TABLE wanted")
        return different, positions

    def count(self, keys: Iterable[str]) -> int:
        """Count these runs in the store; a key that is given twice counts twice.

        Raises:
            OSError: it cannot be read.
        """
        listed = list(keys)
        kept = self.kept(listed)
        return sum(key in kept for key in listed)

    def processor_s(self, keys: Iterable[str]) -> float | None:
        """Return the mean processor time of these runs in seconds, over the runs in the store; ``None`` if none is.

        Raises:
            OSError: it cannot be read.
        """
        took = [cost.processor_s for cost in self.costs(keys)]
        return sum(took) / len(took) if took else None

    def costs(self, keys: Iterable[str]) -> list[Cost]:
        """Return the costs of these runs as far as they are in the store, in any order.

        Raises:
            OSError: it cannot be read.
        """
        with self._named():
            return [Cost(*row) for some in _chunks(keys) for row in self._select("processor_s, wall_s", some)]

    def runs(self, keys: Iterable[str]) -> Iterator[str]:
        """Yield the JSON of each of these runs, in this order.

        Raises:
            KeyError: a run is not in the store.
            OSError: the store cannot be read, or a run is damaged.
        """
        for some in _chunks(keys):
            with self._named():
                found = self._checked(self._select(_CHECKED, some).fetchall())
            yield from (found[key] for key in some)

    def every(self) -> Iterator[tuple[str, str, Cost]]:
        """Yield key, JSON and cost of every run.

        Raises:
            OSError: the store cannot be read, or a run is damaged.
        """
        with self._named():
            rows = self._db.execute(f"SELECT {_CHECKED}, processor_s, wall_s FROM runs")
            while some := rows.fetchmany(_AT_ONCE):
                self._checked([row[:3] for row in some])
                yield from ((key, run, Cost(*cost)) for key, run, _, *cost in some)

    def add(self, runs: Sequence[tuple[str, str]], cost: Cost, anew: bool = False) -> int:
        """Store runs durably. Runs that are already stored are left unchanged.

        Args:
            runs: key and JSON of each.
            cost: the cost of one run.
            anew: replace stored runs.

        Returns:
            The number of runs that were new.

        Raises:
            OSError: the disk is full, or the store cannot be written, or it has a run with another trace hash.
        """
        return self.take(((key, run, cost) for key, run in runs), anew)

    def take(self, runs: Iterable[tuple[str, str, Cost]], anew: bool = False) -> int:
        """Store runs with individual costs, all of them or none; otherwise as :meth:`add`."""
        new = 0
        into = f"INSERT OR {'REPLACE' if anew else 'IGNORE'} INTO runs VALUES (?, ?, ?, ?, ?)"
        with self._named(), self._transaction():
            for some in _chunks(runs):
                before = self._db.total_changes
                keys, texts, costs = zip(*some, strict=True)
                sums = _native.checksums(keys, texts)
                each = zip(keys, texts, costs, sums, strict=True)
                self._db.executemany(into, ((key, run, cost.processor_s, cost.wall_s, s) for key, run, cost, s in each))
                added = self._db.total_changes - before
                if added < len(some):
                    for key, run, _ in some:
                        self._same(key, run)
                new += added
        return new

    def _same(self, key: str, run: str) -> None:
        before = self._checked(self._select(_CHECKED, [key]).fetchall())[key]
        had, has = (json.loads(text)["trace_hash"] for text in (before, run))
        if had != has:
            raise OSError(
                f"{self.file}: the run {json.loads(run)['identity']} is kept with the trace hash {had} and now has "
                f"{has}: two builds of ackclock differ in their results; use another store for one of them"
            )

    def _checked(self, rows: Sequence[tuple[str, str, int | None]]) -> dict[str, str]:
        """Return runs by key after comparing the checksum of each, if its format has one."""
        if not rows:
            return {}
        keys, runs, kept = zip(*rows, strict=True)
        for key, had, has in zip(keys, kept, _native.checksums(keys, runs), strict=True):
            if had is not None and had != has:
                raise OSError(f"{self.file}: the run {key} is damaged: `ackclock results repair` keeps the others")
        return dict(zip(keys, runs, strict=True))

    def _select(self, what: str, keys: Sequence[str]) -> sqlite3.Cursor:
        return self._db.execute(f"SELECT {what} FROM runs WHERE key IN ({','.join('?' * len(keys))})", keys)

    def _prepare(self) -> None:
        # One read transaction for all three: another process may be creating the store.
        with self._transaction("DEFERRED"):
            (form,) = self._db.execute("PRAGMA user_version").fetchone()
            (application,) = self._db.execute("PRAGMA application_id").fetchone()
            new = not self._db.execute("SELECT 1 FROM sqlite_master").fetchone()
        if form == application == 0 and new and self.writable:
            self._db.execute(f"PRAGMA page_size = {_PAGE}")
            with self._transaction():
                self._db.execute(forms.TABLE)
                self._db.execute(f"PRAGMA application_id = {APPLICATION}")
                self._db.execute(f"PRAGMA user_version = {FORM}")
        elif application != APPLICATION:
            raise OSError(f"{self.file}: found a database of another program, allowed: a store of ackclock")
        elif form > FORM:
            raise OSError(f"{self.file}: found a store of form {form}, allowed: up to {FORM}; use a newer ackclock")
        if not self.writable:
            forms.shown_as_last(self._db)
            return
        if form < FORM:
            with self._transaction():
                forms.bring_up(self._db)
        self._write_ahead()

    def _write_ahead(self) -> None:
        """Switch SQLite to write-ahead logging: readers and a writer do not block each other; commits survive a crash.

        The setting is stored in the file. SQLite does not wait for other processes when it changes this setting.
        """
        until = time.monotonic() + opening.WAIT_S
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(_AGAIN_S)
        self._db.execute("PRAGMA synchronous = NORMAL")
        # Keys are hashes: an insertion changes a page anywhere in the index. One that changes often is written once.
        (page,) = self._db.execute("PRAGMA page_size").fetchone()
        self._db.execute(f"PRAGMA wal_autocheckpoint = {_LOG // page}")
        self._db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")

    @contextmanager
    def _transaction(self, kind: str = "IMMEDIATE") -> Iterator[None]:
        self._db.execute(f"BEGIN {kind}")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Convert SQLite's errors to an ``OSError`` that names the file."""
        try:
            yield
        except sqlite3.Error as error:
            hint = "; `ackclock results repair` keeps what can be read" if _damaged(error) else ""
            raise OSError(f"{self.file}: {error}{hint}") from error


def folder_of(named: str | PathLike[str] | None) -> Path:
    """The folder of a store: the given one, ``ACKCLOCK_STORE``, or ``ackclock-results`` here."""
    return Path(named or os.environ.get(VARIABLE) or DEFAULT)


def _damaged(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def _chunks(many: Iterable[_One]) -> Iterator[list[_One]]:
    rest = iter(many)
    while some := list(islice(rest, _AT_ONCE)):
        yield some
