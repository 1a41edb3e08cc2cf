"""Results on disk: a file under its final name is complete."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Write under a temporary name, then rename: whoever reads ``path`` finds all of it or the file before.

    Raises:
        OSError: the folder is missing or not writable, or the disk is full; it names ``path``.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        # A failing write does not know where it wrote.
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def write_csv(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Write rows with the keys of the first as header; None is an empty cell."""
    listed = list(rows)
    text = io.StringIO()
    table = csv.DictWriter(text, listed[0].keys(), lineterminator="\n")
    table.writeheader()
    table.writerows(listed)
    write(path, text.getvalue().encode())
