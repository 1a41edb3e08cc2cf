"""The bounds of the goal, and where they are missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import ackclock
from ackclock.papers.paper import Table

LATE, RACK, ORACLE = "late", "rack-tlp", "oracle"
PATHS, LEAST, NEARLY, POINTS, TAIL = 0.9, 0.97, 0.99, 0.002, 1.05
UNKNOWN = "not measured"
"""Then a bound counts as missed."""


@dataclass(frozen=True)
class Bound:
    """A bound, and whether it is met."""

    bound: str
    measured: str
    met: bool


def bounds(board: ackclock.Board) -> list[Bound]:
    """The bounds on the detectors under the same response."""
    score = {one.stack: one for one in board.scores}
    late, rack = score[LATE], score[RACK]
    count = len(board.answer.paths)
    more = {path: own - other for path, (own, other) in _needless(board).items()}
    worst = max(more, key=lambda path: more[path])
    return [
        Bound(
            "mean goodput ≥ 99 % of the best on ≥ 90 % of the paths",
            f"{late.nearly_best} of {count}, {100 * late.nearly_best / count:.0f} %",
            late.nearly_best >= PATHS * count,
        ),
        Bound("≥ 97 % of the best on all paths", f"{100 * late.least:.1f} % on {late.least_on}", late.least >= LEAST),
        Bound(
            "needless at most half of RACK-TLP's in the mean",
            f"{100 * late.needless:.3f} and {100 * rack.needless:.3f} %",
            late.needless <= rack.needless / 2,
        ),
        Bound(
            "needless on no path above RACK-TLP's by more than 0.2 points",
            f"{100 * more[worst]:+.2f} points on {worst}; {sum(one > POINTS for one in more.values())} paths above",
            more[worst] <= POINTS,
        ),
        Bound(
            "no more timeouts than RACK-TLP",
            f"{late.timeouts:.2f} and {rack.timeouts:.2f}",
            late.timeouts <= rack.timeouts,
        ),
        _tail(late.tail),
        _harm(late.others),
    ]


def _tail(tail: float | None) -> Bound:
    bound = "p99 of completion within 5 % of RACK-TLP's"
    if tail is None:
        return Bound(bound, UNKNOWN, met=False)
    return Bound(bound, f"{100 * (tail - 1):+.1f} %", tail <= TAIL)


def _harm(others: tuple[float, float, float] | None) -> Bound:
    bound = "others' goodput beside it as beside RACK-TLP, within the interval"
    if others is None:
        return Bound(bound, UNKNOWN, met=False)
    change, low, high = (100 * one for one in others)
    return Bound(bound, f"{change:+.1f} % ({low:.1f} to {high:.1f})", high >= 0)


def whole(board: ackclock.Board) -> list[Bound]:
    """The bounds on whole stacks."""
    late = next(one for one in board.scores if one.stack == LATE)
    mean, least = (max(board.scores, key=lambda one: getattr(one, of)) for of in ("mean", "least"))
    return [
        Bound(
            "the best mean of all named stacks",
            f"{100 * late.mean:.1f} %; {mean.stack} {100 * mean.mean:.1f} %",
            late.mean >= mean.mean,
        ),
        Bound(
            "the best minimum of all named stacks",
            f"{100 * late.least:.1f} %; {least.stack} {100 * least.least:.1f} %",
            late.least >= least.least,
        ),
    ]


def _needless(board: ackclock.Board) -> dict[str, tuple[float, float]]:
    """Of Late and of RACK-TLP on each path."""
    return {
        part.name: (_mean(part.values["needless"][LATE]), _mean(part.values["needless"][RACK]))
        for part in board.answer.paths
    }


def weak(board: ackclock.Board) -> Table:
    """The paths on which Late has less than 99 % of the best, or more than 0.2 points more needless than RACK-TLP."""
    rows = []
    for part in board.answer.paths:
        share = board.share(part, LATE)
        own, other = (_mean(part.values["needless"][stack]) for stack in (LATE, RACK))
        if share >= NEARLY and own - other <= POINTS:
            continue
        best = max(part.values["goodput"], key=lambda stack: board.share(part, stack))
        gap = part.beside(LATE, best, board.answer.question.measure) if best != LATE else None
        ends = (
            "" if gap is None or gap.low is None or gap.high is None else f"{100 * gap.low:.1f} to {100 * gap.high:.1f}"
        )
        timeouts = (_mean(part.values["timeouts"][stack]) for stack in (LATE, RACK))
        beside = f"{100 * own:.2f} / {100 * other:.2f}", " / ".join(f"{one:.1f}" for one in timeouts)
        rows.append([part.name, f"{100 * share:.1f}", best, ends, f"{100 * board.share(part, RACK):.1f}", *beside])
    head = ["path", "Late, % of the best", "best", "Late beside it, %, interval", "RACK-TLP, %"]
    return Table("The frontier", [*head, "needless, %, Late / RACK-TLP", "timeouts, Late / RACK-TLP"], rows)


def limit(half: str, board: ackclock.Board) -> Table:
    """Late and the oracle as shares of the field's best, where either has less than 99 %; and their means."""
    stacks = [one.stack for one in board.scores if one.stack != ORACLE]
    shares: dict[str, tuple[float, float]] = {}
    rows = []
    for part in board.answer.paths:
        goodput = {stack: _mean(values) for stack, values in part.values["goodput"].items()}
        best = max(stacks, key=lambda stack: goodput[stack])
        late, oracle = shares[part.name] = goodput[LATE] / goodput[best], goodput[ORACLE] / goodput[best]
        if min(late, oracle) >= NEARLY:
            continue
        gap = "response" if oracle < NEARLY else "detection"
        rows.append([part.name, best, f"{100 * late:.1f}", f"{100 * oracle:.1f}", gap])
    pairs = list(zip(*shares.values(), strict=True))
    rows.append(["mean", "", *(f"{100 * fmean(of):.1f}" for of in pairs), ""])
    rows.append([f"≥ 99 %, of {len(shares)}", "", *(f"{sum(one >= NEARLY for one in of)}" for of in pairs), ""])
    rows.append(["least", "", *(f"{100 * min(of):.1f}" for of in pairs), ""])
    title = f"{half}: goodput, % of the best detector of the field; whose the gap is"
    return Table(title, ["path", "best", "Late", "oracle", "gap"], rows)


def _mean(values: Sequence[float | None]) -> float:
    return fmean(0.0 if one is None else one for one in values)
