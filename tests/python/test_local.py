"""Runs on this machine's cores: what is passed on together, and when."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

import ackclock as ak
from ackclock.runs.local import TASK_S, Local
from ackclock.runs.task import Done, RevisionError, Task
from ackclock.sweep.points import Points
from conftest import SHORT


def tasks(points: int, seconds: int = 5) -> Iterator[Task]:
    """A task of one short run for each of some points."""
    losses = {"from": 0.001, "to": 0.002, "count": points}
    scenario = SHORT.replace('"5 s"', f'"{seconds} s"')
    return (point.task for point in Points(ak.Plan(scenario, grid={"link[0].elements[0].p": losses})))


def test_short_runs_of_different_points_are_passed_on_together_and_each_once() -> None:
    found = list(Local(2).run(tasks(200)))
    assert len(found) <= 100
    assert len({task.text for pieces in found for task, _ in pieces}) == 200
    assert sum(task.count for pieces in found for task, _ in pieces) == 200


def test_a_short_run_does_not_wait_for_a_long_one() -> None:
    short, long = next(tasks(2)), next(tasks(2, 10_000_000))
    began = time.perf_counter()
    running = Local(1).run([short, long])
    ((piece, done),) = next(running)
    running.close()
    assert (piece, len(done.runs)) == (short, 1)
    assert time.perf_counter() - began < TASK_S + 5


def test_what_is_finished_before_an_error_is_passed_on() -> None:
    good = next(tasks(2))
    found: list[Sequence[tuple[Task, Done]]] = []
    with pytest.raises(RevisionError):
        found.extend(Local(1).run([good, replace(good, revision=good.revision + 1)]))
    assert [[task for task, _ in pieces] for pieces in found] == [[good]]
