"""What Ackclock raises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class ScenarioError(ValueError):
    """A scenario, or an option that changes one, makes no sense; the message is one line for people.

    Attributes:
        file: the file as it was named, or ``command line``.
        line: line in the file, counted from 1, if there is one.
        key: path of the key, as in ``link[0].rate``, if there is one.
        found: what stands there.
        allowed: what may stand there.
        hint: what was probably meant, if anything.
    """

    def __init__(
        self, message: str, file: str, line: int | None, key: str | None, found: str, allowed: str, hint: str | None
    ) -> None:
        """Keep the parts of the message."""
        super().__init__(message)
        self.file = file
        self.line = line
        self.key = key
        self.found = found
        self.allowed = allowed
        self.hint = hint

    def without_line(self) -> ScenarioError:
        """The same about a text that nobody wrote, whose lines nobody knows."""
        said = str(self).replace(f"{self.file}:{self.line}: ", f"{self.file}: ", 1)
        return type(self)(said, self.file, None, self.key, self.found, self.allowed, self.hint)

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[object, ...]]:
        """Survive the way back from a worker process."""
        return type(self), (str(self), self.file, self.line, self.key, self.found, self.allowed, self.hint)


@contextmanager
def unwritten() -> Iterator[None]:
    """Errors about a scenario that was built in Python name no line."""
    try:
        yield
    except ScenarioError as e:
        raise e.without_line() from None
