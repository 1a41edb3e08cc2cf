"""Makes runs on all cores, none of them twice."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from ackclock.sweep.task import Done, Task, run_task


class Runs:
    """Answers tasks in the order asked."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or len(os.sched_getaffinity(0))
        self.known: dict[Task, Done] = {}

    def __call__(self, tasks: Sequence[Task]) -> list[Done]:
        """The runs of each task."""
        missing = [task for task in dict.fromkeys(tasks) if task not in self.known]
        with ThreadPoolExecutor(self.threads) as pool:
            self.known.update(zip(missing, pool.map(run_task, missing), strict=True))
        return [self.known[task] for task in tasks]
