"""The laboratory: makes the runs that its store lacks, and stores each as soon as it is finished."""

from __future__ import annotations

import json
import math
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass, replace
from itertools import compress, islice
from typing import Any

from ackclock.progress import Progress, Report, Show, unshown
from ackclock.runs.executor import Executor
from ackclock.runs.store import Cost, Store
from ackclock.runs.store.keys import keys_of, keys_of_runs, stretches
from ackclock.runs.task import Done, Task

_AT_ONCE = 500
"""Keys that the store is asked for at a time."""
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
        missing = _Missing(keys, self._kept)
        kept = missing.wanted - missing.left
        with self._show(what) as report:
            report(Progress(kept, missing.wanted, kept))
            if missing.left:
                self._make(what, points, missing, report)

    def _kept(self, keys: Iterable[str]) -> set[str]:
        """Return the keys of these whose runs need not be made."""
        return self._store.kept(self._made.intersection(keys) if self._fresh else keys)

    def _make(self, what: str, points: Iterable[Wanted], missing: _Missing, report: Report) -> None:
        kept, last = missing.wanted - missing.left, time.perf_counter()
        asked: set[str] = set()
        with closing(self._executor.run(_tasks(points, missing, asked))) as finished:
            for pieces in finished:
                new = [(keys, done) for task, done in pieces if (keys := self._keys(task, done, asked))]
                if not new:
                    continue  # A cluster may answer twice.
                # The time since the previous pieces were ready; the sum over all pieces is the elapsed time.
                now = time.perf_counter()
                self._store.take(_rows(new, now - last), self._fresh)
                last = now
                for keys, _ in new:
                    asked.difference_update(keys)
                    if self._fresh:
                        self._made.update(keys)
                report(Progress(missing.wanted - missing.left - len(asked), missing.wanted, kept))
        if asked or not missing.all_had_their_turn:
            raise RuntimeError(f"{what}: {missing.left + len(asked)} runs did not come back")

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


class _Missing:
    """The requested runs that the store lacks. It has a byte for each run: their keys would not fit into memory."""

    def __init__(self, keys: Iterable[str], kept: Callable[[Iterable[str]], set[str]]) -> None:
        """Ask for each run whether it is stored.

        Args:
            keys: the keys of all requested runs, of which some may be the same.
            kept: returns the keys of stored runs among some keys.
        """
        self._has, heads = bytearray(), array("Q")
        rest = iter(keys)
        while some := list(islice(rest, _AT_ONCE)):
            stored = kept(some)
            self._has.extend(key in stored for key in some)
            heads.extend(map(_head, some))
        self._twice: set[int] = set()
        """Beginnings of the keys that may occur more than once."""
        self._begun: set[str] = set()
        """Those of these keys that had their turn."""
        self.wanted = len(set(heads))
        """The number of different runs."""
        self.left = self._has.count(False)
        """The number of missing runs that had no turn yet."""
        if self.wanted < len(heads):
            self._twice = {head for head, times in Counter(heads).items() if times > 1}
            self.left = len({head for head, has in zip(heads, self._has, strict=True) if not has})
        self._at = 0

    @property
    def all_had_their_turn(self) -> bool:
        """Whether no run is left. ``left`` would be wrong if two different keys began alike."""
        return self._at == len(self._has)

    def take(self, keys: Sequence[str]) -> list[bool]:
        """Whether each of the next keys is that of a missing run that had no turn yet; it has now."""
        has = self._has[self._at : self._at + len(keys)]
        self._at += len(keys)
        new = [not stored and self._is_first(key) for key, stored in zip(keys, has, strict=True)]
        self.left -= sum(new)
        return new

    def _is_first(self, key: str) -> bool:
        if not self._twice or _head(key) not in self._twice:
            return True
        before = len(self._begun)
        self._begun.add(key)
        return len(self._begun) > before


def _head(key: str) -> int:
    """The first 64 bits of a key."""
    return int(key[:16], 16)


def _tasks(points: Iterable[Wanted], missing: _Missing, asked: set[str]) -> Iterator[Task]:
    """The tasks for missing runs, whose keys are added to ``asked``: a run is included once."""
    for point in points:
        keys = list(point.keys)
        new = missing.take(keys)
        asked.update(compress(keys, new))
        for first, count in stretches(list(compress(point.seeds, new))):
            yield replace(point.task, first=first, count=count)
