"""The report on the detector Late: the bounds that it was to meet, judged by the arena's judgement half."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import ackclock
from ackclock import files
from ackclock.papers.paper import Section, Table, Work

from .bounds import Bound, bounds, limit, weak, whole

OWN: dict[str, float] = {"detect.least_rtts": 0.5, "detect.first_rtts": 0.75, "detect.dupthresh": 0}
"""What the field's entry `late` sets; the stack `late` has the rest."""
VARIANTS: dict[str, dict[str, float | str | bool]] = {
    "late": {**OWN},
    "RACK's rule at first": {"detect.least_rtts": 0.5},
    "first wait 0.25": {"detect.least_rtts": 0.5, "detect.dupthresh": 0},
    "first wait 0.5": {**OWN, "detect.first_rtts": 0.5},
    "first wait 1": {**OWN, "detect.first_rtts": 1.0},
    "first wait 2": {**OWN, "detect.first_rtts": 2.0},
    "without a floor": {"detect.first_rtts": 0.75, "detect.dupthresh": 0},
    "floor 0.25": {**OWN, "detect.least_rtts": 0.25},
    "floor 1": {**OWN, "detect.least_rtts": 1.0},
    "margin 1.25": {**OWN, "detect.margin": 1.25},
    "keep 0.99": {**OWN, "detect.keep": 0.99},
    "cap 2 round trips": {**OWN, "detect.cap_srtts": 2.0},
    "no undo": {**OWN, "undo": "nothing"},
    "timestamps": {**OWN, "options.timestamps": True},
    "cut from the flight": {**OWN, "congestion.cut_from": "flight"},
}
"""Late with one part changed, by name."""
LIMIT = (
    "The oracle knows which copies the path dropped, and declares each loss at the first report of a later segment. "
    "What it lacks belongs to the response; what Late lacks beside it belongs to detection."
)
WIDEST = 1000.0
"""In percent."""
ORACLE: tuple[str, dict[str, str]] = ("late", {"detect": "oracle", "name": "oracle"})
"""The detector that knows which copies the path dropped, with the response of the field."""
CUTS = (0.7, 0.9, 0.99)
"""Factors by which a loss multiplies the window, from CUBIC's own to hardly a cut."""
LOSSES = ("loss-0.2", "loss-3", "random-loss")
"""Design paths that keep the order and lose packets at random."""
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
    limits: tuple[ackclock.Board, ackclock.Board]
    """The field and the oracle, on the judgement half and on the design half."""
    cuts: dict[float, ackclock.Board]
    """Late, RACK-TLP, TCP-PR and the oracle on paths with random losses, by the factor of a cut."""


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
        (arena([ORACLE], half="judgement"), arena([ORACLE], half="design")),
        {factor: arena(_cut(factor), half="design", paths=LOSSES, field=False) for factor in CUTS},
    )


def _cut(factor: float) -> list[tuple[str, dict[str, Any]]]:
    """The entries whose response multiplies the window by this factor."""
    detectors: dict[str, dict[str, Any]] = {"late": {**OWN}}
    detectors |= {name: {"detect": name} for name in ("rack-tlp", "tcp-pr", "oracle")}
    return [("late", {**of, "congestion.beta": factor, "name": name}) for name, of in detectors.items()]


def sections(work: Work) -> list[Section]:
    """The sections of the page.

    Raises:
        OSError, ScenarioError: see ``boards``; or a file could not be written.
    """
    made = boards(work)
    found = [*bounds(made.judgement), *whole(made.stacks)]
    files.write_csv(work.out / "bounds.csv", [vars(one) for one in found])
    limits = dict(zip(("judgement", "design"), made.limits, strict=True))
    named = {"judgement": made.judgement, "stacks": made.stacks, "variants": made.variants}
    named |= {f"limits-{half}": board for half, board in limits.items()}
    named |= {f"cuts-{factor}": board for factor, board in made.cuts.items()}
    for name, board in named.items():
        files.write(work.out / f"{name}.csv", board.table.write_csv().encode())
    met = sum(one.met for one in found)
    return [
        Section("Bounds", [f"{met} of {len(found)} bounds are met."], tables=[_bounds(found)]),
        Section("Detectors under the same response, judgement half", tables=[_scores(made.judgement)]),
        Section("Where a bound is missed", tables=[weak(made.judgement)]),
        Section("The limit of any detector", [LIMIT], tables=[limit(half, board) for half, board in limits.items()]),
        Section("Detector or cut?", tables=[_cuts(made.cuts)]),
        Section("All named stacks, judgement half", tables=[_scores(made.stacks)]),
        Section("What each part brings, design half", tables=[_scores(made.variants)]),
    ]


def _bounds(found: list[Bound]) -> Table:
    rows = [[one.bound, one.measured, "met" if one.met else "missed"] for one in found]
    return Table("The goal's bounds", ["bound", "measured", "verdict"], rows)


def _cuts(boards: dict[float, ackclock.Board]) -> Table:
    """Goodput by the factor of a cut, as a share of the best with the same factor."""
    stacks = ("late", "rack-tlp", "tcp-pr", "oracle")
    rows = [
        [part.name, f"{factor:g}", *(f"{100 * board.share(part, stack):.1f}" for stack in stacks)]
        for factor, board in boards.items()
        for part in board.answer.paths
    ]
    return Table("Goodput, % of the best with the same factor", ["path", "a loss multiplies by", *stacks], rows)


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
        *(
            f"{100 * share:.3f}"
            for share in (one.needless_fast, one.needless_recovery, one.needless_probe, one.needless_timeout)
        ),
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
