"""Many runs: plans of them, where they are kept, and who makes them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import Client
    from distributed.deploy.cluster import Cluster

    from ackclock.progress import Tell
    from ackclock.runs.executor import Executor
    from ackclock.sweep.outcome import Results, Sweep
    from ackclock.sweep.plan import Plan


def sweep(
    plan: str | PathLike[str] | Plan,
    store: str | PathLike[str] | None = None,
    on: str | AbstractContextManager[Executor] | Client | Cluster | None = None,
    threads: int | None = None,
    progress: Tell | None = None,
    allow_python: bool = False,
) -> Sweep:
    """Run what of a plan is not finished yet, and make its table.

    Every run is kept as soon as the task that it is part of is finished, and never run again: after an interruption,
    whatever it was, the same call goes on. The table is the same, byte for byte, however it came about.

    Args:
        plan: an ``ackclock.Plan``, the path of a plan's file, or the text of one (anything with a line break in it).
        store: folder of finished runs; by default what the variable ``ACKCLOCK_STORE`` says, or ``ackclock-results``.
        on: where to run: nothing for this machine's cores, ``dask://host:port`` for a Dask cluster, ``dask:N`` for one
            of N processes here, a ``distributed.Client`` or cluster such as ``LocalCluster``, or an executor.
        threads: how many runs at once on this machine; by default one for each core.
        progress: gets an ``ackclock.progress.Told`` at the beginning, and after every task.
        allow_python: let Python run that the plan or its scenario names by its file, here and on workers: only what you
            trust. Classes that are given as such need no permission.

    Returns:
        The table, means, points and manifest: see :class:`ackclock.Sweep`.

    Raises:
        ScenarioError: the plan, or a point of it, makes no sense; nothing was run then.
        OSError: the store cannot be read or written, or a cluster is lost; what is finished is kept.
        RuntimeError: a worker has another Ackclock.
        KeyboardInterrupt: as usual; what is finished is kept.
    """
    from ackclock.runs.executor import executor  # noqa: PLC0415 - start-up time
    from ackclock.runs.store import Store  # noqa: PLC0415 - likewise
    from ackclock.slots.permission import allowing  # noqa: PLC0415 - likewise
    from ackclock.sweep.job import Job, as_plan  # noqa: PLC0415 - likewise

    with allowing(allow_python):
        job = Job(as_plan(plan), progress)
        with Store(store) as opened, executor(on, threads) as runs_on:
            return job.run(opened, runs_on)


def results(store: str | PathLike[str] | None = None) -> Results:
    """The sweeps of a store: ``ak.results()["thresholds"].summary``.

    Args:
        store: folder of finished runs; by default what the variable ``ACKCLOCK_STORE`` says, or ``ackclock-results``.

    Raises:
        OSError: there is no store, or it cannot be read.
    """
    from ackclock.sweep.outcome import Results  # noqa: PLC0415 - start-up time

    return Results(store)
