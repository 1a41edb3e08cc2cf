"""What a worker gets and gives back: some runs of one point, wherever they are made."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ackclock import _native
from ackclock.slots.travel import unpacked


class RevisionError(RuntimeError):
    """A worker's results would be those of another results revision."""


@dataclass(frozen=True)
class Task:
    """Some runs of one scenario with seeds that follow one another; everything in it can be pickled."""

    name: str
    """Under which errors speak of the scenario."""
    text: str
    """The scenario, as TOML."""
    stack: str | None
    """For every flow, instead of the scenario's."""
    set: tuple[tuple[str, str], ...]
    """Parameters of every flow's stack, as ``--set`` takes them."""
    first: int
    """The first seed."""
    count: int
    """How many seeds, counted up from the first."""
    revision: int = _native.results_revision
    """Results revision for which it was made."""
    algorithms: tuple[tuple[str, bytes], ...] = ()
    """Algorithms in Python that the scenario names: source as written there, and the class as cloudpickle has it. See
    ``ackclock.slots.pickled``."""

    def identities(self) -> list[str]:
        """The identity of each of its runs, in the order of the seeds.

        Raises:
            ScenarioError: the scenario makes no sense.
        """
        with unpacked(self.algorithms):
            return _native.identities(self.name, self.text, self.stack, self.set, self.first, self.count)


@dataclass(frozen=True)
class Done:
    """What came of a task."""

    runs: tuple[str, ...]
    """For each seed a JSON object, as in ``runs`` of ``ackclock run --json``."""
    seconds: float
    """How long it took."""
    processor_s: float
    """Its share of the processor time of the process that made it: seconds of all cores."""


class _Meter:
    """Parts the processor time of this process between tasks that run at once.

    Each gets what went by since the one before was ready, so that a single one's means little, and the sum is right.
    What the process does while no task runs is nobody's.
    """

    def __init__(self) -> None:
        self._lock, self._running, self._last = threading.Lock(), 0, 0.0

    def begin(self) -> None:
        """A task begins."""
        with self._lock:
            if self._running == 0:
                self._last = time.process_time()
            self._running += 1

    def end(self) -> float:
        """A task ends; its share, in seconds."""
        with self._lock:
            now = time.process_time()
            share, self._last = now - self._last, now
            self._running -= 1
        return share


_METER = _Meter()


def run_task(task: Task, progress: Callable[[float], object] | None = None) -> Done:
    """Make the runs, on this thread.

    Args:
        task: which.
        progress: called about 20 times a second with the share that is done; what it raises ends the runs.

    Raises:
        RevisionError: this installation has another results revision.
        ScenarioError: the scenario makes no sense.
        AlgorithmError: an algorithm in Python raised an error.
    """
    if task.revision != _native.results_revision:
        raise RevisionError(
            f"ackclock {_native.__version__} here makes results of revision {_native.results_revision}, "
            f"asked for: revision {task.revision}; install the same ackclock on both sides"
        )
    began = time.perf_counter()
    _METER.begin()
    try:
        with unpacked(task.algorithms):
            runs = _native.run_rows(task.name, task.text, task.stack, task.set, task.first, task.count, 1, progress)
    finally:
        processor_s = _METER.end()
    return Done(tuple(runs), time.perf_counter() - began, processor_s)


def run_tasks(tasks: Sequence[Task], seconds: float = math.inf) -> list[Done]:
    """Make the runs of several tasks, one after another, on this thread.

    Args:
        tasks: which; the answers are in their order.
        seconds: once so much time has gone by no further task is begun, and the answer is shorter than ``tasks``.

    Raises:
        RevisionError: this installation has another results revision.
        ScenarioError: a scenario makes no sense.
    """
    ends = time.perf_counter() + seconds
    done = []
    for task in tasks:
        done.append(run_task(task))
        if time.perf_counter() >= ends:
            break
    return done
