"""Finished points on disk, so that an interrupted reproduction goes on where it stopped.

A point's file is named by a hash over the identities of its runs (scenario, stack's parameters, seed, results revision)
and the version. It is there as a whole or not at all, and a damaged one counts as not there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ackclock import _native
from ackclock.papers import files

Runs = list[dict[str, Any]]
"""The runs of a point as ``ackclock run --json`` has them."""

# https://bford.info/cachedir/ : programs that make backups leave such a folder out.
CACHE_TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n# Finished points of `ackclock reproduce`; may be deleted.\n"


class Store:
    """A folder of finished points."""

    def __init__(self, folder: Path, fresh: bool = False) -> None:
        """Make the folder, or find it.

        Args:
            folder: where.
            fresh: take nothing from it.

        Raises:
            OSError: it cannot be made, or not be written to.
        """
        self.folder, self.fresh = folder, fresh
        folder.mkdir(parents=True, exist_ok=True)
        files.write(folder / "CACHEDIR.TAG", CACHE_TAG)

    def path(self, identities: Sequence[str]) -> Path:
        """The file of the point whose runs have these identities."""
        what = "\n".join([_native.__version__, *identities])
        return self.folder / f"{hashlib.sha256(what.encode()).hexdigest()[:32]}.json"

    def get(self, identities: Sequence[str]) -> Runs | None:
        """The point's runs; None if it is not there, or not what was written."""
        if self.fresh:
            return None
        try:
            first, _, rest = self.path(identities).read_bytes().partition(b"\n")
        except FileNotFoundError:
            return None
        if first != _checksum(rest):
            return None
        runs: Runs = json.loads(rest)
        return runs if [run["identity"] for run in runs] == list(identities) else None

    def put(self, identities: Sequence[str], runs: Runs) -> None:
        """Keep a point.

        Raises:
            OSError: it could not be written.
        """
        text = json.dumps(runs, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        files.write(self.path(identities), _checksum(text) + b"\n" + text)


def _checksum(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode()
