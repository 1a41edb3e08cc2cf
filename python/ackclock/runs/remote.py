"""Calls to a worker on another machine: only the worker needs Ackclock to unpickle them, and only data are returned.

Dask's scheduler unpickles the messages that it forwards. It gets ``pickle.loads`` and bytes, so it does not need
Ackclock. A worker without Ackclock, or with another version, replies with an error that says so. A reply is text, which
is checked and never unpickled here: see ``ackclock.runs.answer``.
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
    """Versions that must be equal on both sides."""

    revision: int
    """Results revision."""
    version: str
    """Version of Ackclock."""
    python: str
    """Major and minor version, on which pickled classes depend."""

    def __str__(self) -> str:
        return f"ackclock {self.version} with results revision {self.revision} under Python {self.python}"


def installed() -> Installed:
    """Return the versions installed here."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return Installed(_native.results_revision, _native.__version__, python)


def versions() -> str:
    """Return the versions installed here, as text."""
    return json.dumps(installed())


def parsed(text: object) -> Installed | None:
    """Parse a worker's versions; ``None`` if the reply is something else."""
    if not isinstance(text, str):
        return None
    try:
        revision, version, python = json.loads(text)
    except (ValueError, TypeError):
        return None
    known = isinstance(revision, int) and isinstance(version, str) and isinstance(python, str)
    return Installed(revision, version, python) if known else None


class _Call:
    """A call that is executed when it is unpickled."""

    def __init__(self, function: Callable[..., object], arguments: tuple[object, ...]) -> None:
        self.function, self.arguments = function, arguments

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self.function, self.arguments


def call(function: Callable[..., object], *arguments: object) -> bytes:
    """Return bytes for ``pickle.loads``, which executes the call and returns its result."""
    return pickle.dumps(_Call(function, arguments))


def packed(tasks: Sequence[Task], seconds: float) -> bytes:
    """Return the call that makes the runs of a group, as bytes for ``pickle.loads``; ``answer`` defines its reply.

    Args:
        tasks: the group.
        seconds: the time after which no further task is started.
    """
    return call(_work, tuple(installed()), zlib.compress(pickle.dumps(tuple(tasks)), 1), seconds)


def _work(wanted: tuple[int, str, str], tasks: bytes, seconds: float) -> bytes:
    try:
        if wanted != installed():
            raise RevisionError(f"found {installed()}, asked for: {Installed(*wanted)}")
        return answer.packed(run_tasks(pickle.loads(zlib.decompress(tasks)), seconds))
    except Exception as error:
        return answer.failed(error)
