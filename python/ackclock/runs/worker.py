"""A process that runs tasks for another one: ``python -m ackclock.runs.worker PID``, tasks in, what came of them out.

Algorithms in Python hold Python's lock, so that runs with them need a process for each core. A process of its own, and
not one of ``multiprocessing``, since that would import the caller's script once more.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from typing import BinaryIO

from ackclock.runs.task import Done, Task, run_task


class Worker:
    """The caller's side: starts the process, and ends it."""

    def __init__(self) -> None:
        """Start it.

        Raises:
            OSError: there is no room for a process.
        """
        command = [sys.executable, "-m", "ackclock.runs.worker", str(os.getpid())]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, task: Task) -> Done:
        """Have a task run.

        Raises:
            OSError: the process died.
            Exception: what the task raised there.
        """
        into, out = self._process.stdin, self._process.stdout
        assert into is not None
        assert out is not None
        try:
            pickle.dump(task, into)
            into.flush()
            said = pickle.load(out)
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            raise OSError(f"a process that ran seeds from {task.first} on died ({self._died()})") from error
        if isinstance(said, BaseException):
            raise said
        assert isinstance(said, Done)
        return said

    def kill(self) -> None:
        """End it now."""
        self._process.kill()

    def close(self) -> None:
        """End it, and wait for that."""
        self._process.kill()
        self._process.communicate()

    def _died(self) -> str:
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            return "it does not answer"
        return f"exit code {code}" if code >= 0 else signal.Signals(-code).name


def serve(into: BinaryIO, out: BinaryIO, asked_by: int) -> None:
    """Run tasks until there are no more, or nobody to ask for them.

    Args:
        into: where tasks come from.
        out: where what came of them goes.
        asked_by: the process that asks. It says so itself: it may be dead by the time that this one has begun.
    """

    def look(_: float) -> None:
        if os.getppid() != asked_by:
            # It was killed; the system has given this process another parent.
            os._exit(1)

    while True:
        try:
            task = pickle.load(into)
        except EOFError:
            return
        said: Done | BaseException
        try:
            said = run_task(task, look)
        except Exception as error:
            said = error
        try:
            text = pickle.dumps(said)
        except Exception:
            text = pickle.dumps(RuntimeError(f"{type(said).__name__}: {said}"))
        out.write(text)
        out.flush()


if __name__ == "__main__":
    # Ctrl-C goes to all processes of a terminal; the one that asked decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = sys.stdout.buffer
    # What an algorithm prints goes where errors go.
    sys.stdout = sys.stderr
    serve(sys.stdin.buffer, answers, int(sys.argv[1]))
