"""Runs on the workers of a Dask cluster: a local one, or an existing one."""

# Parts of Dask have no types.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import pickle
import queue
import re
from collections.abc import Generator, Iterable
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import count
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, TypeGuard
from uuid import uuid4

from ackclock.document import refusal
from ackclock.late import distributed
from ackclock.runs.answer import unpacked
from ackclock.runs.connect import ClusterError, connected, one_line, workers_here
from ackclock.runs.cutter import Cutter
from ackclock.runs.groups import KILLED, Group, Groups
from ackclock.runs.remote import packed
from ackclock.runs.task import Done, RevisionError, Task
from ackclock.runs.workers import LOOK_SECONDS, Workers

if TYPE_CHECKING:
    from distributed import Client, Future
    from distributed.deploy.cluster import Cluster

ADDRESS = re.compile(r"(dask|tcp|tls)://[^/\s]+:\d+")
HERE = re.compile(r"dask:([1-9]\d*)")
ALLOWED = "dask:N for N worker processes here, dask://HOST:PORT or tls://HOST:PORT of a scheduler"
SECONDS = 1.0
"""The intended duration of a group."""
GROUPS_PER_THREAD = 4
MOST_RUNS = 200_000
"""Runs in progress beyond which nothing more is sent: the command stores some ten thousand a second, and remembers the
key of each."""
REFUSED = 3
FETCH_SECONDS = 30


Key = tuple[str, int]


class _Sent(NamedTuple):
    group: Group
    future: Future[bytes]
    only: frozenset[str] | None
    """The workers that may get it; ``None`` if all may."""


def named(on: object) -> TypeGuard[str | Client | Cluster]:
    """Whether the argument is for :class:`OnDask`: a text, or a ``distributed.Client`` or cluster."""
    return isinstance(on, str) or any(kind.__module__.startswith("distributed.") for kind in type(on).__mro__)


class OnDask:
    """An executor that uses the workers of a Dask cluster.

    Short tasks are sent in groups of about a second. The tasks of a lost worker are repeated by another one. A worker
    must have the same version of Ackclock and the same minor version of Python as the client.
    """

    def __init__(self, on: str | Client | Cluster) -> None:
        """Choose the cluster; the connection is made later.

        Args:
            on: ``dask:N`` starts N worker processes here; ``dask://HOST:PORT``, ``tcp://…`` or ``tls://…`` is the
                address of a scheduler; a ``distributed.Client`` or a cluster is used and left open. A ``LocalCluster``
                gets replacements for lost workers.

        Raises:
            ScenarioError: the address is invalid.
        """
        if isinstance(on, str) and not (ADDRESS.fullmatch(on) or HERE.fullmatch(on)):
            raise refusal("command line", None, "--on", f'"{on}"', ALLOWED)
        self._on = on
        self._cutter = Cutter(SECONDS, caution=1.0)
        self._numbers = count()
        self._name = f"ackclock-{uuid4().hex}"

    def __enter__(self) -> OnDask:
        """Connect, and check the workers' installations.

        Raises:
            ClusterError: there is no scheduler at the address, or the workers do not start.
            RevisionError: a worker has another version of Ackclock, or none.
            ImportError: Dask is not installed.
        """
        with ExitStack() as stack:
            number = HERE.fullmatch(self._on) if isinstance(self._on, str) else None
            on = stack.enter_context(workers_here(int(number[1]))) if number else self._on
            self._client = stack.enter_context(connected(on))
            self._at = self._on if isinstance(self._on, str) else self._client.scheduler_info(n_workers=0)["address"]
            try:
                self._workers = Workers(self._client, on)
            except OSError as error:
                raise self._lost(error) from None
            self._opened = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the connections opened here, once lost workers of a ``LocalCluster`` are replaced."""
        with self._opened:
            self._workers.settle()

    def run(self, tasks: Iterable[Task]) -> Generator[list[tuple[Task, Done]]]:
        """Make the runs of all tasks.

        Args:
            tasks: the tasks; consumed no faster than they are sent.

        Yields:
            Each task once with its result, in any order: those of a group together.

        Raises:
            ClusterError: the scheduler is lost, or workers die repeatedly over the same task.
            RevisionError: no worker has the right version of Ackclock.
            ScenarioError: a scenario is invalid.
        """
        groups = Groups(self._cutter, tasks)
        sent: dict[Key, _Sent] = {}
        finished: queue.SimpleQueue[Key] = queue.SimpleQueue()
        try:
            while self._fill(groups, sent, finished):
                with suppress(queue.Empty):
                    one = sent.pop(finished.get(timeout=LOOK_SECONDS), None)
                    if one and (taken := self._taken(groups, one)):
                        yield taken
                self._look()
                for key in [k for k, s in sent.items() if self._workers.gone(s.only)]:
                    groups.again([sent[key].group])
                    sent.pop(key).future.cancel()
        finally:
            with suppress(Exception):  # a scheduler that is gone has nothing to cancel
                self._client.cancel([s.future for s in sent.values()])

    def _fill(self, groups: Groups, sent: dict[Key, _Sent], finished: queue.SimpleQueue[Key]) -> bool:
        """Send groups until enough are in progress; return whether any is."""
        runs, most = sum(one.group.runs for one in sent.values()), GROUPS_PER_THREAD * self._workers.threads
        while len(sent) < most and runs < MOST_RUNS and (group := groups.next(not sent)):
            runs += group.runs
            key, only = (self._name, next(self._numbers)), self._workers.only
            call = packed(group.tasks, 2 * SECONDS)
            try:
                future = self._client.submit(pickle.loads, call, key=key, pure=False, workers=only and sorted(only))
            except Exception as error:
                raise self._lost(error) from None
            sent[key] = _Sent(group, future, only)
            future.add_done_callback(lambda done: finished.put(done.key))
        return bool(sent)

    def _taken(self, groups: Groups, sent: _Sent) -> list[tuple[Task, Done]]:
        group = sent.group
        try:
            done = unpacked(sent.future.result(timeout=FETCH_SECONDS), len(group.tasks))
        except TimeoutError:  # the result was lost with its worker: repeat the task
            groups.again([group])
        except distributed.KilledWorker:
            groups.again(self._split(group))
        except (RevisionError, ImportError, AttributeError):
            self._look(anew=True)
            if sent.only is not None or group.refused + 1 == REFUSED:
                raise
            groups.again([replace(group, refused=group.refused + 1)])
        except (CancelledError, OSError) as error:
            raise self._lost(error) from None
        else:
            groups.done(group, done)
            return list(zip(group.tasks, done, strict=False))
        return []

    def _split(self, group: Group) -> list[Group]:
        parts = group.split()
        if not parts:
            task = group.tasks[0]
            last = f" to {task.first + task.count - 1}" if task.count > 1 else ""
            what = " ".join([task.name, *([task.stack] if task.stack else []), *(f"{k}={v}" for k, v in task.set)])
            raise ClusterError(f"{what}: seed {task.first}{last}: its Dask workers died {KILLED} times")
        return parts

    def _look(self, anew: bool = False) -> None:
        try:
            self._workers.look(anew)
        except RevisionError:
            raise
        except Exception as error:
            raise self._lost(error) from None

    def _lost(self, error: BaseException) -> ClusterError:
        return ClusterError(f"{self._at}: the connection to the Dask scheduler is lost ({one_line(error)})")
