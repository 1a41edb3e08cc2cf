"""Cuts what is to be run into tasks of about the same length in time, from how long runs took so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ackclock.runs.task import Done, Task

_WEIGHT = 0.1
"""Of what a task took, in the running mean."""

_Of = tuple[str, str | None, tuple[tuple[str, str], ...]]


class Cutter:
    """Cuts tasks as they are asked for, so that each cut knows all that was learned until then.

    A piece is seeds of one point that follow one another. Before anything is learned, a piece is one run.
    """

    def __init__(self, seconds: float, caution: float = 4.0) -> None:
        """Know nothing yet.

        Args:
            seconds: how long a piece should take.
            caution: a point of which no run is finished may be so many times slower than others.
        """
        self.seconds, self.caution = seconds, caution
        self._mean: float | None = None
        self._of: dict[_Of, float | None] = {}
        """Of the points that are being cut."""

    def learn(self, task: Task, done: Done) -> None:
        """Take in how long a piece took."""
        each = max(done.seconds, 1e-9) / task.count
        self._mean = each if self._mean is None else self._mean + _WEIGHT * (each - self._mean)
        if _point(task) in self._of:
            self._of[_point(task)] = each

    def pieces(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Each task, cut."""
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
        """Each task, cut, and short pieces put together, for executors to which sending one costs something."""
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
        """How long a run of this point will take, as far as is known."""
        known = self._of.get(_point(task))
        return known if known is not None or self._mean is None else self._mean * self.caution


def _point(task: Task) -> _Of:
    return task.text, task.stack, task.set
