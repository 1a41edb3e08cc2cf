"""Sends algorithms with a scenario to another process or another machine."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from ackclock import _native
from ackclock.document import quoted, refusal
from ackclock.errors import ScenarioError
from ackclock.late import cloudpickle
from ackclock.slots import registry
from ackclock.slots.base import Outside
from ackclock.slots.source import keep_hash, local_modules_of, outside


def used(text: str, set: Sequence[tuple[str, str]], folder: Path, name: str = "<text>") -> dict[str, type[Outside]]:
    """Return the algorithms in Python that a scenario and its options name: the source as written, and the class.

    Args:
        text: the scenario, as TOML.
        set: parameters of every flow's stack, in the form that ``--set`` takes.
        folder: the folder to which files are relative.
        name: the name that error messages use for the scenario.

    Raises:
        ScenarioError: the text is not TOML, there is no such class, or Python may not run here.
    """
    named = list(_in(_read(text), ""))
    for path, value in set:
        parsed = _option(value)
        at = f"set.{path}"
        named += [(at, parsed)] if path.endswith(".source") and isinstance(parsed, str) else _in(parsed, at)
    found: dict[str, type[Outside]] = {}
    for key, source in named:
        try:
            found[source] = found[source] if source in found else registry.find(source, folder)
        except registry.RefusedError as e:
            raise refusal(name, None, key, e.found, e.allowed, e.hint) from e
    return found


def pickled(
    text: str, set: Sequence[tuple[str, str]], folder: Path, name: str = "<text>"
) -> tuple[tuple[str, bytes], ...]:
    """Return ``Task.algorithms`` for a scenario and its options: each source, and its class pickled by cloudpickle.

    Classes and the local modules that they import are pickled by value, with the hash of their source, so the receiver
    needs no file. Installed packages are pickled by name. Arguments and errors are those of :func:`used`.
    """
    return tuple((source, _dumps(cls)) for source, cls in used(text, set, folder, name).items())


@contextmanager
def unpacked(algorithms: Sequence[tuple[str, bytes]]) -> Iterator[None]:
    """In this block and on this thread, make these sources name these classes."""
    with registry.sent({source: _loads(data) for source, data in algorithms}):
        yield


def _dumps(cls: type[Outside]) -> bytes:

    keep_hash(cls)
    names = {c.__module__ for c in outside(cls)}
    names |= {name for c in outside(cls) for name in local_modules_of(c)}
    modules = {sys.modules[name] for name in names if name in sys.modules}
    by_value = [
        m for m in modules if m.__name__ != "__main__" and m.__name__ not in cloudpickle.list_registry_pickle_by_value()
    ]
    for module in by_value:
        cloudpickle.register_pickle_by_value(module)
    try:
        # The qualified name of a class in a function would be lost, and is part of the identity.
        data: bytes = cloudpickle.dumps((cls.__qualname__, cls))
    finally:
        for module in by_value:
            cloudpickle.unregister_pickle_by_value(module)
    return data


@lru_cache(maxsize=256)
def _loads(data: bytes) -> type[Outside]:

    cls: type[Outside]
    name, cls = cloudpickle.loads(data)
    cls.__qualname__ = name
    return cls


def _read(text: str) -> dict[str, object]:
    value: dict[str, object] = json.loads(_native.read_toml("<text>", text))["value"]
    return value


def _option(value: str) -> object:
    try:
        return _read(f"v = {value}")["v"]
    except ScenarioError:
        return value


def _in(value: object, at: str) -> Iterator[tuple[str, str]]:
    """The sources anywhere in a table, each with its place."""
    if isinstance(value, Mapping):
        source = value.get("source")
        if value.get("kind") == "python" and isinstance(source, str):
            yield f"{at}.source".removeprefix("."), source
        for key, below in value.items():
            path = f"{at}.{quoted(key)}".removeprefix(".")
            if key.endswith(".source") and isinstance(below, str):
                yield path, below
            yield from _in(below, path)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _in(item, f"{at}[{i}]")
