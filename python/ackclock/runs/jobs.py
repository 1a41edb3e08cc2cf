"""Jobs in processes of their own: while the runs of one are made, others evaluate theirs.

A process (``job_process.py``) gets jobs, and writes what they ask for: runs, and at the end a result. The caller makes
the runs, for one job at a time, since they use all cores. It shows the progress, and stores the runs where the process
reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Generic, TypeVar

from ackclock.runs.child import Child, DiedError
from ackclock.runs.laboratory import Laboratory, Wanted
from ackclock.runs.local import cores
from ackclock.runs.store import Store

PATIENCE_S = 5.0
"""The time that a process has to remove unfinished files."""
_LOOK_EVERY_S = 0.2
Made = TypeVar("Made")
Job = Callable[[Laboratory], Made]
"""Work that needs a laboratory. To go to a process, it and its result must be picklable."""


@dataclass(frozen=True)
class RunsWanted:
    """A job needs runs; the reply is ``None`` when they are stored."""

    what: str
    """Their purpose, for the progress display."""
    points: Sequence[Wanted]
    silent: bool
    """Whether no progress is shown."""


@dataclass(frozen=True)
class Finished(Generic[Made]):
    """A job is finished."""

    made: Made


Message = RunsWanted | Finished[Any] | Exception
"""What a process writes."""


def do_jobs(
    jobs: Mapping[str, Job[Made]], lab: Callable[[str], Laboratory], store: Store, threads: int | None = None
) -> list[Made]:
    """Do jobs, several at a time; return their results in the same order.

    There are as many processes as ``threads``. If one is enough, the jobs are done one after another in this process.

    Args:
        jobs: the jobs, by name.
        lab: returns the laboratory that makes the runs of the job with this name.
        store: the laboratories' store.
        threads: the largest number of jobs at a time. Default: one for each core that this process may use.

    Raises:
        OSError: a process could not be started, or died.
        KeyboardInterrupt: as usual; finished runs are kept, and the processes have ended.
        Exception: the first error of a job or of its runs; the processes have ended.
    """
    count = min(len(jobs), threads or cores())
    if count <= 1:
        return [job(lab(name)) for name, job in jobs.items()]
    waiting = list(jobs)[::-1]
    made: dict[str, Made] = {}
    messages: SimpleQueue[tuple[_Process[Made], Message]] = SimpleQueue()
    with ExitStack() as stack:
        for _ in range(count):
            process = _Process(jobs, lab, store, messages, waiting.pop())
            stack.callback(process.close)
        while len(made) < len(jobs):
            try:
                # On some platforms Ctrl-C does not interrupt a wait without a timeout.
                process, message = messages.get(timeout=_LOOK_EVERY_S)
            except Empty:
                continue
            if isinstance(message, RunsWanted):
                process.answer(message)
            elif isinstance(message, Finished):
                made[process.name] = message.made
                if waiting:
                    process.begin(waiting.pop())
            else:
                raise message
    return [made[name] for name in jobs]


class _Process(Generic[Made]):
    """The caller's side: a process, and the job that it is doing."""

    def __init__(
        self,
        jobs: Mapping[str, Job[Made]],
        lab: Callable[[str], Laboratory],
        store: Store,
        messages: SimpleQueue[tuple[_Process[Made], Message]],
        name: str,
    ) -> None:
        """Start the process with the job of this name; what it writes is put into ``messages``, with the process."""
        self._jobs, self._lab_of, self._folder, self._messages = jobs, lab, store.folder, messages
        self._child = Child("ackclock.runs.job_process")
        self.begin(name)
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()

    def begin(self, name: str) -> None:
        """Give the process a job."""
        self.name = name
        lab = self._lab_of(name)
        self._labs = {False: lab, True: lab.silent()}
        self._send((self._jobs[name], self._folder))

    def answer(self, wanted: RunsWanted) -> None:
        """Make the runs that the job needs."""
        points = wanted.points
        self._labs[wanted.silent].make(wanted.what, (key for point in points for key in point.keys), points)
        self._send(None)

    def close(self) -> None:
        """End the process, and wait for it."""
        self._child.end(PATIENCE_S)
        self._listener.join()
        self._child.close()

    def _send(self, what: object) -> None:
        try:
            self._child.send(what)
        except DiedError as error:
            raise self._lost(error) from error

    def _listen(self) -> None:
        """Pass on what the process writes; the body of a thread."""
        while True:
            try:
                message = self._child.receive()
                assert isinstance(message, RunsWanted | Finished | Exception)
            except DiedError as error:
                return self._messages.put((self, self._lost(error)))
            except Exception as error:
                return self._messages.put((self, error))
            self._messages.put((self, message))

    def _lost(self, error: DiedError) -> OSError:
        return OSError(f"{self.name}: its process died ({error})")
