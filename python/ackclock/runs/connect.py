"""Connects to a Dask cluster, or starts one on this machine."""

# Parts of Dask have no types.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING

from ackclock.late import distributed

if TYPE_CHECKING:
    from distributed import Client, LocalCluster
    from distributed.deploy.cluster import Cluster

CONNECT_SECONDS = 10
CLOSE_SECONDS = 15


class ClusterError(OSError):
    """The cluster cannot make the runs; the message is one line for people."""


@contextmanager
def connected(on: str | Client | Cluster) -> Iterator[Client]:
    """A client of a cluster. A client created here is closed at the end.

    Args:
        on: a scheduler's address, a client, or a cluster.

    Raises:
        ClusterError: there is no scheduler at the address.
        ImportError: Dask is not installed.
    """
    with quiet():
        if isinstance(on, distributed.Client):
            if on.asynchronous:
                raise ClusterError("found an asynchronous Dask client, allowed: one made without asynchronous=True")
            yield on
            return
        at = on.replace("dask://", "tcp://") if isinstance(on, str) else on
        if isinstance(at, str) and at.startswith("tls://"):
            _check_certificates(at)
        try:
            client = distributed.Client(at, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ClusterError(f"{on}: no Dask scheduler replies there ({one_line(error)})") from None
        try:
            yield client
        finally:
            with suppress(TimeoutError):
                client.close(CLOSE_SECONDS)


def _check_certificates(at: str) -> None:
    """Check the certificates first, because Dask would report a problem only after it has started to connect.

    Raises:
        ClusterError: Dask's configuration names no certificates, or they cannot be read.
    """
    try:
        certified = distributed.Security().get_connection_args("client").get("ssl_context") is not None
    except (OSError, ValueError, TypeError) as error:
        why = one_line(error)
        raise ClusterError(f"{at}: the certificates of Dask's configuration cannot be used ({why})") from None
    if not certified:
        allowed = "certificates in Dask's configuration: distributed.comm.tls.ca-file and distributed.comm.tls.client"
        raise ClusterError(f"{at}: found no certificates, allowed: {allowed}")


@contextmanager
def workers_here(number: int) -> Iterator[LocalCluster]:
    """A cluster of worker processes on this machine, with one thread each.

    Raises:
        ClusterError: they do not start.
        ImportError: Dask is not installed.
    """
    with quiet():
        try:
            with _deaf_to_ctrl_c():
                cluster = distributed.LocalCluster(
                    n_workers=number,
                    threads_per_worker=1,
                    processes=True,
                    scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
                    silence_logs=logging.CRITICAL,
                )
        except RuntimeError as error:
            guard = "a script needs `if __name__ == '__main__':`"
            raise ClusterError(f"dask:{number}: the workers did not start ({one_line(error)}); {guard}") from None
        try:
            yield cluster
        finally:
            with suppress(TimeoutError):
                cluster.close(timeout=CLOSE_SECONDS)


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress Dask's messages about lost workers and connections on standard error; this package handles them.

    Raises:
        ImportError: Dask is not installed.
    """
    try:
        import_module("distributed")  # configures its loggers
    except ImportError as error:
        raise ImportError(f"{error}: pip install 'ackclock[dask]'", name=error.name) from None
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client", "tornado.application")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Delay Ctrl-C for this thread, and block it permanently for threads and processes started inside.

    On a terminal the signal reaches all processes, but the client is to end its workers.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return

    resource_tracker.ensure_running()  # starting it later would unblock Ctrl-C
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def one_line(error: BaseException) -> str:
    """The error's message, or its type if it has none."""
    return " ".join(str(error).split()) or type(error).__name__
