"""Algorithms that go along with a scenario: to another process, or another machine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from ackclock import _native
from ackclock.errors import ScenarioError
from ackclock.slots import registry
from ackclock.slots.base import Outside
from ackclock.slots.source import keep_hash, local_modules_of, outside


def used(text: str, set: Sequence[tuple[str, str]], folder: Path) -> dict[str, type[Outside]]:
    """The algorithms in Python that a scenario and its options name: source as written, and the class.

    Args:
        text: the scenario, as TOML.
        set: parameters of every flow's stack, as ``--set`` takes them.
        folder: where relative files begin.

    Raises:
        ScenarioError: the text is no TOML, or there is no such class.
    """
    sources = list(_in(_read(text)))
    for path, value in set:
        parsed = _option(value)
        sources += [parsed] if path.endswith(".source") and isinstance(parsed, str) else _in(parsed)
    try:
        return {source: registry.find(source, folder) for source in dict.fromkeys(sources)}
    except registry.RefusedError as e:
        message = f"<text>: key `source`: {e}"
        raise ScenarioError(message, "<text>", None, "source", e.found, e.allowed, e.hint) from e


def pickled(text: str, set: Sequence[tuple[str, str]], folder: Path) -> tuple[tuple[str, bytes], ...]:
    """What ``Task.algorithms`` holds for a scenario and its options: each source, and its class as cloudpickle has it.

    Classes go by value, with the hash of their source, so that whoever gets them needs no file. So do
    the local modules that they import; installed packages go by name. Arguments and errors are those of :func:`used`.
    """
    return tuple((source, _dumps(cls)) for source, cls in used(text, set, folder).items())


@contextmanager
def unpacked(algorithms: Sequence[tuple[str, bytes]]) -> Iterator[None]:
    """In this block, on this thread, scenarios mean these classes by these sources."""
    with registry.sent({source: _loads(data) for source, data in algorithms}):
        yield


def _dumps(cls: type[Outside]) -> bytes:
    import sys  # noqa: PLC0415 - start-up time

    import cloudpickle  # noqa: PLC0415 - start-up time

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
        data: bytes = cloudpickle.dumps(cls)
    finally:
        for module in by_value:
            cloudpickle.unregister_pickle_by_value(module)
    return data


@lru_cache(maxsize=256)
def _loads(data: bytes) -> type[Outside]:
    import cloudpickle  # noqa: PLC0415 - start-up time

    cls: type[Outside] = cloudpickle.loads(data)
    return cls


def _read(text: str) -> dict[str, object]:
    value: dict[str, object] = json.loads(_native.read_toml("<text>", text))["value"]
    return value


def _option(value: str) -> object:
    try:
        return _read(f"v = {value}")["v"]
    except ScenarioError:
        return value


def _in(value: object) -> Iterator[str]:
    """The sources that stand anywhere in a table."""
    if isinstance(value, Mapping):
        source = value.get("source")
        if value.get("kind") == "python" and isinstance(source, str):
            yield source
        for key, below in value.items():
            if key.endswith(".source") and isinstance(below, str):
                yield below
            yield from _in(below)
    elif isinstance(value, list):
        for item in value:
            yield from _in(item)
