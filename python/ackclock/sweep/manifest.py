"""The manifest beside a sweep's table: the plan, its points, and the keys of their runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ackclock import _native, files
from ackclock.runs.store.keys import Keys

FORM = 1
FOLDER = "sweeps"
FILE = "manifest.json"
TABLE = "runs.parquet"


class Placed(Protocol):
    """A store, or an object with the folder of one."""

    folder: Path


@dataclass
class Entry:
    """One point of a sweep."""

    values: list[Any]
    """Values of the parameters, in their order."""
    seeds: Sequence[int]
    """A range, if they are consecutive."""
    keys: Keys
    """The key in the store for the run of each seed."""

    @classmethod
    def of(cls, values: list[Any], seeds: Sequence[int], keys: Iterable[str]) -> Entry:
        """Return the entry with its seeds and keys in compact form.

        Raises:
            ValueError: a text is not a key.
        """
        consecutive = range(seeds[0], seeds[0] + len(seeds)) if seeds else range(0)
        same = isinstance(seeds, range) or list(consecutive) == list(seeds)
        return cls(values, consecutive if same else list(seeds), keys if isinstance(keys, Keys) else Keys(keys))


@dataclass
class Manifest:
    """The manifest of a sweep: the request, and when it was finished."""

    name: str
    plan: str
    """The plan, as TOML."""
    scenario: str
    """The scenario, as TOML."""
    parameters: list[str]
    points: list[Entry] = field(repr=False)
    finished: str | None = None
    """Time at which all runs were finished, as in ``2026-01-31T12:00:00Z``."""
    sha256: str | None = None
    """Hash of the table's file."""
    ackclock: str = _native.__version__
    results_revision: int = _native.results_revision

    def keys(self) -> Iterator[str]:
        """The keys of all runs, point by point, seed by seed."""
        for point in self.points:
            yield from point.keys

    @property
    def runs(self) -> int:
        """The number of runs."""
        return sum(len(point.keys) for point in self.points)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file."""
        return {**self._head(), "points": [self._point(point) for point in self.points]}

    def _head(self) -> dict[str, Any]:
        return {"form": FORM, **{key: value for key, value in vars(self).items() if key != "points"}}

    def _point(self, point: Entry) -> dict[str, Any]:
        return {"parameters": self._values(point), "seeds": list(point.seeds), "keys": list(point.keys)}

    def _values(self, point: Entry) -> dict[str, Any]:
        return dict(zip(self.parameters, point.values, strict=True))

    def write(self, store: Placed) -> None:
        """Write the manifest into the sweep's folder.

        Raises:
            OSError: the disk is full, or the folder is not writable.
        """
        folder = folder_of(store, self.name)
        folder.mkdir(parents=True, exist_ok=True)
        files.write(folder / FILE, self._lines())

    def _lines(self) -> Iterator[bytes]:
        """The file, with a line for each point: quick to write, and readable."""
        head = json.dumps(self._head(), indent=1, ensure_ascii=False).removesuffix("\n}")
        yield f'{head},\n "points": [\n'.encode()
        between = ""
        for point in self.points:
            # What `json.dumps` writes for `_point`.
            values, seeds = json.dumps(self._values(point), ensure_ascii=False), list(point.seeds)
            line = f'{between}{{"parameters": {values}, "seeds": {seeds}, "keys": {point.keys.json()}}}'
            yield line.encode()
            between = ",\n"
        yield b"\n ]\n}\n"


def read(store: Placed, name: str) -> Manifest:
    """Read the manifest of a sweep.

    Raises:
        KeyError: there is no such sweep.
        OSError: the file cannot be read, is damaged, or has a newer format.
    """
    file = folder_of(store, name) / FILE
    try:
        said = json.loads(file.read_bytes())
        if said.pop("form") > FORM:
            raise OSError(f"{file}: found the format of a newer ackclock, allowed: up to {FORM}")
        points = [_entry(point) for point in said.pop("points")]
        return _checked(Manifest(points=points, **said), name)
    except (FileNotFoundError, NotADirectoryError):
        raise KeyError(name) from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        again = "run the sweep again, which rewrites it; no run is lost"
        raise OSError(f"{file}: damaged ({error}); {again}") from None


def _entry(point: dict[str, Any]) -> Entry:
    """Parse a point of the file.

    Raises:
        ValueError: the point is invalid.
    """
    values, seeds, keys = point["parameters"], point["seeds"], point["keys"]
    numbers = isinstance(seeds, list) and all(type(seed) is int for seed in seeds)
    named = isinstance(keys, list) and all(isinstance(key, str) for key in keys)
    if not isinstance(values, dict) or not numbers or not named or len(seeds) != len(keys):
        raise ValueError("a point without parameters, seeds or keys")
    return Entry.of(list(values.values()), seeds, keys)


def _checked(manifest: Manifest, name: str) -> Manifest:
    """Return a manifest after checking its parts.

    Raises:
        ValueError: a part is invalid.
    """
    texts = (manifest.plan, manifest.scenario, *manifest.parameters)
    when = (manifest.finished, manifest.sha256)
    if manifest.name != name:
        raise ValueError(f"found the name {manifest.name!r}")
    if not all(isinstance(one, str) for one in texts) or not all(one is None or isinstance(one, str) for one in when):
        raise ValueError("a part that is not text")
    if any(len(point.values) != len(manifest.parameters) for point in manifest.points):
        raise ValueError("a point without a value of each parameter")
    return manifest


def names(store: Placed) -> Sequence[str]:
    """The sweeps of a store, in order."""
    folder = store.folder / FOLDER
    return sorted(f.parent.name for f in folder.glob(f"*/{FILE}"))


def folder_of(store: Placed, name: str) -> Path:
    """The folder of a sweep's files."""
    return store.folder / FOLDER / name


def digest(content: bytes) -> str:
    """SHA-256, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()
