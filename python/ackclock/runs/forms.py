"""The forms that a store's file has had, and how an older one is brought to the last."""

from __future__ import annotations

import hashlib
import sqlite3

FORM = 3
"""Of the file, as its ``user_version``. Form 1 has no ``wall_s``, form 2 no ``checksum``."""
APPLICATION = 0x41636B63
"""``Ackc``: says whose SQLite file it is."""
TABLE = (
    "CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, run TEXT NOT NULL, processor_s REAL NOT NULL, "
    "wall_s REAL NOT NULL DEFAULT 0, checksum INTEGER)"
)
COLUMNS = {
    1: "seconds AS processor_s, 0.0 AS wall_s, NULL AS checksum",
    2: "processor_s, wall_s, NULL AS checksum",
    3: "processor_s, wall_s, checksum",
}
"""What stands beside key and run, under the names of the last form."""


def checksum(key: str, run: str) -> int:
    """What tells whether a run is as it was kept: 63 bits of BLAKE2b over its key and its JSON."""
    return int.from_bytes(hashlib.blake2b(f"{key}\n{run}".encode(), digest_size=8).digest()) >> 1


def form_of(db: sqlite3.Connection) -> int:
    """The form of a file.

    Raises:
        sqlite3.Error: it cannot be read.
    """
    form: int = db.execute("PRAGMA user_version").fetchone()[0]
    return form


def bring_up(db: sqlite3.Connection) -> None:
    """Bring an older file to the last form, if another process has not; inside a transaction that writes."""
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
    """Let an older file that nobody may write look as one of the last form."""
    form = form_of(db)
    if form != FORM and form in COLUMNS:
        db.execute(f"CREATE TEMP VIEW runs AS SELECT key, run, {COLUMNS[form]} FROM main.runs")
