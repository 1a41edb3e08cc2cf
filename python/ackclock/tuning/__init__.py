"""Searching for better parameters: more goodput and fewer needless retransmissions over a set of paths."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock.progress import Tell
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
    progress: Tell | None = None,
    allow_python: bool = False,
) -> Tuning:
    """Search a stack's parameters for more goodput and fewer needless retransmissions over a set of paths.

    Args:
        plan: path of a plan (docs/tuning.md), the text of one (anything with a line break in it), or what such a text
            says as a dict, in which scenarios may be :class:`ackclock.Scenario`.
        trials: how many settings are tried, the defaults among them, instead of the plan's number.
        seed: of the search, instead of the plan's. With the same one the same settings are tried.
        store: folder in which every finished run is kept, so that none is made twice; as for :func:`ackclock.sweep`.
        on: what makes the runs, as for :func:`ackclock.sweep`; by default this machine.
        threads: how many runs at once here; by default one for each core. Results do not depend on it.
        progress: gets an ``ackclock.progress.Told`` after every task; its ``runs`` is the most that it can take.
        allow_python: as for :func:`ackclock.sweep`.

    Returns:
        Every trial, the front, the choices, and what these are worth on held-out seeds and paths.

    Raises:
        ScenarioError: the plan, or a scenario that it names, makes no sense.
        OSError: a run could not be kept.
        ModuleNotFoundError: Optuna is not installed.
        KeyboardInterrupt: as usual; finished runs are kept, and the same call goes on.
    """
    from ackclock.slots.permission import allowing  # noqa: PLC0415 - start-up time
    from ackclock.tuning.job import run  # noqa: PLC0415 - likewise
    from ackclock.tuning.plan import read  # noqa: PLC0415 - likewise

    with allowing(allow_python):
        return run(read(plan, trials=trials, seed=seed), store, on, threads, progress)
