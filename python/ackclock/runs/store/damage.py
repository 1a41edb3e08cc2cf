"""Damage in the file of a store, and a new file with all intact runs."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ackclock.runs.store import FILE, Cost, Store, forms, opening
from ackclock.runs.store.keys import key_of_run

_LEAST = 64
"""The smallest size of a row, in bytes. It bounds the number of rows in a file."""
_COSTS = {1: "seconds, 0.0, NULL", 2: "processor_s, wall_s, NULL", 3: "processor_s, wall_s, checksum"}


@dataclass
class Found:
    """The content of the file of a store."""

    good: int = 0
    """The number of intact runs."""
    bad: int = 0
    """The number of damaged runs."""
    trouble: str = ""
    """SQLite's message about the file, if the file structure is damaged."""

    @property
    def whole(self) -> bool:
        """Whether nothing is damaged."""
        return not self.bad and not self.trouble

    def sentence(self, file: Path) -> str:
        """The finding in one line for people."""
        parts = [f"damaged ({self.trouble})"] if self.trouble else []
        parts += [f"{self.bad:,} of {self.good + self.bad:,} runs differ from what was stored"] if self.bad else []
        return f"{file}: {'; '.join(parts)}; {self.good:,} runs are good"


def check(folder: Path) -> Found:
    """Check every run of a store; nothing is written.

    Raises:
        OSError: there is no store.
    """
    file, found = _file(folder), Found()
    with closing(_reader(file)) as db:
        for _ in _good(db, file, found):
            pass
    return found


def repair(folder: Path) -> Path:
    """Write a new file with all intact runs.

    Returns:
        The new place of the old file.

    Raises:
        OSError: there is no store, or no space for the new file.
    """
    file, found = _file(folder), Found()
    anew = folder / "repaired"
    shutil.rmtree(anew, ignore_errors=True)
    with Store(anew) as store, closing(_reader(file)) as db:
        store.take(_good(db, file, found))
    aside = _free(file)
    shutil.copyfile(file, aside)
    # Move the write-ahead log first: it must never be applied to the new file.
    for ending in ("-wal", "-shm"):
        old = file.with_name(file.name + ending)
        if old.exists():
            old.replace(aside.with_name(aside.name + ending))
    (anew / FILE).replace(file)
    shutil.rmtree(anew)
    return aside


def _file(folder: Path) -> Path:
    file = folder / FILE
    if not file.is_file():
        raise FileNotFoundError(f"{folder}: no store of results here (no {FILE})")
    return file


def _free(file: Path) -> Path:
    """An unused name beside this file."""
    number, aside = 1, file.with_name(f"{file.name}.damaged")
    while aside.exists():
        number += 1
        aside = file.with_name(f"{file.name}.damaged-{number}")
    return aside


def _reader(file: Path) -> sqlite3.Connection:
    try:
        db = opening.to_read(file)
    except sqlite3.DatabaseError:
        # The file's header is damaged, so nothing can be read.
        db = sqlite3.connect(":memory:")
    db.text_factory = bytes
    return db


def _good(db: sqlite3.Connection, file: Path, found: Found) -> Iterator[tuple[str, str, Cost]]:
    """Yield the intact runs and count the others."""
    try:
        said = [row[0].decode(errors="replace") for row in db.execute("PRAGMA integrity_check(1)")]
        columns = _COSTS.get(forms.form_of(db), _COSTS[forms.FORM])
        found.trouble = "" if said == ["ok"] else " ".join(said[0].split())
        db.execute("SELECT key FROM runs LIMIT 0")
    except sqlite3.Error as error:
        found.trouble, columns = str(error), _COSTS[forms.FORM]
    select, last = f"SELECT rowid, key, run, {columns} FROM runs", 0
    try:
        for rowid, *row in db.execute(f"{select} ORDER BY rowid"):
            last = rowid
            yield from _counted(row, found)
    except sqlite3.Error as error:
        found.trouble = found.trouble or str(error)
        yield from _one_by_one(db, f"{select} WHERE rowid = ?", last, file, found)


def _one_by_one(
    db: sqlite3.Connection, select: str, last: int, file: Path, found: Found
) -> Iterator[tuple[str, str, Cost]]:
    """Yield the runs after a damaged page, reading each by its row number."""
    for rowid in range(last + 1, last + file.stat().st_size // _LEAST):
        try:
            row = db.execute(select, (rowid,)).fetchone()
        except sqlite3.Error as error:
            if "no such table" in str(error):
                return
            continue
        if row is not None:
            yield from _counted(list(row[1:]), found)


def _counted(row: list[object], found: Found) -> Iterator[tuple[str, str, Cost]]:
    run = _run(row)
    if run is None:
        found.bad += 1
    else:
        found.good += 1
        yield run


def _run(row: list[object]) -> tuple[str, str, Cost] | None:
    """Return an intact row. A row without a checksum is verified by its key, a hash of values in the run."""
    key, run, processor_s, wall_s, kept = row
    try:
        if not isinstance(key, bytes) or not isinstance(run, bytes):
            return None
        name, text = key.decode(), run.decode()
        good = kept == forms.checksum(name, text) if kept is not None else name == key_of_run(text)
        cost = Cost(float(str(processor_s)), float(str(wall_s)))
        return (name, text, cost) if good and isinstance(json.loads(text), dict) else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
