"""Papers and pages, several at a time: while the runs of one are made, others are judged and drawn."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial

from ackclock.papers import folder, one
from ackclock.papers.one import Wish
from ackclock.papers.paper import Extra, Paper, Reproduced, Shown
from ackclock.progress import Show
from ackclock.runs.jobs import do_jobs
from ackclock.runs.laboratory import Laboratory
from ackclock.runs.store import Store

Made = Reproduced | Shown


def reproduced(wish: Wish, lab: Callable[[str], Laboratory], store: Store, show: Show) -> list[Made]:
    """Reproduce all papers and pages; return the results in their order.

    Under all readings they are reproduced one after another.

    Args:
        wish: the papers, and how to run them.
        lab: returns the laboratory of a paper, by key.
        store: the laboratories' store.
        show: shows the progress of readings.

    Raises:
        OSError, ValueError, ImportError, RuntimeError, KeyboardInterrupt: as for
            :func:`~ackclock.papers.reproduce.reproduce`.
    """
    if wish.readings:
        return [one.reproduced(each, wish, lab(each.key), show) for each in wish.what]
    jobs = {each.key: partial(_packed, each, wish) for each in wish.what}
    return [
        _unpacked(each, made) for each, made in zip(wish.what, do_jobs(jobs, lab, store, wish.threads), strict=True)
    ]


def _packed(what: Paper | Extra, wish: Wish, lab: Laboratory) -> bytes:
    """Reproduce a paper or page; return the result, pickled: its classes may be those of the paper's code.

    Raises:
        PaperError: it cannot be pickled.
    """
    made = one.reproduced(what, wish, lab)
    try:
        return pickle.dumps(made)
    except Exception as error:
        found = f"it returned what cannot leave its process ({type(error).__name__}: {error})"
        allowed = "text, numbers, and classes at the top of a file"
        raise folder.PaperError(f"{what.code}: {found}, allowed: {allowed}") from error


def _unpacked(what: Paper | Extra, made: bytes) -> Made:
    try:
        read = pickle.loads(made)
    except ModuleNotFoundError:
        folder.load(what)
        read = pickle.loads(made)
    assert isinstance(read, Reproduced | Shown)
    return read
