"""The errors that Ackclock raises."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class _Sent:
    """An error whose attributes, in the order of its arguments, survive the way between processes."""

    def __reduce__(self) -> tuple[type[_Sent], tuple[object, ...]]:
        """Return what makes the error again: its class, its message and its attributes."""
        return type(self), (str(self), *vars(self).values())


class ScenarioError(_Sent, ValueError):
    """A scenario, or an option that changes one, is invalid; the message is one line for people.

    Attributes:
        file: the file as it was named, or ``command line``.
        line: line in the file, counted from 1, if there is one.
        key: path of the key, as in ``link[0].rate``, if there is one.
        found: the value found.
        allowed: the values allowed.
        hint: the value or key that was probably meant, if any.
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
        """Return the same error without a line, for a generated text that has no meaningful line numbers."""
        message = str(self).replace(f"{self.file}:{self.line}: ", f"{self.file}: ", 1)
        return type(self)(message, self.file, None, self.key, self.found, self.allowed, self.hint)


class LiveError(_Sent, RuntimeError):
    """A live run did not start or ended early, or a kernel was not built; the message is one line for people.

    Attributes:
        exit_code: the command's exit code: 3 if the system or its permissions lack something that live runs need, 2
            for invalid arguments, 1 for other failures.
    """

    def __init__(self, message: str, exit_code: int) -> None:
        """Keep the message and the exit code."""
        super().__init__(message)
        self.exit_code = exit_code


class CaptureError(_Sent, ValueError):
    """Nothing in a capture could be read; the message is one line for people.

    Attributes:
        file: the file as it was named.
    """

    def __init__(self, message: str, file: str) -> None:
        """Keep the parts of the message."""
        super().__init__(message)
        self.file = file


class AlgorithmError(_Sent, RuntimeError):
    """An algorithm in Python raised an error or returned an invalid value, which ended its run.

    The message is one line: algorithm and method, simulated time, seed, and the error. The original error, with its
    traceback, is the ``__cause__``.

    Attributes:
        algorithm: file and class, as in ``avg_dev.py:AvgDev``.
        method: the method that was called.
        time_s: simulated time, in seconds.
        seed: the seed of the run.
        traceback: the error with the frames of its traceback outside Ackclock, as text; empty if a method returned an
            invalid value. Unlike the ``__cause__``, it survives pickling between processes.
    """

    def __init__(self, message: str, algorithm: str, method: str, time_s: float, seed: int, traceback: str) -> None:
        """Keep the parts of the message."""
        super().__init__(message)
        self.algorithm = algorithm
        self.method = method
        self.time_s = time_s
        self.seed = seed
        self.traceback = traceback

    @classmethod
    def of(
        cls, error: BaseException, algorithm: str, method: str, time_s: float, time: str, seed: int
    ) -> AlgorithmError:
        """Build the error that says which algorithm raised ``error``, and when (``time`` is ``time_s`` in full)."""
        reason = " ".join(str(error).split())
        what = f"{type(error).__name__}: {reason}" if error.__traceback__ else reason
        message = f"{algorithm}.{method} at {time} of simulated time, seed {seed}: {what}"
        return cls(message, algorithm, method, time_s, seed, _frames(error))


def _frames(error: BaseException) -> str:
    """An error with the frames of its traceback outside Ackclock."""
    if error.__traceback__ is None:
        return ""
    ours = str(Path(__file__).parent)
    frames = traceback.TracebackException.from_exception(error)
    frames.stack = traceback.StackSummary.from_list([f for f in frames.stack if not f.filename.startswith(ours)])
    return "".join(frames.format())


@contextmanager
def unwritten() -> Iterator[None]:
    """Remove line numbers from errors about a scenario that was built in Python."""
    try:
        yield
    except ScenarioError as e:
        raise e.without_line() from None
