"""The arena: a fixed set of paths on which detectors compete under the same response."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock.arena.board import Board
    from ackclock.progress import Show
    from ackclock.runs.executor import Executor
    from ackclock.runs.laboratory import Laboratory

SEEDS = 5
"""Runs of each stack on each path."""
FACTORIAL_SEEDS = 2
"""Runs of each combination of the factorial on each path."""


def arena(
    stacks: Sequence[str | tuple[str, dict[str, Any]]] = (),
    *,
    half: str = "design",
    paths: Sequence[str] | None = None,
    field: bool = True,
    seeds: int = SEEDS,
    store: str | PathLike[str] | None = None,
    on: str | AbstractContextManager[Executor] | None = None,
    threads: int | None = None,
    progress: Show | None = None,
    lab: Laboratory | None = None,
    allow_python: bool = False,
) -> Board:
    """Let stacks compete on the paths of the arena.

    Args:
        stacks: stacks beside the field, as in a study: the text that ``--stack`` takes, or a pair of a name and
            parameters. A parameter ``name`` gives an entry its name.
        half: ``"design"`` for work on an algorithm, ``"judgement"`` for the verdict on a finished one. The halves have
            different paths and different seeds.
        paths: the names of the paths. Default: all of the half. On paths whose names begin with ``others-`` each entry
            shares the path with other stacks.
        field: whether the detectors of the field take part: all of them have the response of the stack ``late``.
        seeds: the number of runs of each stack on each path, at least 2.
        store: folder that keeps every finished run, as for :func:`ackclock.study.study`.
        on: the executor, as for :func:`ackclock.sweep`. Default: this machine.
        threads: the number of concurrent runs here. Default: one per core.
        progress: shows the progress: ``ackclock.progress.shown`` prints it.
        lab: the laboratory that makes the runs; then ``store``, ``on``, ``threads`` and ``progress`` are unused.
        allow_python: as for :func:`ackclock.sweep`.

    Returns:
        The leaderboard.

    Raises:
        ScenarioError: a stack, a path or a number is invalid.
        OSError: a run could not be stored.
    """
    from ackclock.arena.job import read_and_run  # noqa: PLC0415 - loaded when it is called

    chosen = (stacks, half, paths, field, seeds)
    return read_and_run(chosen, (store, on, threads, progress), lab, allow_python)
