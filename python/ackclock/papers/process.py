"""The process in which a paper is judged and drawn; ``apart.py`` starts ``python -m ackclock.papers.process PID``."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterable
from signal import SIGTERM, signal
from typing import BinaryIO

from ackclock.papers import folder, one
from ackclock.papers.apart import Asked, Finished
from ackclock.papers.one import Wish
from ackclock.papers.paper import Extra, Paper
from ackclock.runs.child import end_with, pickled, streams
from ackclock.runs.laboratory import Laboratory, Wanted
from ackclock.runs.local import Local
from ackclock.runs.store import Store


class Asking(Laboratory):
    """The process's laboratory: it leaves the runs to the caller, and reads them from the store."""

    def __init__(self, store: Store, ask: Callable[[Asked], None], silent: bool = False) -> None:
        """Leave runs to ``ask``, which returns when they are in the store."""
        super().__init__(store, Local())
        self._ask, self._silent = ask, silent

    def silent(self) -> Laboratory:
        """See :meth:`Laboratory.silent`."""
        return Asking(self._store, self._ask, silent=True)

    def make(self, what: str, keys: Iterable[str], points: Iterable[Wanted]) -> None:
        """See :meth:`Laboratory.make`; all runs of the points are made, whatever the keys."""
        self._ask(Asked(what, list(points), self._silent))


def serve(into: BinaryIO, out: BinaryIO) -> None:
    """Reproduce papers until there are no more, or the caller is gone.

    Args:
        into: stream of papers, and of replies about runs.
        out: stream of everything that papers ask for, and of their results.
    """

    def ask(asked: Asked) -> None:
        try:
            out.write(pickled(asked))
            out.flush()
            pickle.load(into)
        except (BrokenPipeError, EOFError):
            sys.exit(1)

    while True:
        try:
            paper, wish = pickle.load(into)
        except EOFError:
            return
        out.write(pickled(_said(paper, wish, ask)))
        out.flush()


def _said(paper: Paper | Extra, wish: Wish, ask: Callable[[Asked], None]) -> Finished | Exception:
    """Reproduce a paper; return its result or its error."""
    try:
        with Store(wish.store) as store:
            made = one.reproduced(paper, wish, Asking(store, ask))
        try:
            return Finished(pickle.dumps(made))
        except Exception as error:
            what = f"it returned what cannot leave its process ({type(error).__name__}: {error})"
            return folder.PaperError(f"{paper.code}: {what}, allowed: text, numbers, and classes at the top of a file")
    except Exception as error:
        return error


if __name__ == "__main__":
    # Unfinished files are removed on the way out.
    signal(SIGTERM, lambda *_: sys.exit(1))
    end_with(int(sys.argv[1]))
    serve(*streams())
