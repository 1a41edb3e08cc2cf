"""Reads stored runs in the order in which they were stored, which costs less than looking for each."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

Row = tuple[str, str, int | None]
"""Key, JSON and checksum of a run; nothing is checked."""
_AT_ONCE = 1000
"""Rows that are read ahead at a time."""
_MOST = 4 * _AT_ONCE
"""The most rows that are kept."""


class Ahead:
    """Returns rows by their keys.

    Runs are mostly stored in the order of their plan. If the runs of one call lie together, the next call reads the
    rows that follow them. They are kept until a call asks for them.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        """Read from this connection."""
        self._db = db
        self._rows: dict[str, Row] = {}
        self._next: int | None = None
        """The number of the row that is read next."""

    def take(self, keys: Sequence[str]) -> list[Row]:
        """Return the rows of these keys as far as there are any, in any order.

        Raises:
            sqlite3.Error: they cannot be read.
        """
        held = self._rows
        if len(held) < len(keys):
            self._read()
        found = [held.pop(key) for key in set(keys) if key in held]
        has = {row[0] for row in found}
        if lacking := [key for key in keys if key not in has]:
            found += self._looked_for(lacking, len(keys))
        return found

    def _looked_for(self, keys: Sequence[str], of: int) -> list[Row]:
        """Look for each of the rows that are not held.

        Args:
            keys: their keys.
            of: the number of rows of this call.
        """
        marks = ",".join("?" * len(keys))
        rows = self._db.execute(f"SELECT rowid, key, run, checksum FROM runs WHERE key IN ({marks})", keys).fetchall()
        if 2 * len(keys) > of:
            # What was read before does not help.
            self._rows.clear()
            numbers = [row[0] for row in rows]
            lie_together = bool(rows) and max(numbers) - min(numbers) < 2 * len(rows)
            self._next = max(numbers) + 1 if lie_together and len(rows) > 1 else None
        return [row[1:] for row in rows]

    def _read(self) -> None:
        """Read the rows that follow."""
        if self._next is None:
            return
        select = "SELECT key, run, checksum FROM runs WHERE rowid >= ? AND rowid < ?"
        try:
            rows = self._db.execute(select, (self._next, self._next + _AT_ONCE)).fetchall()
        except sqlite3.Error:
            rows = []  # Perhaps none of them will be asked for.
        if len(self._rows) + len(rows) > _MOST:
            rows = []
        self._rows.update((row[0], row) for row in rows)
        self._next = self._next + _AT_ONCE if rows else None
