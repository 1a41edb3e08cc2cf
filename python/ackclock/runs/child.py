"""A process of this Python that exchanges pickled objects with the process that started it.

``multiprocessing`` is not used because it would import the caller's script again.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from contextlib import suppress
from threading import Thread
from typing import BinaryIO

_LOOK_EVERY_S = 0.5


class DiedError(OSError):
    """The process died; the message is its exit code or signal."""


class Child:
    """The caller's side: starts the process, talks to it, and ends it."""

    def __init__(self, module: str) -> None:
        """Start ``python -P -m MODULE PID`` with the caller's process ID.

        Files in the current folder are not imported in place of others (``-P``), as in the installed command. It is in
        a process group of its own, so Ctrl-C at a terminal reaches the caller alone, which decides.

        Raises:
            OSError: the system cannot create a process.
        """
        command = [sys.executable, "-P", "-m", module, str(os.getpid())]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0)

    def send(self, what: object) -> None:
        """Send an object.

        Raises:
            DiedError: the process died.
        """
        into = self._process.stdin
        assert into is not None
        try:
            pickle.dump(what, into)
            into.flush()
        except OSError as error:
            raise DiedError(self._died()) from error

    def receive(self) -> object:
        """Wait for the next object.

        Raises:
            DiedError: the process died.
        """
        out = self._process.stdout
        assert out is not None
        try:
            return pickle.load(out)
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            raise DiedError(self._died()) from error

    def kill(self) -> None:
        """Kill the process immediately."""
        self._process.kill()

    def end(self, patience_s: float) -> None:
        """Ask the process to end, and kill it if it has not ended ``patience_s`` seconds later."""
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience_s)
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


def streams() -> tuple[BinaryIO, BinaryIO]:
    """The process's side: the stream of the caller's objects, and the one for its own.

    What Python code prints goes to standard error from now on. Ctrl-C is ignored, even where there are no process
    groups.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = sys.stdout.buffer
    sys.stdout = sys.stderr
    return sys.stdin.buffer, out


def end_with(caller: int) -> None:
    """End this process soon after the process with this ID, whatever it is doing then.

    The ID is passed explicitly because the caller may die before this process starts.
    """

    def look() -> None:
        while os.getppid() == caller:
            time.sleep(_LOOK_EVERY_S)
        # The caller was killed: the system has given this process another parent.
        os._exit(1)

    Thread(target=look, daemon=True).start()


def pickled(what: object) -> bytes:
    """Pickle an object for the caller, or an error that says that it cannot be pickled."""
    try:
        return pickle.dumps(what)
    except Exception:
        return pickle.dumps(RuntimeError(f"{type(what).__name__}: {what}"))
