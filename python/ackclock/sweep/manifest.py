"""What stands beside a sweep's table: the plan, its points, and the keys of their runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ackclock import _native, files
from ackclock.runs.store import Store

FORM = 1
FOLDER = "sweeps"
FILE = "manifest.json"
TABLE = "runs.parquet"


@dataclass
class Entry:
    """One point of a sweep."""

    values: list[Any]
    """Of the parameters, in their order."""
    seeds: list[int]
    keys: list[str]
    """Under which the store has the run of each seed."""


@dataclass
class Manifest:
    """One sweep: what was asked for, and when it was finished."""

    name: str
    plan: str
    """As TOML."""
    scenario: str
    """As TOML."""
    parameters: list[str]
    points: list[Entry] = field(repr=False)
    finished: str | None = None
    """When all runs were there, as in ``2026-01-31T12:00:00Z``."""
    sha256: str | None = None
    """Of the table's file."""
    ackclock: str = _native.__version__
    results_revision: int = _native.results_revision

    def keys(self) -> Iterator[str]:
        """Of all runs, point by point, seed by seed."""
        for point in self.points:
            yield from point.keys

    @property
    def runs(self) -> int:
        """How many there are."""
        return sum(len(point.keys) for point in self.points)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the file."""
        head = {key: value for key, value in vars(self).items() if key != "points"}
        points = [
            {"parameters": dict(zip(self.parameters, p.values, strict=True)), "seeds": p.seeds, "keys": p.keys}
            for p in self.points
        ]
        return {"form": FORM, **head, "points": points}

    def write(self, store: Store) -> None:
        """Write it into the sweep's folder.

        Raises:
            OSError: there is no room, or no right to.
        """
        said = self.to_dict()
        points = said.pop("points")
        head = json.dumps(said, indent=1, ensure_ascii=False).removesuffix("\n}")
        # A point is a line: quick to write, and to look at.
        lines = ",\n".join(json.dumps(point, ensure_ascii=False) for point in points)
        folder = folder_of(store, self.name)
        folder.mkdir(parents=True, exist_ok=True)
        files.write(folder / FILE, f'{head},\n "points": [\n{lines}\n ]\n}}\n'.encode())


def read(store: Store, name: str) -> Manifest:
    """The manifest of a sweep.

    Raises:
        KeyError: there is no such sweep.
        OSError: it cannot be read, is damaged, or is from a newer version.
    """
    file = folder_of(store, name) / FILE
    try:
        said = json.loads(file.read_bytes())
        if said.pop("form") > FORM:
            raise OSError(f"{file}: found the form of a newer ackclock, allowed: up to {FORM}")
        points = [Entry(list(p["parameters"].values()), p["seeds"], p["keys"]) for p in said.pop("points")]
        return Manifest(points=points, **said)
    except (FileNotFoundError, NotADirectoryError):
        raise KeyError(name) from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        again = "run the sweep again, which writes it anew; no run is lost"
        raise OSError(f"{file}: damaged ({error}); {again}") from None


def names(store: Store) -> Sequence[str]:
    """The sweeps of a store, in order."""
    folder = store.folder / FOLDER
    return sorted(f.parent.name for f in folder.glob(f"*/{FILE}"))


def folder_of(store: Store, name: str) -> Path:
    """Where a sweep's files are."""
    return store.folder / FOLDER / name


def digest(content: bytes) -> str:
    """SHA-256, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()
