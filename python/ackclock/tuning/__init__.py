"""Searching for better parameters: more goodput and fewer needless retransmissions over a set of paths."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from os import PathLike
from typing import TYPE_CHECKING, Any

from ackclock.document.permission import allowing
from ackclock.tuning.job import run
from ackclock.tuning.plan import read

if TYPE_CHECKING:
    from ackclock.progress import Report
    from ackclock.runs.executor import Executor
    from ackclock.tuning.result import Tuning


def tune(
    plan: str | PathLike[str] | Mapping[str, Any],
    *,
    trials: int | None = None,
    seed: int | None = None,
    store: str | PathLike[str] | None = None,
    on: str | AbstractContextManager[Executor] | None = None,
    threads: int | None = None,
    progress: Report | None = None,
    allow_python: bool = False,
) -> Tuning:
    """Search a stack's parameters for more goodput and fewer needless retransmissions over a set of paths.

    Args:
        plan: path of a plan (docs/tuning.md), the text of one (a string with a line break), or its content as a dict,
            in which scenarios may be :class:`ackclock.Scenario`.
        trials: the number of settings to try, including the defaults, instead of the plan's number.
        seed: seed of the search, instead of the plan's. The same seed gives the same settings.
        store: folder that keeps every finished run, so that none is repeated; as for :func:`ackclock.sweep`.
        on: the executor, as for :func:`ackclock.sweep`. Default: this machine.
        threads: the number of concurrent runs here. Default: one per core. Results do not depend on it.
        progress: called with an ``ackclock.progress.Progress`` after every task; its ``runs`` is an upper bound.
        allow_python: as for :func:`ackclock.sweep`.

    Returns:
        Every trial, the front, the choices, and the value of the choices on held-out seeds and paths.

    Raises:
        ScenarioError: the plan, or a scenario that it names, is invalid.
        OSError: a run could not be stored.
        ModuleNotFoundError: Optuna is not installed.
        KeyboardInterrupt: as usual; finished runs are kept, and the same call continues.
    """
    with allowing(allow_python):
        return run(read(plan, trials=trials, seed=seed), store, on, threads, progress)
