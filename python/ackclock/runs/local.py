"""Runs tasks on this machine's cores."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Generator, Iterable, Sequence
from typing import Self

from ackclock.runs.cutter import Cutter
from ackclock.runs.task import Done, Task, run_task
from ackclock.runs.worker import Worker

TASK_S = 0.25
"""The intended duration of a piece, and the longest time for which shorter ones are collected, in seconds."""
_SHARE = 0.1
"""Pieces are collected for this share of the time since the beginning, so a kill loses little of the work so far."""
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

    def run(self, tasks: Iterable[Task]) -> Generator[Sequence[tuple[Task, Done]]]:
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
                    result = work.results.get(timeout=_LOOK_EVERY_S)
                except queue.Empty:
                    continue
                if result is None:
                    running -= 1
                elif isinstance(result, BaseException):
                    raise result
                else:
                    yield result
        finally:
            work.end()
            for thread in threads:
                thread.join()


class _Work:
    """Data shared by the threads of one call."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self.results: queue.SimpleQueue[_Pieces | BaseException | None] = queue.SimpleQueue()
        """Results of pieces; an error; or ``None`` when a thread has ended."""
        self._cutter = Cutter(TASK_S)
        self._pieces = self._cutter.pieces(tasks)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._workers: list[Worker] = []
        self._start = time.perf_counter()
        self._ready, self._began = _Pieces(), 0.0
        """Pieces that are not sent yet, and when the work on the first of them began."""

    def help(self) -> None:
        """Run pieces until there are no more; the body of a thread."""
        worker = None
        try:
            while (piece := self._next()) is not None:
                if piece.algorithms:
                    self._send()  # This thread cannot look before the worker answers.
                    worker = worker or self._worker()
                    done = worker.run(piece)
                else:
                    done = run_task(piece, self._look)
                self._keep(piece, done)
            self._send()
        except _StopError:
            pass
        except BaseException as error:
            self._send()
            self.results.put(error)
        finally:
            if worker is not None:
                worker.close()
            self.results.put(None)

    def end(self) -> None:
        """Cancel the running pieces."""
        self._stop.set()
        with self._lock:
            for worker in self._workers:
                worker.kill()

    def _next(self) -> Task | None:
        with self._lock:
            return None if self._stop.is_set() else next(self._pieces, None)

    def _keep(self, piece: Task, done: Done) -> None:
        """Keep a result until it is time to send."""
        with self._lock:
            self._cutter.learn(piece, done)
            if not self._ready:
                self._began = time.perf_counter() - done.seconds
            self._ready.append((piece, done))
        self._send(TASK_S)

    def _send(self, after: float = 0.0) -> None:
        """Send what is ready together, if the work on it began at least ``after`` seconds ago; early on, sooner."""
        with self._lock:
            now = time.perf_counter()
            if self._ready and now - self._began >= min(after, _SHARE * (now - self._start)):
                self.results.put(self._ready)
                self._ready = []

    def _look(self, _: float) -> None:
        if self._stop.is_set():
            raise _StopError
        self._send(TASK_S)

    def _worker(self) -> Worker:
        with self._lock:
            if self._stop.is_set():
                raise _StopError
            worker = Worker()
            self._workers.append(worker)
            return worker


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
