"""Files: results are complete when they get their final name; files that a user names are read with bounds."""

from __future__ import annotations

import contextlib
import csv
import glob
import io
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from errno import EFBIG, EINVAL, ETIMEDOUT
from os import PathLike
from pathlib import Path
from queue import Empty, SimpleQueue
from stat import S_ISREG
from threading import Thread
from typing import BinaryIO

LARGEST = 16 << 20
"""The largest file that is read, in bytes; the engine has the same bound."""
PATIENCE_S = 10.0
"""Seconds that anything other than a regular file may take to deliver all its data."""

_LEFT_S = 3600.0
"""Age in seconds at which a temporary file is considered abandoned: its process was killed."""


def read(path: str | PathLike[str]) -> bytes:
    """Read a file that a user names, up to 16 MiB; anything other than a regular file must end within 10 s.

    Raises:
        OSError: the file cannot be read, is too large, or does not end in time.
    """
    try:
        about = Path(path).stat()
    except ValueError as error:
        raise OSError(EINVAL, "its name has a null character", str(path)) from error
    if S_ISREG(about.st_mode) and about.st_size:
        return _taken(path)
    # A device, a pipe that may have no writer, or a file of /proc; reading may block.
    said: SimpleQueue[bytes | OSError] = SimpleQueue()

    def take() -> None:
        try:
            said.put(_taken(path))
        except OSError as error:
            said.put(error)

    Thread(target=take, daemon=True).start()
    try:
        heard = said.get(timeout=PATIENCE_S)
    except Empty:
        raise TimeoutError(ETIMEDOUT, f"it did not end within {PATIENCE_S:.0f} s", str(path)) from None
    if isinstance(heard, OSError):
        raise heard
    return heard


def text(path: str | PathLike[str]) -> str:
    """Read the same as text.

    Raises:
        OSError: as for :func:`read`.
        UnicodeDecodeError: the file is not in UTF-8.
    """
    return io.TextIOWrapper(io.BytesIO(read(path)), encoding="utf-8").read()


def _taken(path: str | PathLike[str]) -> bytes:
    with Path(path).open("rb") as opened:
        content = opened.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise OSError(EFBIG, "more than 16 MiB", str(path))
    return content


def write(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write under a temporary name, then rename: readers of ``path`` find the complete file or the previous one.

    A content that is too large for memory is given in pieces.

    Several processes may write the same file at the same time. The last to finish wins.

    Raises:
        OSError: the folder is missing or not writable, or the disk is full; the error names ``path``.
    """
    with replacing(path) as opened:
        opened.writelines([content] if isinstance(content, bytes) else content)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that becomes ``path`` if the block ends without an error; else it is removed.

    Raises:
        OSError: as for :func:`write`.
    """
    part = _beside(path)
    try:
        with part.open("w+b") as opened:
            yield opened
        part.replace(path)
        _tidy(path)
    except OSError as error:
        if error.errno is None:
            raise  # the block's own error
        # A failed write does not say which file it was writing.
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    """A temporary name that only this write uses."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")


def _tidy(path: Path) -> None:
    """Remove temporary files of this file that killed processes left behind."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with contextlib.suppress(OSError):
            if time.time() - part.stat().st_mtime > _LEFT_S:
                part.unlink()


def write_csv(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Write rows, with the keys of the first row as header; ``None`` becomes an empty cell."""
    listed = list(rows)
    text = io.StringIO()
    table = csv.DictWriter(text, listed[0].keys(), lineterminator="\n")
    table.writeheader()
    table.writerows(listed)
    write(path, text.getvalue().encode())
