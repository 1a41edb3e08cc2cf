"""Whether Python named in a text may run. Default: no, because the user may not have written the scenario."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ASKED = "Python code only with --allow-python (in Python: allow_python=True), since it runs with your permissions"

LIVE = "built-in algorithms and elements, since Python is too slow for real time"
"""The alternative in live runs."""
PAGE = "built-in algorithms and elements, since the page does not run Python"
"""The alternative on the lab page."""

_allowed_instead: ContextVar[str | None] = ContextVar("allowed_instead", default=ASKED)
"""The alternative where Python is refused; ``None`` where it may run."""


@contextmanager
def allowing(allowed: bool) -> Iterator[None]:
    """Permit or forbid, in this block and on this thread, files that scenarios and plans name.

    Args:
        allowed: whether the user has permitted it. Classes passed as objects need no permission.
    """
    with refusing(None if allowed else ASKED):
        yield


@contextmanager
def refusing(allowed_instead: str | None) -> Iterator[None]:
    """Refuse, in this block, Python named in a text; the error states this alternative."""
    token = _allowed_instead.set(allowed_instead)
    try:
        yield
    finally:
        _allowed_instead.reset(token)


def allowed_instead() -> str | None:
    """The alternative to Python named in a text; ``None`` if it may run."""
    return _allowed_instead.get()
