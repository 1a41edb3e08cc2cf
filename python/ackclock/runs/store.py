"""Finished runs, kept for good in one SQLite file, and the folder of each sweep beside it."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Self

DEFAULT = "ackclock-results"
VARIABLE = "ACKCLOCK_STORE"
FILE = "runs.sqlite"
FORM = 2
"""Of the file, as its ``user_version``; form 1 has no ``wall_s``, and is brought to this one."""
_APPLICATION = 0x41636B63
"""``Ackc``: says whose SQLite file it is."""
_AT_ONCE = 500
_WAIT_S = 60.0
"""How long to wait for another process that writes."""
_AGAIN_S = 0.01


@dataclass(frozen=True)
class Cost:
    """What it took to make a run; the sum over runs is what it took to make them all."""

    processor_s: float
    """Seconds of all cores."""
    wall_s: float
    """By which the run made all of them later; 0 if nobody knows."""


class Store:
    """A folder with ``runs.sqlite``: a row for each finished run, there once it is committed, whoever is killed then.

    Several processes may use one store at a time. It belongs to the thread that opened it.
    """

    def __init__(self, folder: str | PathLike[str] | None = None, create: bool = True) -> None:
        """Open the store of a folder.

        Args:
            folder: where; by default what the variable ``ACKCLOCK_STORE`` says, or ``ackclock-results`` here.
            create: make it if there is none.

        Raises:
            OSError: it cannot be made, read or written; or it is something else, or from a newer version.
        """
        self.folder = Path(folder or os.environ.get(VARIABLE) or DEFAULT)
        self.file = self.folder / FILE
        if create:
            self.folder.mkdir(parents=True, exist_ok=True)
        elif not self.file.is_file():
            raise FileNotFoundError(f"{self.folder}: no store of results here (no {FILE})")
        with self._said():
            self._db = sqlite3.connect(self.file, timeout=_WAIT_S, isolation_level=None)
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def __enter__(self) -> Self:
        """Itself, to be closed."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self._db.close()

    def kept(self, keys: Iterable[str]) -> set[str]:
        """Which of these runs it has.

        Raises:
            OSError: it cannot be read.
        """
        found: set[str] = set()
        with self._said():
            for some in _chunks(keys):
                found.update(key for (key,) in self._select("key", some))
        return found

    def count(self, keys: Iterable[str]) -> int:
        """How many of these runs it has, counting each as often as it stands there.

        Raises:
            OSError: it cannot be read.
        """
        listed = list(keys)
        kept = self.kept(listed)
        return sum(key in kept for key in listed)

    def processor_s(self, keys: Iterable[str]) -> float | None:
        """How many seconds of a core one of these runs took on average, over those that it has.

        Raises:
            OSError: it cannot be read.
        """
        took = [cost.processor_s for cost in self.costs(keys)]
        return sum(took) / len(took) if took else None

    def costs(self, keys: Iterable[str]) -> list[Cost]:
        """What those of these runs took that it has, in any order.

        Raises:
            OSError: it cannot be read.
        """
        with self._said():
            return [Cost(*row) for some in _chunks(keys) for row in self._select("processor_s, wall_s", some)]

    def runs(self, keys: Iterable[str]) -> Iterator[str]:
        """The JSON of each of these runs, in this order.

        Raises:
            KeyError: it does not have one of them.
            OSError: it cannot be read.
        """
        for some in _chunks(keys):
            with self._said():
                found = dict(self._select("key, run", some))
            yield from (found[key] for key in some)

    def add(self, runs: Sequence[tuple[str, str]], cost: Cost, anew: bool = False) -> int:
        """Keep runs, for good when this returns; those that it has are left as they are.

        Args:
            runs: key and JSON of each.
            cost: what one of them took.
            anew: put them in the place of those that it has.

        Returns:
            How many it did not have.

        Raises:
            OSError: there is no room, or it cannot be written; or it has one of the runs with another trace hash.
        """
        new = 0
        with self._said(), self._transaction():
            for key, run in runs:
                into = f"INSERT OR {'REPLACE' if anew else 'IGNORE'} INTO runs VALUES (?, ?, ?, ?)"
                if self._db.execute(into, (key, run, cost.processor_s, cost.wall_s)).rowcount == 1:
                    new += 1
                else:
                    self._same(key, run)
        return new

    def _same(self, key: str, run: str) -> None:
        (before,) = self._db.execute("SELECT run FROM runs WHERE key = ?", (key,)).fetchone()
        had, came = (json.loads(text)["trace_hash"] for text in (before, run))
        if had != came:
            raise OSError(
                f"{self.file}: the run {json.loads(run)['identity']} is kept with the trace hash {had} and now has "
                f"{came}: two builds of ackclock differ in their results; use another store for one of them"
            )

    def _select(self, what: str, keys: Sequence[str]) -> sqlite3.Cursor:
        return self._db.execute(f"SELECT {what} FROM runs WHERE key IN ({','.join('?' * len(keys))})", keys)

    def _prepare(self) -> None:
        # One look at all three: another process may be making the store.
        with self._transaction("DEFERRED"):
            (form,) = self._db.execute("PRAGMA user_version").fetchone()
            (application,) = self._db.execute("PRAGMA application_id").fetchone()
            new = not self._db.execute("SELECT 1 FROM sqlite_master").fetchone()
        if form == application == 0 and new:
            with self._transaction():
                costs = "processor_s REAL NOT NULL, wall_s REAL NOT NULL DEFAULT 0"
                self._db.execute(f"CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, run TEXT NOT NULL, {costs})")
                self._db.execute(f"PRAGMA application_id = {_APPLICATION}")
                self._db.execute(f"PRAGMA user_version = {FORM}")
        elif application != _APPLICATION:
            raise OSError(f"{self.file}: found a database of another program, allowed: a store of ackclock")
        elif form > FORM:
            raise OSError(f"{self.file}: found a store of form {form}, allowed: up to {FORM}; use a newer ackclock")
        elif form < FORM:
            self._bring_up()
        self._write_ahead()

    def _bring_up(self) -> None:
        """Bring a store of form 1 to this one, if another process has not."""
        with self._transaction():
            (form,) = self._db.execute("PRAGMA user_version").fetchone()
            if form < FORM:
                self._db.execute("ALTER TABLE runs RENAME COLUMN seconds TO processor_s")
                self._db.execute("ALTER TABLE runs ADD COLUMN wall_s REAL NOT NULL DEFAULT 0")
                self._db.execute(f"PRAGMA user_version = {FORM}")

    def _write_ahead(self) -> None:
        """Have SQLite write ahead: readers and one writer do not wait for each other; a commit survives its process.

        That stays with the file. SQLite itself does not wait for other processes where it changes this.
        """
        until = time.monotonic() + _WAIT_S
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(_AGAIN_S)
        self._db.execute("PRAGMA synchronous = NORMAL")

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
    def _said(self) -> Iterator[None]:
        """SQLite's errors as an ``OSError`` that names the file."""
        try:
            yield
        except sqlite3.Error as error:
            raise OSError(f"{self.file}: {error}") from error


def _chunks(keys: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(keys)
    while some := list(islice(rest, _AT_ONCE)):
        yield some
