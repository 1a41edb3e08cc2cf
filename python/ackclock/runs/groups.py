"""Short tasks combined for sending to a worker."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ackclock.runs.cutter import Cutter
from ackclock.runs.task import Done, Task

KILLED = 3
"""The number of times that the workers of a task may die."""


@dataclass(frozen=True)
class Group:
    """Tasks that are sent together."""

    tasks: tuple[Task, ...]
    killed: int = 0
    """The number of times the group was abandoned because its workers died."""
    refused: int = 0
    """The number of times a worker had another version of Ackclock."""

    @property
    def runs(self) -> int:
        """The number of its runs."""
        return sum(task.count for task in self.tasks)

    def split(self) -> list[Group]:
        """Return the groups to send after its workers have died: its halves, or a single task again.

        The list is empty when the limit is reached.
        """
        if len(self.tasks) > 1:
            half = len(self.tasks) // 2
            return [Group(self.tasks[:half]), Group(self.tasks[half:])]
        return [Group(self.tasks, self.killed + 1)] if self.killed + 1 < KILLED else []


class Groups:
    """The groups still to be sent.

    A wrong estimate costs little: a worker starts no further task of a group that takes too long, and the remaining
    tasks are grouped again. A single task whose workers died waits until all others are done and is then sent alone, so
    that it is charged only with its own failures.
    """

    def __init__(self, cutter: Cutter, tasks: Iterable[Task]) -> None:
        """Group these tasks with ``cutter``, which learns from finished tasks."""
        self._cutter = cutter
        self._new = cutter.batches(tasks)
        self._again: deque[Group] = deque()
        self._suspects: deque[Group] = deque()

    def next(self, alone: bool) -> Group | None:
        """Return the next group that may be sent, or ``None``.

        Args:
            alone: whether nothing else is being processed.
        """
        if self._again:
            return self._again.popleft()
        if (batch := next(self._new, None)) is not None:
            return Group(tuple(batch))
        return self._suspects.popleft() if alone and self._suspects else None

    def again(self, groups: Iterable[Group]) -> None:
        """Send these groups unchanged: before any other, or alone at the end if their workers died."""
        for group in groups:
            (self._suspects if group.killed else self._again).append(group)

    def done(self, group: Group, done: Sequence[Done]) -> None:
        """Learn from the finished tasks of a group, and regroup the others."""
        for task, one in zip(group.tasks, done, strict=False):
            self._cutter.learn(task, one)
        self.again(Group(tuple(batch)) for batch in self._cutter.batches(group.tasks[len(done) :]))
