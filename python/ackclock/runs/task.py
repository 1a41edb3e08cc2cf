"""The input and the result of a worker: some runs of one point, wherever they are made."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ackclock import _native
from ackclock.errors import LiveError
from ackclock.late import late
from ackclock.slots.travel import unpacked

if TYPE_CHECKING:
    from ackclock import kernel_stacks
else:
    (kernel_stacks,) = late("ackclock.kernel_stacks")


class RevisionError(RuntimeError):
    """A worker's results would have another results revision."""


@dataclass(frozen=True)
class Task:
    """Runs of one scenario with consecutive seeds; everything in it can be pickled."""

    name: str
    """The name that error messages use for the scenario."""
    text: str
    """The scenario, as TOML."""
    stack: str | None
    """The stack for every flow, instead of the scenario's."""
    set: tuple[tuple[str, str], ...]
    """Parameters of every flow's stack, in the form that ``--set`` takes."""
    first: int
    """The first seed."""
    count: int
    """The number of seeds, counted up from the first."""
    revision: int = _native.results_revision
    """The results revision for which the task was made."""
    algorithms: tuple[tuple[str, bytes], ...] = ()
    """Algorithms in Python that the scenario names: the source as written, and the class pickled by cloudpickle. See
    ``ackclock.slots.pickled``."""

    def identities(self) -> list[str]:
        """Return the identity of each run, in the order of the seeds.

        Raises:
            ScenarioError: the scenario is invalid.
            LiveError: there is no such kernel.
        """
        if (kernel := _kernel(self)) is not None:
            return kernel_stacks.identities(kernel, self.name, self.text, self.first, self.count)
        with unpacked(self.algorithms):
            return _native.identities(self.name, self.text, self.stack, self.set, self.first, self.count)


@dataclass(frozen=True)
class Done:
    """The result of a task."""

    runs: tuple[str, ...]
    """A JSON object for each seed, as in ``runs`` of ``ackclock run --json``."""
    seconds: float
    """Elapsed time, in seconds."""
    processor_s: float
    """The task's share of the processor time of its process, in seconds over all cores."""


class _Meter:
    """Divides the processor time of this process among concurrent tasks.

    Each task gets the time since the previous task finished. A single value means little, but the sum is exact. Time
    while no task runs is not counted.
    """

    def __init__(self) -> None:
        self._lock, self._running, self._last = threading.Lock(), 0, 0.0

    def begin(self) -> None:
        """Record the start of a task."""
        with self._lock:
            if self._running == 0:
                self._last = time.process_time()
            self._running += 1

    def end(self) -> float:
        """Record the end of a task; return its share, in seconds."""
        with self._lock:
            now = time.process_time()
            share, self._last = now - self._last, now
            self._running -= 1
        return share


_METER = _Meter()


def run_task(task: Task, progress: Callable[[float], object] | None = None) -> Done:
    """Make the runs on this thread.

    Args:
        task: the task.
        progress: called about 20 times a second with the share that is done; an exception in it ends the runs.

    Raises:
        RevisionError: this installation has another results revision.
        ScenarioError: the scenario is invalid.
        AlgorithmError: an algorithm in Python raised an error.
        LiveError: a kernel did not run.
    """
    if task.revision != _native.results_revision:
        raise RevisionError(
            f"ackclock {_native.__version__} here makes results of revision {_native.results_revision}, "
            f"asked for: revision {task.revision}; install the same ackclock on both sides"
        )
    began = time.perf_counter()
    _METER.begin()
    try:
        if (kernel := _kernel(task)) is not None:
            tell = progress or (lambda _: None)
            runs = kernel_stacks.rows(kernel, task.name, task.text, task.first, task.count, tell)
        else:
            with unpacked(task.algorithms):
                runs = _native.run_rows(task.name, task.text, task.stack, task.set, task.first, task.count, 1, progress)
    finally:
        processor_s = _METER.end()
    return Done(tuple(runs), time.perf_counter() - began, processor_s)


def _kernel(task: Task) -> kernel_stacks.KernelStack | None:
    """The kernel that is a task's stack, if one is.

    Raises:
        LiveError: there is no such kernel, or parameters of a stack are set.
    """
    if not kernel_stacks.is_kernel(task.stack):
        return None
    if task.set:
        message = f"{task.name}: found `{task.set[0][0]}` for the stack {task.stack}, allowed: sysctl.KEY in its name"
        raise LiveError(message, 2)
    return kernel_stacks.parsed(str(task.stack))


def run_tasks(tasks: Sequence[Task], seconds: float = math.inf) -> list[Done]:
    """Make the runs of several tasks, one after another, on this thread.

    Args:
        tasks: the tasks; the results have the same order.
        seconds: after this time no further task is started, and the result is shorter than ``tasks``.

    Raises:
        RevisionError: this installation has another results revision.
        ScenarioError: a scenario is invalid.
    """
    ends = time.perf_counter() + seconds
    done = []
    for task in tasks:
        done.append(run_task(task))
        if time.perf_counter() >= ends:
            break
    return done
