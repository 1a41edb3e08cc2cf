"""The laboratory: makes the runs that its store lacks, and stores each as soon as it is finished."""

from __future__ import annotations

import json
import math
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass, replace
from typing import Any

from ackclock.progress import Progress, Show, unshown
from ackclock.runs.executor import Executor
from ackclock.runs.store import Cost, Store
from ackclock.runs.store.keys import keys_of, keys_of_runs, stretches
from ackclock.runs.task import Done, Task

Runs = list[dict[str, Any]]
"""The runs of a point as in ``ackclock run --json``, one for each seed."""


@dataclass(frozen=True)
class Wanted:
    """Requested runs of one point."""

    task: Task
    """The task that makes them; its own seeds are ignored."""
    seeds: Sequence[int]
    keys: Sequence[str]
    """The key in the store for the run of each seed."""

    @classmethod
    def of(cls, task: Task) -> Wanted:
        """Request all runs of a task.

        Raises:
            ScenarioError: the scenario is invalid.
        """
        return cls(task, range(task.first, task.first + task.count), keys_of(task))


@dataclass(frozen=True)
class Spent:
    """The amount simulated, and the time it took."""

    points: int = 0
    runs: int = 0
    packets: int = 0
    """Data packets sent by all flows, retransmissions included."""
    simulated_s: float = 0.0
    processor_s: float = 0.0
    """Processor time of all cores, in seconds."""
    wall_s: float = 0.0
    """Elapsed time of the runs alone, in seconds, without drawing and judging."""

    @classmethod
    def of(cls, runs: Runs, costs: Sequence[Cost]) -> Spent:
        """The cost of one point with all its runs."""
        packets = sum(flow["data_packets_sent"] for run in runs for flow in run["flows"])
        simulated = math.fsum(run["duration_s"] for run in runs)
        took = (math.fsum(each) for each in zip(*(astuple(cost) for cost in costs), strict=True))
        return cls(1, len(runs), packets, simulated, *took)

    @classmethod
    def total(cls, parts: Iterable[Spent]) -> Spent:
        """The sum; the order does not matter."""
        points, runs, packets, *seconds = zip(*(astuple(part) for part in [cls(), *parts]), strict=True)
        simulated, *took = (math.fsum(each) for each in seconds)
        return cls(sum(points), sum(runs), sum(packets), simulated, *(round(each, 6) for each in took))


class Laboratory:
    """Makes each run only once, and counts the cost."""

    def __init__(self, store: Store, executor: Executor, show: Show = unshown, fresh: bool = False) -> None:
        """Prepare; no run is made yet.

        Args:
            store: keeps finished runs.
            executor: makes runs.
            show: shows the progress while runs are made.
            fresh: repeat runs that are in the store instead of using them.
        """
        self._store, self._executor, self._show, self._fresh = store, executor, show, fresh
        self._made: set[str] = set()
        """Keys of runs that were repeated."""
        self._spent: dict[tuple[str, ...], Spent] = {}

    def silent(self) -> Laboratory:
        """A laboratory with the same store and executor that shows nothing and has its own counters."""
        return Laboratory(self._store, self._executor, unshown, self._fresh)

    @property
    def spent(self) -> Spent:
        """The cost of all points given to ``run``, each counted once; stored runs count with their original cost."""
        return Spent.total(self._spent.values())

    def run(self, what: str, tasks: Sequence[Task]) -> list[Runs]:
        """Return the runs of each task, from the store or newly made.

        Args:
            what: the purpose of the runs, in a few words, for the progress display.
            tasks: a point with all its seeds each.

        Raises:
            ScenarioError: a scenario is invalid; in that case nothing was run.
            OSError: the store cannot be read or written, or a cluster is lost; finished runs are kept.
            KeyboardInterrupt: as usual; finished runs are kept.
        """
        points = [Wanted.of(task) for task in tasks]
        self.make(what, (key for point in points for key in point.keys), points)
        answers: list[Runs] = []
        for point in points:
            answers.append([json.loads(run) for run in self._store.runs(point.keys)])
            if (keys := tuple(point.keys)) not in self._spent:
                self._spent[keys] = Spent.of(answers[-1], self._store.costs(keys))
        return answers

    def make(self, what: str, keys: Iterable[str], points: Iterable[Wanted]) -> None:
        """Make the runs that the store lacks.

        Args:
            what: the name of the work, for the progress display and for errors.
            keys: the keys of all requested runs.
            points: the same runs in the same order, point by point; iterated only if runs are missing.

        Raises:
            ScenarioError, OSError, KeyboardInterrupt: as for ``run``.
            AlgorithmError: an algorithm in Python raised an error.
            RuntimeError: an executor returned runs that were not requested.
        """
        wanted, lacking = self._store.lacking(keys, self._made if self._fresh else None)
        kept = wanted - len(lacking)
        with self._show(what) as report:
            report(Progress(kept, wanted, kept))
            if lacking:
                self._make(what, _Tasks(points, lacking), lambda done: report(Progress(kept + done, wanted, kept)))

    def _make(self, what: str, tasks: _Tasks, report: Callable[[int], object]) -> None:
        last, made = time.perf_counter(), 0
        with closing(self._executor.run(tasks)) as finished:
            for pieces in finished:
                new = [(keys, done) for task, done in pieces if (keys := self._keys(task, done, tasks.asked))]
                if not new:
                    continue  # A cluster may answer twice.
                # The time since the previous pieces were ready; the sum over all pieces is the elapsed time.
                now = time.perf_counter()
                self._store.take(_rows(new, now - last), self._fresh)
                last = now
                for keys, _ in new:
                    made += len(tasks.asked.intersection(keys))
                    tasks.asked.difference_update(keys)
                    if self._fresh:
                        self._made.update(keys)
                report(made)
        if made < len(tasks.lacking):
            raise RuntimeError(f"{what}: {len(tasks.lacking) - made} runs did not come back")

    def _keys(self, task: Task, done: Done, asked: set[str]) -> list[str]:
        """Return the keys of a piece's runs; none if all of them are in the store.

        Raises:
            RuntimeError: there are other runs among them than those of the task.
        """
        keys = keys_of_runs(done.runs)
        again = set() if asked.issuperset(keys) else set(keys) - asked
        if len(keys) != task.count or (again and not again <= self._store.kept(again)):
            raise RuntimeError(f"{task.name}: it returned runs that were not requested")
        return [] if len(again) == len(keys) else keys


def _rows(pieces: Sequence[tuple[list[str], Done]], elapsed_s: float) -> Iterator[tuple[str, str, Cost]]:
    """The rows for the store, of pieces that were ready together: they share the time in proportion to their own."""
    whole = math.fsum(done.seconds for _, done in pieces)
    for keys, done in pieces:
        share = done.seconds / whole if whole else 1 / len(pieces)
        cost = Cost(*(round(each / len(keys), 9) for each in (done.processor_s, elapsed_s * share)))
        yield from ((key, run, cost) for key, run in zip(keys, done.runs, strict=True))


class _Tasks:
    """The tasks for missing runs; a run is included once."""

    def __init__(self, points: Iterable[Wanted], lacking: array[int]) -> None:
        """List the tasks for some of the runs of these points.

        Args:
            points: all requested runs.
            lacking: the positions of missing runs among them, in order.
        """
        self._points, self.lacking = points, lacking
        self.asked: set[str] = set()
        """The keys of runs whose task was taken, and that are not finished."""

    def __iter__(self) -> Iterator[Task]:
        """Yield the tasks."""
        start = at = 0
        for point in self._points:
            end = bisect_left(self.lacking, start + len(point.keys), at)
            new = [position - start for position in self.lacking[at:end]]
            start, at = start + len(point.keys), end
            keys = list(point.keys) if new else []
            self.asked.update(keys[position] for position in new)
            for first, count in stretches([point.seeds[position] for position in new]):
                yield replace(point.task, first=first, count=count)
