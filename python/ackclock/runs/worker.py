"""A process that runs tasks for another: ``python -m ackclock.runs.worker PID`` reads tasks and writes results.

Algorithms in Python hold the GIL, so runs with them need a process per core. ``multiprocessing`` is not used because it
would import the caller's script again.
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
    """The caller's side: starts and ends the process."""

    def __init__(self) -> None:
        """Start the process.

        Raises:
            OSError: the system cannot create a process.
        """
        command = [sys.executable, "-m", "ackclock.runs.worker", str(os.getpid())]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, task: Task) -> Done:
        """Run a task in the process.

        Raises:
            OSError: the process died.
            Exception: the error that the task raised.
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
        """Kill the process immediately."""
        self._process.kill()

    def close(self) -> None:
        """End the process, and wait for it."""
        self._process.kill()
        self._process.communicate()

    def _died(self) -> str:
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            return "it does not respond"
        return f"exit code {code}" if code >= 0 else signal.Signals(-code).name


def serve(into: BinaryIO, out: BinaryIO, asked_by: int) -> None:
    """Run tasks until there are no more, or the caller is gone.

    Args:
        into: stream of tasks.
        out: stream of results.
        asked_by: the caller's process ID. It is passed explicitly because the caller may die before this process
            starts.
    """

    def look(_: float) -> None:
        if os.getppid() != asked_by:
            # The caller was killed: the system has given this process another parent.
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
    # Ctrl-C reaches all processes of a terminal; the caller decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = sys.stdout.buffer
    # Output that an algorithm prints goes to standard error.
    sys.stdout = sys.stderr
    serve(sys.stdin.buffer, answers, int(sys.argv[1]))
