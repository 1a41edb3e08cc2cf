"""Executors of runs: the interface to this machine's cores, to a Dask cluster, and to user-written ones."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, cast

from ackclock.document import refusal
from ackclock.runs import on_dask
from ackclock.runs.local import Local
from ackclock.runs.task import Done, Task

if TYPE_CHECKING:
    from distributed import Client
    from distributed.deploy.cluster import Cluster


class Executor(Protocol):
    """An object that runs tasks."""

    def run(self, tasks: Iterable[Task]) -> Generator[Sequence[tuple[Task, Done]]]:
        """Run tasks, in pieces of any size, and yield each piece with its result, in any order, each exactly once.

        Pieces that are ready together are yielded together: the store keeps them in one transaction, which costs less.
        Pieces that wait for others are lost if the process is killed.

        Raises:
            Exception: an error that a task raised. All running tasks are then stopped, also when the iterator is
                closed.
        """


def executor(
    on: str | AbstractContextManager[Executor] | Client | Cluster | None, threads: int | None
) -> AbstractContextManager[Executor]:
    """Choose the executor.

    Args:
        on: ``None`` for this machine's cores; ``dask:N``, ``dask://HOST:PORT``, a Dask client or cluster; or an
            executor.
        threads: the number of concurrent runs on this machine. Default: one per core.

    Raises:
        ScenarioError: there is no such executor, or it does not take ``threads``.
        ImportError: Dask is needed but not installed.
    """
    if on is None:
        return Local(threads)
    if threads is not None:
        raise refusal("command line", None, "--threads", str(threads), "no --on, which sets the number of workers")

    return on_dask.OnDask(on) if on_dask.named(on) else cast("AbstractContextManager[Executor]", on)
