"""Runs the arena: the study of all paths, and the entries beside other stacks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from os import PathLike
from typing import Any

from ackclock.arena import others
from ackclock.arena.board import Board
from ackclock.arena.entries import question
from ackclock.document.permission import allowing
from ackclock.progress import Show, unshown
from ackclock.runs.executor import Executor, executor
from ackclock.runs.laboratory import Laboratory
from ackclock.runs.store import Store
from ackclock.study import job
from ackclock.study.plan import Question


def read_and_run(
    chosen: tuple[Sequence[str | tuple[str, dict[str, Any]]], str, Sequence[str] | None, bool, int],
    where: tuple[str | PathLike[str] | None, str | AbstractContextManager[Executor] | None, int | None, Show | None],
    lab: Laboratory | None,
    allow_python: bool,
) -> Board:
    """Run the arena; arguments and errors are those of :func:`ackclock.arena.arena`."""
    _, half, paths, *_ = chosen
    store, on, threads, show = where
    with allowing(allow_python):
        asked = question(*chosen)
        if lab is not None:
            return run_in(lab, asked, half, paths)
        return run(asked, half, paths, store, on, threads, show or unshown)


def run(
    asked: Question,
    half: str,
    chosen: Sequence[str] | None,
    store: str | PathLike[str] | None,
    on: str | AbstractContextManager[Executor] | None,
    threads: int | None,
    show: Show,
) -> Board:
    """Run the arena; arguments and errors are those of :func:`ackclock.arena.arena`."""
    with Store(store) as opened, executor(on, threads) as workers:
        return run_in(Laboratory(opened, workers, show), asked, half, chosen)


def run_in(lab: Laboratory, asked: Question, half: str, chosen: Sequence[str] | None) -> Board:
    """Run the arena in a laboratory that is open."""
    return Board(half, job.run_in(lab, asked), others.measure(lab, asked, half, chosen))
