"""Whether Python that a text names may run. Default: no, since who runs a scenario need not have written it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ASKED = "Python that a text names only with --allow-python (in Python: allow_python=True): it runs as your own program"

LIVE = "built-in algorithms and elements: Python is too slow for real time"
"""Live, instead of Python that a text names."""
PAGE = "built-in algorithms and elements: the page runs no Python"
"""On the lab page, likewise."""

_allowed_instead: ContextVar[str | None] = ContextVar("allowed_instead", default=ASKED)
"""What is allowed where Python is refused; nothing where it may run."""


@contextmanager
def allowing(allowed: bool) -> Iterator[None]:
    """In this block, on this thread, files that scenarios and plans name may be loaded, or may not.

    Args:
        allowed: whether the user said so. Classes that are handed over as objects need no permission.
    """
    with refusing(None if allowed else ASKED):
        yield


@contextmanager
def refusing(allowed_instead: str | None) -> Iterator[None]:
    """In this block Python that a text names is refused with this sentence on what is allowed."""
    token = _allowed_instead.set(allowed_instead)
    try:
        yield
    finally:
        _allowed_instead.reset(token)


def allowed_instead() -> str | None:
    """What is allowed here instead of Python that a text names; nothing if that may run."""
    return _allowed_instead.get()
