"""Runs tasks on this machine's cores."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Generator, Iterable
from typing import Self

from ackclock.runs.cutter import Cutter
from ackclock.runs.task import Done, Task, run_task
from ackclock.runs.worker import Worker

TASK_S = 0.25
"""The intended duration of a piece, and the time for which shorter ones are collected, in seconds."""
_LOOK_EVERY_S = 0.2


_Pieces = list[tuple[Task, Done]]


class _StopError(Exception):
    """Ends a run whose result is no longer wanted."""


class Local:
    """Threads of this process, which simulate without the GIL; processes for algorithms in Python."""

    def __init__(self, threads: int | None = None) -> None:
        """``threads`` is the number of concurrent runs. Default: one for each core that this process may use."""
        self.threads = threads or cores()

    def __enter__(self) -> Self:
        """Return the executor; threads exist only while something runs."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: no threads are left running."""

    def run(self, tasks: Iterable[Task]) -> Generator[_Pieces]:
        """See :class:`~ackclock.runs.executor.Executor`."""
        work = _Work(tasks)
        threads = [threading.Thread(target=work.help, daemon=True) for _ in range(self.threads)]
        for thread in threads:
            thread.start()
        try:
            running = len(threads)
            while running:
                try:
                    # On some platforms Ctrl-C does not interrupt a wait without a timeout.
                    said = work.said.get(timeout=_LOOK_EVERY_S)
                except queue.Empty:
                    continue
                if said is None:
                    running -= 1
                elif isinstance(said, BaseException):
                    raise said
                else:
                    yield said
        finally:
            work.end()
            for thread in threads:
                thread.join()


class _Work:
    """Data shared by the threads of one call."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self.said: queue.SimpleQueue[_Pieces | BaseException | None] = queue.SimpleQueue()
        """Results of pieces; an error; or ``None`` when a thread has ended."""
        self._cutter = Cutter(TASK_S)
        self._pieces = self._cutter.pieces(tasks)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._workers: list[Worker] = []

    def help(self) -> None:
        """Run pieces until there are no more; the body of a thread."""
        worker, ready = None, _Ready(self.said)

        def look(_: float) -> None:
            if self._stop.is_set():
                raise _StopError
            ready.look()

        try:
            while (piece := self._next()) is not None:
                if piece.algorithms:
                    ready.send()  # this thread cannot look before the worker answers
                    worker = worker or self._worker()
                    done = worker.run(piece)
                else:
                    done = run_task(piece, look)
                with self._lock:
                    self._cutter.learn(piece, done)
                ready.add(piece, done)
            ready.send()
        except _StopError:
            pass
        except BaseException as error:
            ready.send()
            self.said.put(error)
        finally:
            if worker is not None:
                worker.close()
            self.said.put(None)

    def end(self) -> None:
        """Cancel the running pieces."""
        self._stop.set()
        with self._lock:
            for worker in self._workers:
                worker.kill()

    def _next(self) -> Task | None:
        with self._lock:
            return None if self._stop.is_set() else next(self._pieces, None)

    def _worker(self) -> Worker:
        with self._lock:
            if self._stop.is_set():
                raise _StopError
            worker = Worker()
            self._workers.append(worker)
            return worker


class _Ready:
    """Finished pieces of one thread, which are sent together after a quarter of a second."""

    def __init__(self, to: queue.SimpleQueue[_Pieces | BaseException | None]) -> None:
        self._to, self._pieces, self._began = to, _Pieces(), 0.0

    def add(self, piece: Task, done: Done) -> None:
        """Keep a piece until it is time to send."""
        if not self._pieces:
            self._began = time.perf_counter() - done.seconds
        self._pieces.append((piece, done))
        self.look()

    def look(self) -> None:
        """Send the pieces if the work on the first of them began long ago."""
        if time.perf_counter() - self._began >= TASK_S:
            self.send()

    def send(self) -> None:
        """Send the pieces, if there are any."""
        if self._pieces:
            self._to.put(self._pieces)
            self._pieces = []


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
