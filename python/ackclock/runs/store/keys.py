"""The keys of runs in the store."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, overload

from ackclock import _native
from ackclock.runs.task import Task

FORM = 2
"""Format of the stored rows; increased when the content of a run's JSON changes."""


_BYTES = 32
"""The size of a key; its text has two digits for each byte."""
_AT_ONCE = 1000
"""Keys whose texts are made at a time."""


class Keys(Sequence[str]):
    """A sequence of keys that takes a quarter of the memory of a list of their texts."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        """Keep these keys.

        Raises:
            ValueError: a text is not a key.
        """
        self._bytes = b"".join(map(_packed, keys))

    @classmethod
    def of(cls, identities: Iterable[str], asked: str) -> Keys:
        """Return the keys of runs; see :func:`key_of`."""
        keys = cls()
        keys._bytes = b"".join(_hashes(identities, asked))
        return keys

    def __len__(self) -> int:
        """The number of keys."""
        return len(self._bytes) // _BYTES

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        """The key at a position, or those of a range."""
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        first = range(len(self))[at] * _BYTES
        return self._bytes[first : first + _BYTES].hex()

    def __iter__(self) -> Iterator[str]:
        """Yield the keys in order."""
        return (self._bytes[first : first + _BYTES].hex() for first in range(0, len(self._bytes), _BYTES))

    def __eq__(self, other: object) -> bool:
        """Whether both are the same keys in the same order; the other may be a list of texts."""
        return self._bytes == other._bytes if isinstance(other, Keys) else list(self) == other

    __hash__ = None  # type: ignore[assignment] # as a list

    def __repr__(self) -> str:
        """The number of keys."""
        return f"<{len(self)} keys>"

    def json(self) -> str:
        """The keys as a JSON list of texts."""
        starts = range(0, len(self._bytes), _AT_ONCE * _BYTES)
        return "[" + ", ".join('"' + self._joined(first).replace(",", '", "') + '"' for first in starts) + "]"

    def _joined(self, first: int) -> str:
        """Some keys, from this byte on, with commas between them."""
        return self._bytes[first : first + _AT_ONCE * _BYTES].hex(",", _BYTES)


def _packed(key: str) -> bytes:
    packed = bytes.fromhex(key)
    if len(packed) != _BYTES or packed.hex() != key:
        raise ValueError(f"found the key {key[:80]!r}")
    return packed


def key_of(identity: str, asked: str) -> str:
    """Return the key of a run: a hash over the format of rows, the identity, and the optional measurements.

    The identity comes from the engine. It is a hash over scenario, stacks, parameters, seed and results revision, and
    the source of algorithms in Python. Measurements do not change a run, but they change its report.

    Args:
        identity: identity of the run.
        asked: the result of :func:`asked_of` for its scenario.
    """
    (key,) = _hashes([identity], asked)
    return key.hex()


def _hashes(identities: Iterable[str], asked: str) -> list[bytes]:
    of = hashlib.sha256
    return [of(f"{FORM}\n{identity}\n{asked}".encode()).digest() for identity in identities]


def asked_of(run: Mapping[str, Any]) -> str:
    """The optional reports that a valid ``[run]`` table requests: reordering, and measures with their bins."""
    measures = run.get("measures", False)
    bins = measures.get("bins") if isinstance(measures, Mapping) else None
    length = None if bins is None else _native.seconds("run.measures.bins", bins)
    return _reports(run.get("reordering", False) is True, bool(measures), length)


def _reports(reordering: bool, measures: bool, bin_s: float | None) -> str:
    return f"{reordering}" + (f"\nmeasures {bin_s}" if measures else "")


def key_of_run(run: str) -> str:
    """Return the key of a run, from its JSON."""
    (key,) = keys_of_runs([run])
    return key


def _key_of_unpacked(run: str) -> str:
    said: dict[str, Any] = json.loads(run)
    measures = said.get("measures")
    reordering = any("reordering" in flow for flow in said["flows"])
    return key_of(said["identity"], _reports(reordering, measures is not None, (measures or {}).get("bin_s")))


def keys_of_runs(runs: Sequence[str]) -> list[str]:
    """Return the keys of runs, from the JSON of each."""
    found = [identity for identity in _native.plain_identities(runs) if identity is not None]
    if len(found) < len(runs):
        return [_key_of_unpacked(run) for run in runs]
    return [key.hex() for key in _hashes(found, _reports(False, False, None))]


def keys_of(task: Task) -> list[str]:
    """Return the keys of a task's runs, in the order of its seeds.

    Raises:
        ScenarioError: the scenario is invalid.
    """
    identities = task.identities()
    plain = "reordering" not in task.text and "measures" not in task.text
    asked = asked_of({}) if plain else _asked_of_scenario(task.text)
    return [key_of(identity, asked) for identity in identities]


def stretches(seeds: Sequence[int]) -> list[tuple[int, int]]:
    """Split seeds into consecutive ranges: first seed and count."""
    if seeds and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return [(seeds[0], len(seeds))]
    found: list[tuple[int, int]] = []
    for seed in seeds:
        if found and seed == found[-1][0] + found[-1][1]:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((seed, 1))
    return found


@lru_cache(256)
def _asked_of_scenario(scenario: str) -> str:
    """The optional reports that a valid scenario requests; they are part of the key."""
    return asked_of(tomllib.loads(scenario)["run"])
