"""Cuts runs into tasks of similar duration, based on the time that earlier runs took."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ackclock.runs.task import Done, Task

_WEIGHT = 0.1
"""The weight of the newest task in the running mean."""

_Of = tuple[str, str | None, tuple[tuple[str, str], ...]]


class Cutter:
    """Cuts tasks on demand, so that each cut uses everything learned so far.

    A piece consists of consecutive seeds of one point. Until a duration is known, a piece is one run.
    """

    def __init__(self, seconds: float, caution: float = 4.0) -> None:
        """Start without any durations.

        Args:
            seconds: the intended duration of a piece.
            caution: the factor by which a point without finished runs is assumed to be slower than others.
        """
        self.seconds, self.caution = seconds, caution
        self._mean: float | None = None
        self._of: dict[_Of, float | None] = {}
        """Mean duration of a run, for the points that are being cut."""

    def learn(self, task: Task, done: Done) -> None:
        """Record the duration of a piece."""
        each = max(done.seconds, 1e-9) / task.count
        self._mean = each if self._mean is None else self._mean + _WEIGHT * (each - self._mean)
        if _point(task) in self._of:
            self._of[_point(task)] = each

    def pieces(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Yield the tasks cut into pieces."""
        for task in tasks:
            first, end = task.first, task.first + task.count
            self._of[_point(task)] = None
            while first < end:
                each = self._each(task)
                count = 1 if each is None else min(end - first, max(1, int(self.seconds / each)))
                yield replace(task, first=first, count=count)
                first += count
            self._of.pop(_point(task), None)

    def batches(self, tasks: Iterable[Task]) -> Iterator[list[Task]]:
        """Yield batches of pieces, with short pieces combined, for executors with a cost per message."""
        batch: list[Task] = []
        took = 0.0
        for piece in self.pieces(tasks):
            batch.append(piece)
            each = self._each(piece)
            took += self.seconds if each is None else each * piece.count
            if took >= self.seconds:
                yield batch
                batch, took = [], 0.0
        if batch:
            yield batch

    def _each(self, task: Task) -> float | None:
        """The expected duration of a run of this point; ``None`` if nothing is known."""
        known = self._of.get(_point(task))
        return known if known is not None or self._mean is None else self._mean * self.caution


def _point(task: Task) -> _Of:
    return task.text, task.stack, task.set
