"""Runs a study: adds seeds on each path until the stacks are told apart there, or no seeds are left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from typing import Any

from ackclock.document import refusal
from ackclock.document.permission import allowing
from ackclock.progress import Show, unshown
from ackclock.runs.executor import Executor, executor
from ackclock.runs.laboratory import Laboratory, Runs
from ackclock.runs.network import NetworkPath, with_measures
from ackclock.runs.network import Seeds as Run
from ackclock.runs.store import Store
from ackclock.study.answer import Answer
from ackclock.study.found import OnPath
from ackclock.study.measure import Measure
from ackclock.study.paired import ERROR, compare, settled
from ackclock.study.plan import Question, read

ByStack = Mapping[str, Runs]


def read_and_run(
    question: str | PathLike[str] | Mapping[str, Any],
    store: str | PathLike[str] | None,
    on: str | AbstractContextManager[Executor] | None,
    threads: int | None,
    show: Show | None,
    allow_python: bool,
) -> Answer:
    """Read and run a study; arguments and errors are those of :func:`ackclock.study`."""
    with allowing(allow_python):
        return run(read(question), store, on, threads, show or unshown)


def run(
    asked: Question,
    store: str | PathLike[str] | None,
    on: str | AbstractContextManager[Executor] | None,
    threads: int | None,
    show: Show,
) -> Answer:
    """Run a study; arguments and errors are those of :func:`ackclock.study`."""
    with Store(store) as opened, executor(on, threads) as workers:
        return run_in(Laboratory(opened, workers, show), asked)


def run_in(lab: Laboratory, asked: Question) -> Answer:
    """Run a study in a laboratory that is open."""
    level = 1 - ERROR / (asked.comparisons * len(asked.seeds.looks))
    made: dict[str, ByStack] = {}
    going = list(asked.paths)
    for count in asked.seeds.looks:
        made |= _runs(lab, asked, going, count)
        going = [path for path in going if not _settled(asked, made[path.name], level)]
        if not going:
            break
    _check(asked, made)
    return Answer(asked, level, tuple(OnPath.of(asked, path.name, made[path.name], level) for path in asked.paths))


def _runs(lab: Laboratory, asked: Question, paths: Sequence[NetworkPath], count: int) -> dict[str, ByStack]:
    """The runs of all stacks on some paths."""
    seeds = Run(asked.seeds.first, count)
    measured = any(one.detailed for one in (asked.measure, *asked.beside))
    points = [with_measures(path) if measured else path for path in paths]
    tasks = [point.task(stack, (), seeds) for point in points for stack in asked.stacks.values()]
    found = iter(lab.run(f"study {asked.name}: {count} seeds", tasks))
    return {path.name: {stack: next(found) for stack in asked.stacks} for path in paths}


def _settled(asked: Question, runs: ByStack, level: float) -> bool:
    values = {stack: [asked.measure.of(run) for run in each] for stack, each in runs.items()}
    return settled(values, compare(values, asked.measure, asked.within, level)[1])


def _check(asked: Question, made: Mapping[str, ByStack]) -> None:
    """Refuse a measure that a path never yields."""
    for path in asked.paths:
        if all(asked.measure.of(run) is None for runs in made[path.name].values() for run in runs):
            raise refusal(asked.file, None, "measure", _never(asked.measure, path.name), "a measure that its runs have")


def _never(measure: Measure, path: str) -> str:
    return f'"{measure.key}", which no run on the path {path} has'
