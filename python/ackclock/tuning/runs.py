"""Makes the runs that a store has not, and keeps each as soon as it is finished."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache

from ackclock.sweep.local import Executor
from ackclock.sweep.points import key_of, key_of_run, stretches
from ackclock.sweep.store import Store
from ackclock.sweep.task import Done, Task


class Runs:
    """Answers tasks in the order asked: with what the store has, or what the executor makes."""

    def __init__(self, store: Store, executor: Executor, told: Callable[[int], object]) -> None:
        """``told`` hears how many runs have come to an answer, all together."""
        self.store, self.executor, self.told = store, executor, told
        self.made = self.answered = 0
        """Runs that were made, and runs that were asked for."""

    def __call__(self, tasks: Sequence[Task]) -> list[Done]:
        """The runs of each task.

        Raises:
            ScenarioError: a task makes no sense.
            OSError: the store cannot be read or written.
        """
        keys = [_keys(task) for task in tasks]
        kept = self.store.kept(key for each in keys for key in each)
        missing: list[Task] = []
        for task, each in zip(tasks, keys, strict=True):
            lacking = [task.first + i for i, key in enumerate(each) if key not in kept]
            # A setting that two trials share is run once.
            kept.update(each)
            missing += [replace(task, first=first, count=count) for first, count in stretches(lacking)]
        asked = sum(task.count for task in tasks)
        made = sum(task.count for task in missing)
        self.answered += asked - made
        with closing(self.executor.run(missing)) as pieces:
            for piece, done in pieces:
                self.store.add([(key_of_run(json.loads(run)), run) for run in done.runs], done.seconds / piece.count)
                self.made += piece.count
                self.answered += piece.count
                self.told(self.answered)
        self.told(self.answered)
        return [Done(tuple(self.store.runs(each)), 0.0) for each in keys]


def _keys(task: Task) -> list[str]:
    reordering = _reordering(task.text)
    return [key_of(identity, reordering) for identity in task.identities()]


@cache
def _reordering(scenario: str) -> bool:
    """Whether its runs report reordering, which makes them other rows."""
    return tomllib.loads(scenario)["run"].get("reordering", False) is True
