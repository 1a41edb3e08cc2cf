"""Opens the file of a store, also on read-only file systems."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import weakref
from pathlib import Path
from urllib.parse import quote

WAIT_S = 60.0
"""The longest wait for another process that is writing, in seconds."""


def writable(file: Path) -> bool:
    """Whether SQLite may write or create this file, and create its own files beside it."""
    return not file.exists() or (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK))


def to_write(file: Path) -> sqlite3.Connection:
    """Open a connection for writing.

    Raises:
        sqlite3.Error: the file cannot be opened.
    """
    return sqlite3.connect(file, timeout=WAIT_S, isolation_level=None)


def to_read(file: Path) -> sqlite3.Connection:
    """Open a connection that writes nothing and creates no file beside this one.

    SQLite reads the write-ahead log only if its lock file exists or can be created. If neither is possible and there is
    no log, the file is opened directly; if there is one, both are copied into a temporary folder.

    Raises:
        OSError: there is no space for the copy.
        sqlite3.Error: the file cannot be opened.
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
    """A connection to a copy, which is deleted when the connection closes."""


def _looked_at(file: Path, how: str) -> sqlite3.Connection:
    opened = sqlite3.connect(f"file:{quote(str(file))}?{how}", timeout=WAIT_S, isolation_level=None, uri=True)
    try:
        opened.execute("SELECT 1 FROM sqlite_master").fetchone()
        opened.execute("PRAGMA temp_store = MEMORY")
    except BaseException:
        opened.close()
        raise
    return opened
