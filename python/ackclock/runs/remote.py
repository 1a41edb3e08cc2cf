"""What goes to a worker on another machine: bytes that need Ackclock at the worker alone; data comes back.

Dask's scheduler unpickles what it hands on. It is given ``pickle.loads`` and bytes, so it needs no Ackclock, and a
worker that has none, or another one, answers with an error that says so. What a worker answers is text, which is
checked and never unpickled here: see ``ackclock.runs.answer``.
"""

from __future__ import annotations

import json
import pickle
import sys
import zlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ackclock import _native
from ackclock.runs import answer
from ackclock.runs.task import RevisionError, Task, run_tasks


class Installed(NamedTuple):
    """What must be the same on both sides."""

    revision: int
    """Results revision."""
    version: str
    """Of Ackclock."""
    python: str
    """Major and minor version, on which pickled classes depend."""

    def __str__(self) -> str:
        return f"ackclock {self.version} with results revision {self.revision} under Python {self.python}"


def installed() -> Installed:
    """What is installed here."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return Installed(_native.results_revision, _native.__version__, python)


def told() -> str:
    """What is installed here, as text."""
    return json.dumps(installed())


def heard(said: object) -> Installed | None:
    """What a worker says that it has installed; nothing if it says something else."""
    if not isinstance(said, str):
        return None
    try:
        revision, version, python = json.loads(said)
    except (ValueError, TypeError):
        return None
    known = isinstance(revision, int) and isinstance(version, str) and isinstance(python, str)
    return Installed(revision, version, python) if known else None


class _Call:
    """A call that is made where it is unpickled."""

    def __init__(self, function: Callable[..., object], arguments: tuple[object, ...]) -> None:
        self.function, self.arguments = function, arguments

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self.function, self.arguments


def call(function: Callable[..., object], *arguments: object) -> bytes:
    """Bytes for ``pickle.loads``, which makes the call and has its result."""
    return pickle.dumps(_Call(function, arguments))


def packed(tasks: Sequence[Task], seconds: float) -> bytes:
    """The call that makes the runs of a group, as bytes for ``pickle.loads``; it answers as ``answer`` has it.

    Args:
        tasks: the group.
        seconds: after which no further task is begun.
    """
    return call(_work, tuple(installed()), zlib.compress(pickle.dumps(tuple(tasks)), 1), seconds)


def _work(wanted: tuple[int, str, str], tasks: bytes, seconds: float) -> bytes:
    try:
        if wanted != installed():
            raise RevisionError(f"found {installed()}, asked for: {Installed(*wanted)}")
        return answer.packed(run_tasks(pickle.loads(zlib.decompress(tasks)), seconds))
    except Exception as error:
        return answer.failed(error)
