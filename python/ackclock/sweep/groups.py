"""Short tasks put together, so that what is sent takes about a second."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ackclock.sweep.task import Done, Task

SECONDS = 1.0
LONGEST = 4096
KILLED = 3


@dataclass(frozen=True)
class Group:
    """Tasks that are sent together."""

    tasks: tuple[Task, ...]
    killed: int = 0
    """How often it was given up because its workers died."""

    def split(self) -> list[Group]:
        """What to send once its workers have died: its halves, or a single task again.

        The list is empty if that was done often enough.
        """
        if len(self.tasks) > 1:
            half = len(self.tasks) // 2
            return [Group(self.tasks[:half]), Group(self.tasks[half:])]
        return [Group(self.tasks, self.killed + 1)] if self.killed + 1 < KILLED else []


class Grouping:
    """Makes groups of tasks by what a run took so far.

    A guess that is wrong costs little: a worker begins no further task of a group that lasts too long, and what it left
    is put together anew.
    """

    def __init__(self) -> None:
        self._tasks: Iterator[Task] = iter(())
        self._left: deque[Task] = deque()
        self._again: deque[Group] = deque()
        self._run_seconds: float | None = None

    def start(self, tasks: Iterable[Task]) -> None:
        """Take these from now on; what a run takes stays known."""
        self._tasks = iter(tasks)
        self._left.clear()
        self._again.clear()

    def next(self) -> Group | None:
        """The next group, if any is left; a single task until a run has been measured."""
        if self._again:
            return self._again.popleft()
        chosen: list[Task] = []
        runs = 0
        while (task := self._left.popleft() if self._left else next(self._tasks, None)) is not None:
            chosen.append(task)
            runs += task.count
            if self._run_seconds is None or runs * self._run_seconds >= SECONDS or len(chosen) == LONGEST:
                break
        return Group(tuple(chosen)) if chosen else None

    def again(self, groups: Iterable[Group]) -> None:
        """Send these as they are, before any other."""
        self._again.extend(groups)

    def measured(self, group: Group, done: Sequence[Done]) -> None:
        """Learn from what was done of a group, and put together anew what was not."""
        runs = sum(task.count for task in group.tasks[: len(done)])
        mean = sum(d.seconds for d in done) / runs
        self._run_seconds = mean if self._run_seconds is None else (self._run_seconds + mean) / 2
        self._left.extend(group.tasks[len(done) :])
