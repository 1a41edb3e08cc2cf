"""The process in which a job is done; ``jobs.py`` starts ``python -m ackclock.runs.job_process PID``."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from signal import SIGTERM, signal
from typing import Any, BinaryIO

from ackclock.runs.child import end_with, pickled, streams
from ackclock.runs.jobs import Finished, Job, RunsWanted
from ackclock.runs.laboratory import Laboratory, Wanted
from ackclock.runs.local import Local
from ackclock.runs.store import Store


class Asking(Laboratory):
    """The process's laboratory: it leaves the runs to the caller, and reads them from the store."""

    def __init__(self, store: Store, ask: Callable[[RunsWanted], None], silent: bool = False) -> None:
        """Leave runs to ``ask``, which returns when they are in the store."""
        super().__init__(store, Local())  # It runs nothing: the caller does.
        self._ask, self._silent = ask, silent

    def silent(self) -> Laboratory:
        """See :meth:`Laboratory.silent`."""
        return Asking(self._store, self._ask, silent=True)

    def make(self, what: str, keys: Iterable[str], points: Iterable[Wanted]) -> None:
        """See :meth:`Laboratory.make`; all runs of the points are made, whatever the keys."""
        self._ask(RunsWanted(what, list(points), self._silent))


def serve(into: BinaryIO, out: BinaryIO) -> None:
    """Do jobs until there are no more, or the caller is gone.

    Args:
        into: stream of jobs, and of replies about runs.
        out: stream of everything that jobs ask for, and of their results.
    """

    def ask(wanted: RunsWanted) -> None:
        try:
            out.write(pickled(wanted))
            out.flush()
            pickle.load(into)
        except (BrokenPipeError, EOFError):
            sys.exit(1)

    while True:
        try:
            job, folder = pickle.load(into)
        except EOFError:
            return
        out.write(pickled(_done(job, folder, ask)))
        out.flush()


def _done(job: Job[Any], folder: Path, ask: Callable[[RunsWanted], None]) -> Finished[Any] | Exception:
    """Do a job; return its result or its error."""
    try:
        with Store(folder) as store:
            return Finished(job(Asking(store, ask)))
    except Exception as error:
        return error


if __name__ == "__main__":
    # Unfinished files are removed on the way out.
    signal(SIGTERM, lambda *_: sys.exit(1))
    end_with(int(sys.argv[1]))
    serve(*streams())
