"""Papers in processes of their own: while the runs of one are made, others are judged and drawn.

A process (``process.py``) reads papers, and writes what they ask for: runs, and at the end a result. The caller makes
the runs, for one paper at a time, since they use all cores. It shows the progress, and stores the runs where the
process reads them.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread

from ackclock.papers import folder, one
from ackclock.papers.one import Wish
from ackclock.papers.paper import Extra, Paper, Reproduced, Shown
from ackclock.progress import Show
from ackclock.runs.child import Child, DiedError
from ackclock.runs.laboratory import Laboratory, Wanted
from ackclock.runs.local import cores

Made = Reproduced | Shown
PATIENCE_S = 5.0
"""The time that a process has to remove unfinished files."""
_LOOK_EVERY_S = 0.2


@dataclass(frozen=True)
class Asked:
    """A paper needs runs; the reply is ``None`` when they are stored."""

    what: str
    """Their purpose, for the progress display."""
    points: Sequence[Wanted]
    silent: bool
    """Whether no progress is shown."""


@dataclass(frozen=True)
class Finished:
    """A paper is finished."""

    made: bytes
    """The result, pickled: its classes may be those of the paper's code, which must then be loaded first."""


Said = Asked | Finished | Exception
"""What a process writes."""


def reproduced(wish: Wish, lab: Callable[[str], Laboratory], show: Show) -> list[Made]:
    """Reproduce all papers and pages, several at a time; return the results in their order.

    There are as many processes as cores, or as ``wish`` has threads. If one is enough, or under all readings, papers
    are reproduced one after another in this process.

    Args:
        wish: the papers, and how to run them.
        lab: returns the laboratory of a paper, by key.
        show: shows the progress of readings.

    Raises:
        OSError, ValueError, ImportError, RuntimeError, KeyboardInterrupt: as for
            :func:`~ackclock.papers.reproduce.reproduce`; the processes have ended then.
    """
    count = 1 if wish.readings else min(len(wish.what), wish.threads or cores())
    if count == 1:
        return [one.reproduced(each, wish, lab(each.key), show) for each in wish.what]
    waiting = list(enumerate(wish.what))[::-1]
    made: dict[int, Made] = {}
    said: SimpleQueue[tuple[_Process, Said]] = SimpleQueue()
    with ExitStack() as stack:
        for _ in range(count):
            process = _Process(wish, lab, said, *waiting.pop())
            stack.callback(process.close)
        while len(made) < len(wish.what):
            try:
                # On some platforms Ctrl-C does not interrupt a wait without a timeout.
                process, heard = said.get(timeout=_LOOK_EVERY_S)
            except Empty:
                continue
            if isinstance(heard, Asked):
                process.answer(heard)
            elif isinstance(heard, Finished):
                made[process.number] = process.result(heard)
                if waiting:
                    process.begin(*waiting.pop())
            else:
                raise heard
    return [made[number] for number in range(len(wish.what))]


class _Process:
    """The caller's side: a process, and the paper that it is reproducing."""

    def __init__(
        self,
        wish: Wish,
        lab: Callable[[str], Laboratory],
        said: SimpleQueue[tuple[_Process, Said]],
        number: int,
        paper: Paper | Extra,
    ) -> None:
        """Start the process and give it a paper; what it writes is put into ``said``, with the process."""
        self._wish, self._lab_of, self._said = wish, lab, said
        self._child = Child("ackclock.papers.process")
        self.begin(number, paper)
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()

    def begin(self, number: int, paper: Paper | Extra) -> None:
        """Give the process a paper."""
        self.number, self._paper = number, paper
        lab = self._lab_of(paper.key)
        self._labs = {False: lab, True: lab.silent()}
        self._tell((paper, self._wish))

    def answer(self, asked: Asked) -> None:
        """Make the runs that the paper needs."""
        points = asked.points
        self._labs[asked.silent].make(asked.what, (key for point in points for key in point.keys), points)
        self._tell(None)

    def result(self, finished: Finished) -> Made:
        """Return the paper's result."""
        try:
            made = pickle.loads(finished.made)
        except ModuleNotFoundError:
            folder.load(self._paper)
            made = pickle.loads(finished.made)
        assert isinstance(made, Reproduced | Shown)
        return made

    def close(self) -> None:
        """End the process, and wait for it."""
        self._child.end(PATIENCE_S)
        self._listener.join()
        self._child.close()

    def _tell(self, what: object) -> None:
        try:
            self._child.send(what)
        except DiedError as error:
            raise self._lost(error) from error

    def _listen(self) -> None:
        """Pass on what the process writes; the body of a thread."""
        while True:
            try:
                heard = self._child.receive()
                assert isinstance(heard, Said)
            except DiedError as error:
                return self._said.put((self, self._lost(error)))
            except Exception as error:
                return self._said.put((self, error))
            self._said.put((self, heard))

    def _lost(self, error: DiedError) -> OSError:
        return OSError(f"{self._paper.key}: the process that reproduced it died ({error})")
