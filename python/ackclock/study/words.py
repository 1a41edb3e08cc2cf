"""The answer of a study in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ackclock.study.measure import Measure
from ackclock.study.paired import Difference, Outcome

if TYPE_CHECKING:
    from ackclock.study.found import Found, OnPath


def sentences(found: Found) -> list[str]:
    """The answer over all paths together, on each path, and its uncertainty."""
    said = [_best(found, found.overall), *_against(found, found.overall)]
    if len(found.paths) > 1:
        said += [_best(found, path) for path in found.paths]
    return [*said, *_notes(found), _sureness(found)]


def _best(found: Found, part: OnPath) -> str:
    """The best stack on a path, and its margin."""
    measure, best = found.question.measure, part.best
    where = f"On {part.name}, " if len(found.paths) > 1 else ""
    if len(best) == len(part.places):
        said = f"{where}{_same(found, part)}."
        return said[0].upper() + said[1:]
    if len(best) > 1:
        rest = _listed([p.stack for p in part.places if p.first > 1])
        same = all(d.outcome is Outcome.SAME for d in part.differences if {d.one, d.other} <= set(best))
        apart = f"differ by less than {within(found)}" if same else "cannot be told apart"
        return f"{where}{_listed(best)} do best by {measure.label} and {apart}; {rest} did worse than one of them."
    first, second = part.places[0].stack, part.places[1].stack
    beside = part.beside(first, second, measure)
    mean = part.places[0].mean
    value = "" if mean is None else f" ({measure.shown(mean)}{f' {measure.unit}' if measure.unit else ''})"
    return f"{where}{first} does best by {measure.label}{value}: {change(beside, measure)} the next, {second}."


def _same(found: Found, part: OnPath) -> str:
    if all(d.outcome is Outcome.SAME for d in part.differences):
        return f"the stacks differ by less than {within(found)} in {found.question.measure.label}"
    return f"{part.seeds} seeds do not show which stack does best by {found.question.measure.label}"


def _against(found: Found, part: OnPath) -> list[str]:
    """The best stack compared with the baseline, unless they are the same."""
    base, best = found.question.baseline, part.places[0].stack
    if base in {best, part.places[1].stack}:
        return []
    measure = found.question.measure
    return [f"{best}: {change(part.beside(best, base, measure), measure)} {base}, the baseline."]


def change(d: Difference, measure: Measure) -> str:
    """The difference of one from another in words: ``12 % more (9 to 15 %) than``."""
    if d.change is None or d.low is None or d.high is None:
        return "better in most runs than" if d.outcome is Outcome.BETTER else "not distinguishable from"
    word = "more" if d.change >= 0 else "less"
    sign = 1 if d.change >= 0 else -1
    ends = sorted((sign * d.low, sign * d.high))
    if measure.relative or measure.unit == "%":
        points = "" if measure.relative else " points"
        shown = [f"{100 * x:.{_digits(100 * d.change)}f}" for x in (sign * d.change, *ends)]
        return f"{shown[0]} %{points} {word} ({shown[1]} to {shown[2]}) than"
    shown = [measure.shown(x) for x in (sign * d.change, *ends)]
    return f"{shown[0]} {word} ({shown[1]} to {shown[2]}) than"


def beside_baseline(found: Found, part: OnPath, stack: str) -> str:
    """A stack compared with the baseline, for a cell of a table: ``-12 % (-15 to -9)``, and whether it is clear."""
    asked = found.question
    if stack == asked.baseline:
        return "baseline"
    d = part.beside(stack, asked.baseline, asked.measure)
    if d.change is None or d.low is None or d.high is None:
        return d.outcome.value
    scale = 100.0 if asked.measure.relative else asked.measure.scale
    unit = " %" if asked.measure.relative else f" {asked.measure.unit}" if asked.measure.unit else ""
    digits = _digits(scale * d.change)
    change, low, high = (f"{scale * x:+.{digits}f}" for x in (d.change, d.low, d.high))
    open_ = "" if d.outcome in {Outcome.BETTER, Outcome.WORSE} else f", {d.outcome.value}"
    return f"{change}{unit} ({low} to {high}){open_}"


def _digits(percent: float) -> int:
    return 0 if abs(percent) >= 100 else 1 if abs(percent) >= 1 else 2  # noqa: PLR2004 - three significant digits


def within(found: Found) -> str:
    """The difference that does not matter."""
    measure, value = found.question.measure, found.question.within
    return f"{100 * value:g} %" if measure.relative or measure.unit == "%" else f"{value:g}"


def _notes(found: Found) -> list[str]:
    """Remarks on single stacks."""
    said, what = [], found.question.measure.label
    for part in found.paths:
        for place in part.places:
            if place.missing:
                runs = f"{place.missing} of {part.seeds} runs"
                said.append(f"{place.stack} has no {what} in {runs} on {part.name}: such a run counts as the worst.")
        for stack, keys in part.unused.items():
            said.append(f"{stack} does not have {_listed(keys)}, which the scenario of {part.name} sets.")
    return said


def _sureness(found: Found) -> str:
    asked = found.question
    counts = sorted({part.seeds for part in found.paths})
    seeds = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    looks = len(asked.seeds.looks)
    over = f"{asked.comparisons} comparisons" if asked.comparisons > 1 else "one comparison"
    over += f" and {looks} looks" if looks > 1 else ""
    return (
        f"All of this holds together with 95 % confidence: runs of the same {seeds} seeds are compared in pairs, with "
        f"intervals of Student's t, corrected for {over} (Bonferroni)."
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
