"""The workers of a Dask cluster, and whether they have the right version of Ackclock."""

# Parts of Dask have no types.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import pickle
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from ackclock.late import distributed
from ackclock.runs.remote import call, installed, parsed, versions
from ackclock.runs.task import RevisionError

if TYPE_CHECKING:
    from distributed import Client

LOOK_SECONDS = 1.0
WORRY_SECONDS = 30.0
SETTLE_SECONDS = 15.0


class Workers:
    """The workers of a cluster, checked about once a second."""

    def __init__(self, client: Client, cluster: object = None) -> None:
        """Check all present workers.

        Args:
            client: client of the cluster.
            cluster: the cluster; if it is a ``LocalCluster``, permanently lost workers are replaced.

        Raises:
            RevisionError: a worker has another version of Ackclock, or none.
            OSError: the scheduler does not reply.
        """
        self._client = client
        self._here = cluster if isinstance(cluster, distributed.LocalCluster) else None
        self._fit: dict[str, int] = {}
        self._unfit: dict[str, str] = {}
        self._seen = self._looked = time.monotonic()
        self._worried = False
        self._ask()
        for trouble in self._unfit.values():
            raise RevisionError(trouble)

    @property
    def threads(self) -> int:
        """The number of concurrent runs that they can make, at least one."""
        return max(1, sum(self._fit.values()))

    @property
    def only(self) -> frozenset[str] | None:
        """Addresses of the workers that may be used; ``None`` if all may."""
        return frozenset(self._fit) if self._unfit else None

    def gone(self, chosen: frozenset[str] | None) -> bool:
        """Whether none of the chosen workers is left."""
        return chosen is not None and chosen.isdisjoint(self._fit)

    def look(self, anew: bool = False) -> None:
        """Update the list of workers, unless it is less than a second old.

        A worker that joins later with another version of Ackclock gets no tasks, and standard error reports it.
        Standard error also reports when there has been no worker for half a minute.

        Args:
            anew: update immediately, and check known workers again.

        Raises:
            RevisionError: only workers with another version are left.
            OSError: the scheduler does not reply.
        """
        now = time.monotonic()
        if not anew and now < self._looked + LOOK_SECONDS:
            return
        self._looked = now
        known = set(self._unfit)
        if anew:
            self._fit, self._unfit = {}, {}
        self._ask()
        if self._unfit and not self._fit:
            raise RevisionError(next(iter(self._unfit.values())))
        for worker in self._unfit.keys() - known:
            print(f"ackclock: {self._unfit[worker]}; it is given no runs", file=sys.stderr)
        if self._here is not None and len(self._fit) < len(self._here.worker_spec):
            self._here.scale(len(self._here.worker_spec))
        if self._fit:
            self._seen = now
        elif not self._worried and now >= self._seen + WORRY_SECONDS:
            self._worried = True
            print(
                f"ackclock: no Dask worker has been available for {WORRY_SECONDS:.0f} s; waiting for one",
                file=sys.stderr,
            )

    def settle(self) -> None:
        """Wait until the lost workers of a ``LocalCluster`` are replaced, but at most 15 s.

        Dask may fail to close such a cluster while a worker starts: its nanny may try to end a process that has not
        started yet.
        """
        end = time.monotonic() + SETTLE_SECONDS
        with suppress(Exception):  # a scheduler that is gone replaces none
            while self._here is not None and len(self._client.nthreads()) < len(self._here.worker_spec):
                if time.monotonic() > end:
                    return
                time.sleep(0.05)

    def _ask(self) -> None:
        threads: dict[str, int] = self._client.nthreads()
        self._fit = {w: n for w, n in threads.items() if w in self._fit}
        self._unfit = {w: trouble for w, trouble in self._unfit.items() if w in threads}
        new = [w for w in threads if w not in self._fit and w not in self._unfit]
        answers = self._client.run(pickle.loads, call(versions), workers=new, on_error="return") if new else {}
        for worker, answer in answers.items():
            if parsed(answer) == installed():
                self._fit[worker] = threads[worker]
            elif not isinstance(answer, OSError):  # left by a worker that disconnected at this moment
                self._unfit[worker] = f"Dask worker {worker}: found {_named(answer)}, asked for: {installed()}"


def _named(answer: object) -> str:
    if isinstance(answer, ModuleNotFoundError):
        return f"no ackclock ({answer})"
    return str(parsed(answer) or f"{type(answer).__name__} ({answer})")
