"""Finished points on disk, so that an interrupted reproduction goes on where it stopped.

A point's file is named by a hash over the identities of its runs (scenario, stack's parameters, seed, results
revision), the version and the form of these files. It is there as a whole or not at all, and a damaged one counts as
not there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ackclock import _native, files

Runs = list[dict[str, Any]]
"""The runs of a point as ``ackclock run --json`` has them."""

FORM = "2"
"""Changes with the form of a point's file, so that none of another form is read."""

# https://bford.info/cachedir/ : programs that make backups leave such a folder out.
CACHE_TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n# Finished points of `ackclock reproduce`; may be deleted.\n"


@dataclass(frozen=True)
class Cost:
    """What it took to run a point; the sum over points is what it took to run them all."""

    processor_s: float
    wall_s: float


@dataclass(frozen=True)
class Kept:
    """A finished point."""

    runs: Runs
    cost: Cost


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
        what = "\n".join([FORM, _native.__version__, *identities])
        return self.folder / f"{hashlib.sha256(what.encode()).hexdigest()[:32]}.json"

    def get(self, identities: Sequence[str]) -> Kept | None:
        """The point; None if it is not there, or not what was written."""
        if self.fresh:
            return None
        try:
            first, _, rest = self.path(identities).read_bytes().partition(b"\n")
        except FileNotFoundError:
            return None
        if first != _checksum(rest):
            return None
        read = json.loads(rest)
        if [run["identity"] for run in read["runs"]] != list(identities):
            return None
        return Kept(read["runs"], Cost(**read["cost"]))

    def put(self, identities: Sequence[str], point: Kept) -> None:
        """Keep a point.

        Raises:
            OSError: it could not be written.
        """
        text = json.dumps(asdict(point), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        files.write(self.path(identities), _checksum(text) + b"\n" + text)


def _checksum(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode()
