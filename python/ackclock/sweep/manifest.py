"""What stands beside a sweep's table: the plan, its points, and the keys of their runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ackclock import _native, files

FORM = 1
FOLDER = "sweeps"
FILE = "manifest.json"
TABLE = "runs.parquet"


class Placed(Protocol):
    """A store, or at least the folder of one."""

    folder: Path


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

    def write(self, store: Placed) -> None:
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


def read(store: Placed, name: str) -> Manifest:
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
        points = [_entry(point) for point in said.pop("points")]
        return _checked(Manifest(points=points, **said), name)
    except (FileNotFoundError, NotADirectoryError):
        raise KeyError(name) from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        again = "run the sweep again, which writes it anew; no run is lost"
        raise OSError(f"{file}: damaged ({error}); {again}") from None


def _entry(point: dict[str, Any]) -> Entry:
    """A point as it stands in the file.

    Raises:
        ValueError: it does not say what a point says.
    """
    values, seeds, keys = point["parameters"], point["seeds"], point["keys"]
    numbers = isinstance(seeds, list) and all(type(seed) is int for seed in seeds)
    named = isinstance(keys, list) and all(isinstance(key, str) for key in keys)
    if not isinstance(values, dict) or not numbers or not named or len(seeds) != len(keys):
        raise ValueError("a point without parameters, seeds or keys")
    return Entry(list(values.values()), seeds, keys)


def _checked(manifest: Manifest, name: str) -> Manifest:
    """A manifest whose parts are what they should be.

    Raises:
        ValueError: one is not.
    """
    texts = (manifest.plan, manifest.scenario, *manifest.parameters)
    when = (manifest.finished, manifest.sha256)
    if manifest.name != name:
        raise ValueError(f"found the name {manifest.name!r}")
    if not all(isinstance(one, str) for one in texts) or not all(one is None or isinstance(one, str) for one in when):
        raise ValueError("a part that is no text")
    if any(len(point.values) != len(manifest.parameters) for point in manifest.points):
        raise ValueError("a point without a value of each parameter")
    return manifest


def names(store: Placed) -> Sequence[str]:
    """The sweeps of a store, in order."""
    folder = store.folder / FOLDER
    return sorted(f.parent.name for f in folder.glob(f"*/{FILE}"))


def folder_of(store: Placed, name: str) -> Path:
    """Where a sweep's files are."""
    return store.folder / FOLDER / name


def digest(content: bytes) -> str:
    """SHA-256, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()
