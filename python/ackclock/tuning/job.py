"""Carries out a plan: searches, chooses, and holds the choices against the defaults."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from os import PathLike

from ackclock.sweep.job import executor
from ackclock.sweep.local import Executor
from ackclock.sweep.store import Store
from ackclock.tuning.best import CHOICES, hold_out, named
from ackclock.tuning.plan import Plan
from ackclock.tuning.result import Tuning
from ackclock.tuning.runs import Runs
from ackclock.tuning.study import search


def run(
    plan: Plan,
    store: str | PathLike[str] | None,
    on: str | AbstractContextManager[Executor] | None,
    threads: int | None,
    progress: Callable[[float], object] | None,
) -> Tuning:
    """Carry out a plan; arguments and errors are those of :func:`ackclock.tune`."""
    # Choices may be the same trial, and trials refused: then it is done earlier than said.
    every = plan.trials * len(plan.paths) * plan.seeds.count
    every += (
        (len(CHOICES) * (1 + len(plan.parameters)) + 1) * len((*plan.paths, *plan.held_out)) * plan.held_out_seeds.count
    )
    with Store(store) as opened, executor(on, threads) as workers:
        runs = Runs(opened, workers, lambda done: progress(done / every) if progress else None)
        made = search(plan, runs)
        return Tuning(plan, made, hold_out(plan, named(made), runs))
