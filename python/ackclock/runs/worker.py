"""A process that runs tasks for another: ``python -m ackclock.runs.worker PID`` reads tasks and writes results.

Algorithms in Python hold the GIL, so runs with them need a process per core.
"""

from __future__ import annotations

import pickle
import sys
from typing import BinaryIO

from ackclock.runs.child import Child, DiedError, end_with, pickled, streams
from ackclock.runs.task import Done, Task, run_task


class Worker:
    """The caller's side: starts and ends the process."""

    def __init__(self) -> None:
        """Start the process.

        Raises:
            OSError: the system cannot create a process.
        """
        self._child = Child("ackclock.runs.worker")

    def run(self, task: Task) -> Done:
        """Run a task in the process.

        Raises:
            OSError: the process died.
            Exception: the error that the task raised.
        """
        try:
            self._child.send(task)
            result = self._child.receive()
        except DiedError as error:
            raise OSError(f"a process that ran seeds from {task.first} on died ({error})") from error
        if isinstance(result, BaseException):
            raise result
        assert isinstance(result, Done)
        return result

    def kill(self) -> None:
        """Kill the process immediately."""
        self._child.kill()

    def close(self) -> None:
        """End the process, and wait for it."""
        self._child.close()


def serve(into: BinaryIO, out: BinaryIO) -> None:
    """Run tasks until there are no more.

    Args:
        into: stream of tasks.
        out: stream of results.
    """
    while True:
        try:
            task = pickle.load(into)
        except EOFError:
            return
        result: Done | BaseException
        try:
            result = run_task(task)
        except Exception as error:
            result = error
        out.write(pickled(result))
        out.flush()


if __name__ == "__main__":
    end_with(int(sys.argv[1]))
    serve(*streams())
