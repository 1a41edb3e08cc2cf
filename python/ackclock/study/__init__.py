"""Studies: from a question to an answer with its uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock.progress import Show
    from ackclock.runs.executor import Executor
    from ackclock.study.answer import Answer


def study(
    question: str | PathLike[str] | Mapping[str, Any],
    *,
    store: str | PathLike[str] | None = None,
    on: str | AbstractContextManager[Executor] | None = None,
    threads: int | None = None,
    progress: Show | None = None,
    allow_python: bool = False,
) -> Answer:
    """Find out which of several senders does best on some paths, and how sure that is.

    Every stack runs on every path with the same seeds. Seeds are added on a path until every two stacks are told apart
    there, or shown to differ by less than matters.

    Args:
        question: path of a study (docs/studies.md), the text of one (anything with a line break in it), or what such
            a text says as a dict, in which scenarios may be :class:`ackclock.Scenario`.
        store: folder in which every finished run is kept, so that none is made twice; as for :func:`ackclock.sweep`.
        on: what makes the runs, as for :func:`ackclock.sweep`; by default this machine.
        threads: how many runs at once here; by default one for each core. Results do not depend on it.
        progress: shows how far each look is: ``ackclock.progress.shown`` prints it.
        allow_python: as for :func:`ackclock.sweep`.

    Returns:
        The answer in words, as tables, and as a report.

    Raises:
        ScenarioError: the study, or a scenario that it names, makes no sense.
        OSError: a run could not be kept.
        KeyboardInterrupt: as usual; finished runs are kept, and the same call goes on.
    """
    from ackclock.progress import unshown  # noqa: PLC0415 - start-up time
    from ackclock.slots.permission import allowing  # noqa: PLC0415 - likewise
    from ackclock.study.job import run  # noqa: PLC0415 - likewise
    from ackclock.study.plan import read  # noqa: PLC0415 - likewise

    with allowing(allow_python):
        return run(read(question), store, on, threads, progress or unshown)
