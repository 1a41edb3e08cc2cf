"""Runs a plan: searches, chooses, and compares the choices with the defaults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from os import PathLike

from ackclock.progress import Progress, Report
from ackclock.runs.executor import Executor, executor
from ackclock.runs.laboratory import Laboratory, Runs
from ackclock.runs.store import Store
from ackclock.runs.task import Task
from ackclock.tuning.best import CHOICES, hold_out, named
from ackclock.tuning.plan import Plan
from ackclock.tuning.result import Tuning
from ackclock.tuning.study import search


def run(
    plan: Plan,
    store: str | PathLike[str] | None,
    on: str | AbstractContextManager[Executor] | None,
    threads: int | None,
    progress: Report | None,
) -> Tuning:
    """Run a plan; arguments and errors are those of :func:`ackclock.tune`."""
    with Store(store) as opened, executor(on, threads) as workers:
        lab = Laboratory(opened, workers, _Batches(_most(plan), progress or (lambda _: None)).show)

        def made(tasks: Sequence[Task]) -> list[Runs]:
            return lab.run(plan.name, tasks)

        trials = search(plan, made)
        return Tuning(plan, trials, hold_out(plan, named(trials), made))


def _most(plan: Plan) -> int:
    """The largest possible number of runs; it is smaller if choices are the same trial, or trials are refused."""
    searched = plan.trials * len(plan.paths) * plan.seeds.count
    variants = len(CHOICES) * (1 + len(plan.parameters)) + 1
    return searched + variants * len((*plan.paths, *plan.held_out)) * plan.held_out_seeds.count


class _Batches:
    """Adds up the progress of consecutive batches."""

    def __init__(self, runs: int, report: Report) -> None:
        self._runs, self._report = runs, report
        self._before = Progress(0, runs, 0)

    @contextmanager
    def show(self, _: str) -> Iterator[Report]:
        """Start the next batch."""
        before = self._before

        def report(progress: Progress) -> None:
            self._before = Progress(before.done + progress.done, self._runs, before.kept + progress.kept)
            self._report(self._before)

        yield report
