"""Who makes runs: the seam to this machine's cores, to a Dask cluster, and to what others write."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, cast

from ackclock.document import refusal
from ackclock.runs.local import Local
from ackclock.runs.task import Done, Task

if TYPE_CHECKING:
    from distributed import Client
    from distributed.deploy.cluster import Cluster


class Executor(Protocol):
    """Whatever runs tasks."""

    def run(self, tasks: Iterable[Task]) -> Generator[tuple[Task, Done]]:
        """Run tasks, cut as it likes, and give each piece with what came of it, in any order, each exactly once.

        Raises:
            Exception: what a task raised. Then, and when the iterator is closed, all that still runs is stopped.
        """


def executor(
    on: str | AbstractContextManager[Executor] | Client | Cluster | None, threads: int | None
) -> AbstractContextManager[Executor]:
    """Who runs.

    Args:
        on: nothing for this machine's cores; ``dask:N``, ``dask://HOST:PORT``, a client or a cluster of Dask; or an
            executor.
        threads: how many runs at once on this machine; by default one for each core.

    Raises:
        ScenarioError: there is nobody of that name, or not with ``threads``.
        ImportError: it needs Dask, which is not installed.
    """
    if on is None:
        return Local(threads)
    if threads is not None:
        raise refusal("command line", None, "--threads", str(threads), "without --on, which says how many there are")
    from ackclock.runs import on_dask  # noqa: PLC0415 - not every installation has Dask

    return on_dask.OnDask(on) if on_dask.named(on) else cast("AbstractContextManager[Executor]", on)
