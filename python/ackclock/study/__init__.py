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
    """Find the best of several senders on some paths, and the uncertainty of the result.

    Every stack runs on every path with the same seeds. Seeds are added on a path until every pair of stacks is told
    apart there, or shown to differ by less than the margin that matters.

    Args:
        question: path of a study (docs/studies.md), the text of one (a string with a line break), or its content as a
            dict, in which scenarios may be :class:`ackclock.Scenario`.
        store: folder that keeps every finished run, so that none is repeated; as for :func:`ackclock.sweep`.
        on: the executor, as for :func:`ackclock.sweep`. Default: this machine.
        threads: the number of concurrent runs here. Default: one per core. Results do not depend on it.
        progress: shows the progress of each look: ``ackclock.progress.shown`` prints it.
        allow_python: as for :func:`ackclock.sweep`.

    Returns:
        The answer in words, as tables, and as a report.

    Raises:
        ScenarioError: the study, or a scenario that it names, is invalid.
        OSError: a run could not be stored.
        KeyboardInterrupt: as usual; finished runs are kept, and the same call continues.
    """
    from ackclock.study.job import read_and_run  # noqa: PLC0415 - loaded when it is called

    return read_and_run(question, store, on, threads, progress, allow_python)
