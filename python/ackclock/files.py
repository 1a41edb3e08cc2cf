"""Results on disk: a file under its final name is complete."""

from __future__ import annotations

import contextlib
import csv
import glob
import io
import secrets
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

_LEFT_S = 3600.0
"""After this time a temporary file belongs to nobody: its process was killed."""


def write(path: Path, content: bytes) -> None:
    """Write under a temporary name, then rename: who reads ``path`` finds all of it or the file before.

    Several processes may write the same file at a time. The last to finish wins.

    Raises:
        OSError: the folder is missing or not writable, or the disk is full; it names ``path``.
    """
    part = _beside(path)
    try:
        part.write_bytes(content)
        part.replace(path)
        _tidy(path)
    except OSError as error:
        # A failing write does not know where it wrote.
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    """A temporary name of this write alone."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")


def _tidy(path: Path) -> None:
    """Remove what killed processes left of this file."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with contextlib.suppress(OSError):
            if time.time() - part.stat().st_mtime > _LEFT_S:
                part.unlink()


def write_csv(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Write rows with the keys of the first as header; None is an empty cell."""
    listed = list(rows)
    text = io.StringIO()
    table = csv.DictWriter(text, listed[0].keys(), lineterminator="\n")
    table.writeheader()
    table.writerows(listed)
    write(path, text.getvalue().encode())
