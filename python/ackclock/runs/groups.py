"""Short tasks put together for the way to a worker."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ackclock.runs.cutter import Cutter
from ackclock.runs.task import Done, Task

KILLED = 3
"""So many times the workers of a task may die."""


@dataclass(frozen=True)
class Group:
    """Tasks that are sent together."""

    tasks: tuple[Task, ...]
    killed: int = 0
    """How often it was given up because its workers died."""
    refused: int = 0
    """How often a worker had another Ackclock."""

    def split(self) -> list[Group]:
        """What to send once its workers have died: its halves, or a single task again.

        The list is empty if that was done often enough.
        """
        if len(self.tasks) > 1:
            half = len(self.tasks) // 2
            return [Group(self.tasks[:half]), Group(self.tasks[half:])]
        return [Group(self.tasks, self.killed + 1)] if self.killed + 1 < KILLED else []


class Groups:
    """What is still to be sent.

    A guess that is wrong costs little: a worker begins no further task of a group that lasts too long, and what it left
    is put together anew. A single task whose workers died waits until all others are done and then goes alone, so
    that it answers for its own deaths, not for those of its neighbours.
    """

    def __init__(self, cutter: Cutter, tasks: Iterable[Task]) -> None:
        """Cut these tasks, as ``cutter`` has learned and learns from what is done."""
        self._cutter = cutter
        self._new = cutter.batches(tasks)
        self._again: deque[Group] = deque()
        self._suspects: deque[Group] = deque()

    def next(self, alone: bool) -> Group | None:
        """The next group, if any is left that may go now.

        Args:
            alone: nothing else is on its way.
        """
        if self._again:
            return self._again.popleft()
        if (batch := next(self._new, None)) is not None:
            return Group(tuple(batch))
        return self._suspects.popleft() if alone and self._suspects else None

    def again(self, groups: Iterable[Group]) -> None:
        """Send these as they are, before any other, or alone after them."""
        for group in groups:
            (self._suspects if group.killed else self._again).append(group)

    def done(self, group: Group, done: Sequence[Done]) -> None:
        """Learn from what was done of a group, and put together anew what was not."""
        for task, one in zip(group.tasks, done, strict=False):
            self._cutter.learn(task, one)
        self.again(Group(tuple(batch)) for batch in self._cutter.batches(group.tasks[len(done) :]))
