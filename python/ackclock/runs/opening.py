"""Opens the file of a store, also where nothing may be written."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import weakref
from pathlib import Path
from urllib.parse import quote

WAIT_S = 60.0
"""How long to wait for another process that writes."""


def writable(file: Path) -> bool:
    """Whether SQLite may write this file, or make it, and make its own files beside it."""
    return not file.exists() or (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK))


def to_write(file: Path) -> sqlite3.Connection:
    """A connection that writes.

    Raises:
        sqlite3.Error: it cannot be opened.
    """
    return sqlite3.connect(file, timeout=WAIT_S, isolation_level=None)


def to_read(file: Path) -> sqlite3.Connection:
    """A connection that writes nothing, and makes no file beside this one.

    SQLite reads what is written ahead only where it may make a file for locks, or finds one. Without either, and with
    nothing written ahead, the file is taken as it is; with something, both are copied into a temporary folder.

    Raises:
        OSError: there is no room for the copy.
        sqlite3.Error: it cannot be opened.
    """
    ahead = file.with_name(f"{file.name}-wal")
    try:
        return _looked_at(file, "mode=ro")
    except sqlite3.OperationalError:
        if not ahead.exists() or not ahead.stat().st_size:
            return _looked_at(file, "mode=ro&immutable=1")
    folder = tempfile.mkdtemp(prefix="ackclock-")
    for one in (file, ahead):
        shutil.copyfile(one, Path(folder, one.name))
    opened = _Copy(Path(folder, file.name), timeout=WAIT_S, isolation_level=None)
    weakref.finalize(opened, shutil.rmtree, folder, ignore_errors=True)
    return opened


class _Copy(sqlite3.Connection):
    """One to a copy, which goes with it."""


def _looked_at(file: Path, how: str) -> sqlite3.Connection:
    opened = sqlite3.connect(f"file:{quote(str(file))}?{how}", timeout=WAIT_S, isolation_level=None, uri=True)
    try:
        opened.execute("SELECT 1 FROM sqlite_master").fetchone()
        opened.execute("PRAGMA temp_store = MEMORY")
    except BaseException:
        opened.close()
        raise
    return opened
