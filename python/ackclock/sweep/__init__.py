"""Many runs: plans, their storage, and executors."""

from __future__ import annotations

from contextlib import AbstractContextManager
from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import Client
    from distributed.deploy.cluster import Cluster

    from ackclock.progress import Report
    from ackclock.runs.executor import Executor
    from ackclock.sweep.outcome import Results, Sweep
    from ackclock.sweep.plan import Plan


def sweep(
    plan: str | PathLike[str] | Plan,
    store: str | PathLike[str] | None = None,
    on: str | AbstractContextManager[Executor] | Client | Cluster | None = None,
    threads: int | None = None,
    progress: Report | None = None,
    allow_python: bool = False,
) -> Sweep:
    """Run the unfinished part of a plan, and make its table.

    Every run is stored as soon as its task is finished, and is never repeated. After any interruption, the same call
    continues. The table is identical, byte for byte, however it was produced.

    Args:
        plan: an ``ackclock.Plan``, the path of a plan's file, or the text of one (a string with a line break).
        store: folder of finished runs. Default: the variable ``ACKCLOCK_STORE``, or ``ackclock-results``.
        on: where to run: ``None`` for this machine's cores, ``dask://host:port`` for a Dask cluster, ``dask:N`` for a
            local one of N processes, a ``distributed.Client``, a cluster such as ``LocalCluster``, or an executor.
        threads: the number of concurrent runs on this machine. Default: one per core.
        progress: called with an ``ackclock.progress.Progress`` at the start and after every task.
        allow_python: run Python files that the plan or its scenario names, here and on workers. Allow only files you
            trust. Classes passed as objects need no permission.

    Returns:
        The table, means, points and manifest: see :class:`ackclock.Sweep`.

    Raises:
        ScenarioError: the plan, or a point of it, is invalid; in that case nothing was run.
        OSError: the store cannot be read or written, or a cluster is lost; finished runs are kept.
        RuntimeError: a worker has another version of Ackclock.
        KeyboardInterrupt: as usual; finished runs are kept.
    """
    from ackclock.sweep.job import run  # noqa: PLC0415 - loaded when it is called

    return run(plan, store, on, threads, progress, allow_python)


def results(store: str | PathLike[str] | None = None) -> Results:
    """The sweeps of a store: ``ak.results()["thresholds"].summary``.

    Args:
        store: folder of finished runs. Default: the variable ``ACKCLOCK_STORE``, or ``ackclock-results``.

    Raises:
        OSError: there is no store, or it cannot be read.
    """
    from ackclock.sweep.outcome import Results  # noqa: PLC0415 - loaded when it is called

    return Results(store)
