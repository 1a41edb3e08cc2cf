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

from ackclock.runs import forms, opening
from ackclock.runs.forms import APPLICATION, FORM, checksum

DEFAULT = "ackclock-results"
VARIABLE = "ACKCLOCK_STORE"
FILE = "runs.sqlite"
_AT_ONCE = 500
_AGAIN_S = 0.01
_CHECKED = "key, run, checksum"
"""Columns of a run that is served."""


@dataclass(frozen=True)
class Cost:
    """What it took to make a run; the sum over runs is what it took to make them all."""

    processor_s: float
    """Seconds of all cores."""
    wall_s: float
    """By which the run made all of them later; 0 if nobody knows."""


class Store:
    """A folder with ``runs.sqlite``: a row for each finished run, there once it is committed, whoever is killed then.

    Several processes may use one store at a time. It belongs to the thread that opened it. Where nothing may be written
    it is read as it is.

    Attributes:
        folder: where it is.
        file: the file with the runs.
        writable: whether anything may be written there.
    """

    def __init__(self, folder: str | PathLike[str] | None = None, create: bool = True) -> None:
        """Open the store of a folder.

        Args:
            folder: where; by default what the variable ``ACKCLOCK_STORE`` says, or ``ackclock-results`` here.
            create: make it if there is none.

        Raises:
            OSError: it cannot be made, read or written; or it is something else, or from a newer version.
        """
        self.folder = folder_of(folder)
        self.file = self.folder / FILE
        if create:
            self.folder.mkdir(parents=True, exist_ok=True)
        elif not self.file.is_file():
            raise FileNotFoundError(f"{self.folder}: no store of results here (no {FILE})")
        with self._said():
            self.writable = opening.writable(self.file)
            self._db = opening.to_write(self.file) if self.writable else opening.to_read(self.file)
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
            OSError: it cannot be read, or one is not as it was kept.
        """
        for some in _chunks(keys):
            with self._said():
                found = {key: self._checked(key, run, kept) for key, run, kept in self._select(_CHECKED, some)}
            yield from (found[key] for key in some)

    def every(self) -> Iterator[tuple[str, str, Cost]]:
        """Key, JSON and cost of every run.

        Raises:
            OSError: it cannot be read, or one is not as it was kept.
        """
        with self._said():
            for key, run, kept, *cost in self._db.execute(f"SELECT {_CHECKED}, processor_s, wall_s FROM runs"):
                yield key, self._checked(key, run, kept), Cost(*cost)

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
        return self.take(((key, run, cost) for key, run in runs), anew)

    def take(self, runs: Iterable[tuple[str, str, Cost]], anew: bool = False) -> int:
        """The same for runs that cost one thing and another; of these all are kept, or none."""
        new = 0
        into = f"INSERT OR {'REPLACE' if anew else 'IGNORE'} INTO runs VALUES (?, ?, ?, ?, ?)"
        with self._said(), self._transaction():
            for key, run, cost in runs:
                row = (key, run, cost.processor_s, cost.wall_s, checksum(key, run))
                if self._db.execute(into, row).rowcount == 1:
                    new += 1
                else:
                    self._same(key, run)
        return new

    def _same(self, key: str, run: str) -> None:
        before = self._checked(*self._select(_CHECKED, [key]).fetchone())
        had, came = (json.loads(text)["trace_hash"] for text in (before, run))
        if had != came:
            raise OSError(
                f"{self.file}: the run {json.loads(run)['identity']} is kept with the trace hash {had} and now has "
                f"{came}: two builds of ackclock differ in their results; use another store for one of them"
            )

    def _checked(self, key: str, run: str, kept: int | None) -> str:
        """A run that is as it was kept; of forms without checksums nobody can tell."""
        if kept is not None and kept != checksum(key, run):
            raise OSError(f"{self.file}: the run {key} is damaged: `ackclock results repair` keeps the others")
        return run

    def _select(self, what: str, keys: Sequence[str]) -> sqlite3.Cursor:
        return self._db.execute(f"SELECT {what} FROM runs WHERE key IN ({','.join('?' * len(keys))})", keys)

    def _prepare(self) -> None:
        # One look at all three: another process may be making the store.
        with self._transaction("DEFERRED"):
            (form,) = self._db.execute("PRAGMA user_version").fetchone()
            (application,) = self._db.execute("PRAGMA application_id").fetchone()
            new = not self._db.execute("SELECT 1 FROM sqlite_master").fetchone()
        if form == application == 0 and new and self.writable:
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
        """Have SQLite write ahead: readers and one writer do not wait for each other; a commit survives its process.

        That stays with the file. SQLite itself does not wait for other processes where it changes this.
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
            hint = "; `ackclock results repair` keeps what can be read" if _damaged(error) else ""
            raise OSError(f"{self.file}: {error}{hint}") from error


def folder_of(named: str | PathLike[str] | None) -> Path:
    """The folder of a store: the one that is named, what ``ACKCLOCK_STORE`` says, or ``ackclock-results`` here."""
    return Path(named or os.environ.get(VARIABLE) or DEFAULT)


def _damaged(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def _chunks(keys: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(keys)
    while some := list(islice(rest, _AT_ONCE)):
        yield some
