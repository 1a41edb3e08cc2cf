"""The formats of a store's file, and the upgrade of an older file."""

from __future__ import annotations

import hashlib
import sqlite3

FORM = 3
"""Format of the file, stored as ``user_version``. Format 1 lacks ``wall_s``, format 2 lacks ``checksum``."""
APPLICATION = 0x41636B63
"""``Ackc``: marks the SQLite file as Ackclock's."""
TABLE = (
    "CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, run TEXT NOT NULL, processor_s REAL NOT NULL, "
    "wall_s REAL NOT NULL DEFAULT 0, checksum INTEGER)"
)
COLUMNS = {
    1: "seconds AS processor_s, 0.0 AS wall_s, NULL AS checksum",
    2: "processor_s, wall_s, NULL AS checksum",
    3: "processor_s, wall_s, checksum",
}
"""The columns beside key and run, with their names in the current format."""


def checksum(key: str, run: str) -> int:
    """Checksum of a stored run: 63 bits of BLAKE2b over its key and its JSON."""
    return int.from_bytes(hashlib.blake2b(f"{key}\n{run}".encode(), digest_size=8).digest()) >> 1


def form_of(db: sqlite3.Connection) -> int:
    """Return the format of a file.

    Raises:
        sqlite3.Error: it cannot be read.
    """
    form: int = db.execute("PRAGMA user_version").fetchone()[0]
    return form


def bring_up(db: sqlite3.Connection) -> None:
    """Upgrade an older file, unless another process has done so; called inside a write transaction."""
    form = form_of(db)
    if form == 1:
        db.execute("ALTER TABLE runs RENAME COLUMN seconds TO processor_s")
        db.execute("ALTER TABLE runs ADD COLUMN wall_s REAL NOT NULL DEFAULT 0")
    if form < FORM:
        db.create_function("checksum_of", 2, checksum, deterministic=True)
        db.execute("ALTER TABLE runs ADD COLUMN checksum INTEGER")
        db.execute("UPDATE runs SET checksum = checksum_of(key, run)")
        db.execute(f"PRAGMA user_version = {FORM}")


def shown_as_last(db: sqlite3.Connection) -> None:
    """Present a read-only older file in the current format."""
    form = form_of(db)
    if form != FORM and form in COLUMNS:
        db.execute(f"CREATE TEMP VIEW runs AS SELECT rowid, key, run, {COLUMNS[form]} FROM main.runs")
