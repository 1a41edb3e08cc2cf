"""The report on the detector Late: the bounds that it was to meet, judged by the arena's judgement half."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import ackclock
from ackclock import files
from ackclock.papers.paper import Section, Table, Work

from .bounds import Bound, bounds, weak, whole

OWN: dict[str, float] = {"detect.least_rtts": 0.5}
"""What the field's entry `late` sets; the stack `late` has the rest."""
VARIANTS: dict[str, dict[str, float | str | bool]] = {
    "late": {**OWN},
    "without a floor": {},
    "floor 0.25": {"detect.least_rtts": 0.25},
    "margin 1.25": {**OWN, "detect.margin": 1.25},
    "keep 0.99": {**OWN, "detect.keep": 0.99},
    "cap 2 round trips": {**OWN, "detect.cap_srtts": 2.0},
    "no undo": {**OWN, "undo": "nothing"},
    "timestamps": {**OWN, "options.timestamps": True},
    "cut from the flight": {**OWN, "congestion.cut_from": "flight"},
}
"""Late with one part changed, by name."""
WIDEST = 1000.0
"""In percent."""
MOST_WHOLE_SEEDS = 2
"""Runs of every named stack on each path: there are many stacks."""


@dataclass(frozen=True)
class Boards:
    """The leaderboards behind the report."""

    judgement: ackclock.Board
    """The detectors under the same response."""
    stacks: ackclock.Board
    """All named stacks with their own responses, on the judgement half."""
    variants: ackclock.Board
    """Late and its variants, on the design half."""


def boards(work: Work) -> Boards:
    """Run what the report needs.

    Raises:
        OSError: a result could not be stored.
        ScenarioError: a path is invalid.
    """
    arena = partial(ackclock.arena, seeds=work.effort.seeds, lab=work.lab)
    names = [str(stack["name"]) for stack in ackclock.stacks()]
    own: tuple[str, dict[str, Any]] = ("late", {**OWN, "name": "late"})
    every = [own, *((name, {}) for name in names if name != "late")]
    variants = [("late", {**changed, "name": name}) for name, changed in VARIANTS.items()]
    return Boards(
        arena(half="judgement"),
        arena(every, half="judgement", field=False, seeds=min(work.effort.seeds, MOST_WHOLE_SEEDS)),
        arena(variants, half="design", field=False),
    )


def sections(work: Work) -> list[Section]:
    """The sections of the page.

    Raises:
        OSError, ScenarioError: see ``boards``; or a file could not be written.
    """
    made = boards(work)
    found = [*bounds(made.judgement), *whole(made.stacks)]
    files.write_csv(work.out / "bounds.csv", [vars(one) for one in found])
    for name, board in (("judgement", made.judgement), ("stacks", made.stacks), ("variants", made.variants)):
        files.write(work.out / f"{name}.csv", board.table.write_csv().encode())
    met = sum(one.met for one in found)
    return [
        Section("Bounds", [f"{met} of {len(found)} bounds are met."], tables=[_bounds(found)]),
        Section("Detectors under the same response, judgement half", tables=[_scores(made.judgement)]),
        Section("Where a bound is missed", tables=[weak(made.judgement)]),
        Section("All named stacks, judgement half", tables=[_scores(made.stacks)]),
        Section("What each part brings, design half", tables=[_scores(made.variants)]),
    ]


def _bounds(found: list[Bound]) -> Table:
    rows = [[one.bound, one.measured, "met" if one.met else "missed"] for one in found]
    return Table("The goal's bounds", ["bound", "measured", "verdict"], rows)


def _scores(board: ackclock.Board) -> Table:
    head = ["stack", "mean, %", "least, %", "on", "≥ 99 %", "needless, %", "fast", "in recovery", "probe", "timeout"]
    rows = [_score(board, at) for at in range(len(board.scores))]
    title = f"{len(board.answer.paths)} paths, {board.answer.question.seeds.at_most} seeds"
    return Table(title, [*head, "timeouts a run", "p99", "goodput, %", "others' goodput, %"], rows)


def _score(board: ackclock.Board, at: int) -> list[str]:
    one = board.scores[at]
    return [
        one.stack,
        f"{100 * one.mean:.1f}",
        f"{100 * one.least:.1f}",
        one.least_on,
        f"{one.nearly_best}",
        f"{100 * one.needless:.3f}",
        *(f"{100 * share:.3f}" for share in one.causes.values()),
        f"{one.timeouts:.2f}",
        "" if one.tail is None else f"{one.tail:.3f}",
        _interval(one.beside),
        _interval(one.others),
    ]


def _interval(found: tuple[float, float, float] | None) -> str:
    """A change with its interval; without an end beyond WIDEST, which says nothing."""
    if found is None:
        return ""
    change, low, high = (100 * one for one in found)
    return f"{change:+.1f}" if high > WIDEST else f"{change:+.1f} ({low:.1f} to {high:.1f})"
