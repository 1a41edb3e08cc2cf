"""Runs on the workers of a Dask cluster: one on this machine, or one that is already there."""

# Parts of Dask have no types.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import logging
import pickle
import queue
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import count
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from ackclock.errors import ScenarioError
from ackclock.sweep.groups import KILLED, SECONDS, Group, Grouping
from ackclock.sweep.remote import packed, unpacked
from ackclock.sweep.task import Done, RevisionError, Task
from ackclock.sweep.workers import LOOK_SECONDS, Workers

if TYPE_CHECKING:
    from distributed import Client, Future
    from distributed.deploy.cluster import Cluster

ADDRESS = re.compile(r"(dask|tcp|tls)://[^/\s]+:\d+")
HERE = re.compile(r"dask:([1-9]\d*)")
ALLOWED = "dask:N for N worker processes here, dask://HOST:PORT or tls://HOST:PORT of a scheduler"
GROUPS_PER_THREAD = 4
CONNECT_SECONDS = 10
FETCH_SECONDS = 30
CLOSE_SECONDS = 2
# Ctrl-C on a terminal reaches the workers as well, but it is for the client to end them.
IGNORE_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"

KEPT = "what is finished is kept, the same command goes on"

Key = tuple[str, int]


class ClusterError(OSError):
    """The cluster cannot make the runs; the message is one line for people."""


class _Sent(NamedTuple):
    group: Group
    future: Future[bytes]
    only: frozenset[str] | None
    """The workers that may have it, if not all may."""


def named(on: object) -> bool:
    """Whether this names a Dask cluster: an address, ``dask:N``, or a ``Client`` or cluster object."""
    if isinstance(on, str):
        return on.startswith(("dask:", "tcp:", "tls:"))
    return any(kind.__module__.startswith("distributed.") for kind in type(on).__mro__)


class OnDask:
    """An executor whose workers are those of a Dask cluster.

    Short tasks are sent in groups of about a second. What a lost worker had is made by another one. A worker must have
    the same Ackclock and the same minor version of Python as this side.
    """

    def __init__(self, on: str | Client | Cluster) -> None:
        """Choose the cluster; nothing is connected yet.

        Args:
            on: ``dask:N`` starts N worker processes here; ``dask://HOST:PORT``, ``tcp://…`` or ``tls://…`` is the
                address of a scheduler; a ``distributed.Client`` or a cluster such as ``LocalCluster`` is used and stays
                open afterwards.

        Raises:
            ScenarioError: there is no such address.
        """
        if isinstance(on, str) and not (ADDRESS.fullmatch(on) or HERE.fullmatch(on)):
            message = f'command line: key `--on`: found "{on}", allowed: {ALLOWED}'
            raise ScenarioError(message, "command line", None, "--on", f'"{on}"', ALLOWED, None)
        self._on = on
        self._grouping = Grouping()
        self._numbers = count()
        self._name = f"ackclock-{uuid4().hex}"

    def __enter__(self) -> OnDask:
        """Connect, and see what the workers have installed.

        Raises:
            ClusterError: nobody answers there, or the workers do not start.
            RevisionError: a worker has another Ackclock, or none.
            ImportError: Dask is not installed.
        """
        with ExitStack() as stack:
            stack.enter_context(_quiet())
            self._client = _connected(self._on, stack)
            try:
                self._workers = Workers(self._client)
            except OSError as error:
                raise self._lost(error) from None
            self._opened = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close what was opened."""
        self._opened.close()

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Done]]:
        """Make the runs of all tasks.

        Args:
            tasks: taken one by one, no farther ahead than what is sent.

        Yields:
            Each task once with what came of it, in any order.

        Raises:
            ClusterError: the scheduler is lost, or workers die again and again over the same task.
            RevisionError: no worker has the right Ackclock.
            ScenarioError: a scenario makes no sense.
        """
        self._grouping.start(tasks)
        sent: dict[Key, _Sent] = {}
        finished: queue.SimpleQueue[Key] = queue.SimpleQueue()
        try:
            while self._fill(sent, finished):
                with suppress(queue.Empty):
                    if one := sent.pop(finished.get(timeout=LOOK_SECONDS), None):
                        yield from self._taken(one)
                self._look()
                for key in [k for k, s in sent.items() if self._workers.gone(s.only)]:
                    self._grouping.again([sent[key].group])
                    sent.pop(key).future.cancel()
        finally:
            with suppress(Exception):  # a scheduler that is gone has nothing to cancel
                self._client.cancel([s.future for s in sent.values()])

    def _fill(self, sent: dict[Key, _Sent], finished: queue.SimpleQueue[Key]) -> bool:
        """Send groups until there are enough; whether any is on its way."""
        while len(sent) < GROUPS_PER_THREAD * self._workers.threads and (group := self._grouping.next()):
            key, only = (self._name, next(self._numbers)), self._workers.only
            call = packed(group.tasks, 2 * SECONDS)
            try:
                future = self._client.submit(pickle.loads, call, key=key, pure=False, workers=only and sorted(only))
            except Exception as error:
                raise self._lost(error) from None
            sent[key] = _Sent(group, future, only)
            future.add_done_callback(lambda done: finished.put(done.key))
        return bool(sent)

    def _taken(self, sent: _Sent) -> Iterator[tuple[Task, Done]]:
        from distributed import KilledWorker  # noqa: PLC0415 - start-up time

        group = sent.group
        try:
            done = unpacked(sent.future.result(timeout=FETCH_SECONDS))
        except TimeoutError:  # it went with its worker: make it again
            self._grouping.again([group])
        except KilledWorker:
            self._grouping.again(self._split(group))
        except (RevisionError, ImportError, AttributeError):
            self._look(at_once=True)
            if sent.only is not None or group.killed + 1 == KILLED:
                raise
            self._grouping.again([replace(group, killed=group.killed + 1)])
        except (CancelledError, OSError) as error:
            raise self._lost(error) from None
        else:
            self._grouping.measured(group, done)
            yield from zip(group.tasks, done, strict=False)

    def _split(self, group: Group) -> list[Group]:
        parts = group.split()
        if not parts:
            task = group.tasks[0]
            last = f" to {task.first + task.count - 1}" if task.count > 1 else ""
            what = " ".join([task.name, *([task.stack] if task.stack else []), *(f"{k}={v}" for k, v in task.set)])
            raise ClusterError(f"{what}: seed {task.first}{last}: its Dask workers died, {KILLED} times over; {KEPT}")
        return parts

    def _look(self, at_once: bool = False) -> None:
        try:
            self._workers.look(at_once)
        except RevisionError:
            raise
        except Exception as error:
            raise self._lost(error) from None

    def _lost(self, error: BaseException) -> ClusterError:
        at = self._on if isinstance(self._on, str) else self._client.scheduler_info(n_workers=0)["address"]
        return ClusterError(f"{at}: the Dask scheduler is lost ({_line(error)}); {KEPT}")


def _connected(on: str | Client | Cluster, stack: ExitStack) -> Client:
    try:
        from distributed import Client  # noqa: PLC0415 - start-up time
    except ImportError as error:
        raise ImportError(f"{error}: pip install 'ackclock[dask]'") from None
    if isinstance(on, Client):
        if on.asynchronous:
            raise ClusterError("found an asynchronous Dask client, allowed: one made without asynchronous=True")
        return on
    at: str | Cluster = on
    if isinstance(on, str):
        here = HERE.fullmatch(on)
        at = stack.enter_context(_workers_here(int(here[1]))) if here else on.replace("dask://", "tcp://")
    try:
        client = Client(at, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(f"{on}: no Dask scheduler answers there ({_line(error)})") from None
    stack.callback(client.close, CLOSE_SECONDS)
    return client


@contextmanager
def _workers_here(number: int) -> Iterator[Cluster]:
    """Worker processes on this machine, with a thread each."""
    from distributed import LocalCluster  # noqa: PLC0415 - start-up time

    try:
        cluster = LocalCluster(
            n_workers=number,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
            preload=[IGNORE_CTRL_C],
        )
    except RuntimeError as error:
        raise ClusterError(
            f"dask:{number}: the workers did not start ({_line(error)}); a script needs `if __name__ == '__main__':`"
        ) from None
    try:
        yield cluster
    finally:
        cluster.close(timeout=CLOSE_SECONDS)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep off standard error what Dask says of lost workers, since it is dealt with here."""
    import distributed  # noqa: F401, PLC0415 - it sets its loggers up; start-up time

    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client", "tornado.application")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
