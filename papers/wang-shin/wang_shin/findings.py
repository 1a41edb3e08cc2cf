"""A verdict for every claim of Wang & Shin."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ackclock.papers import claims
from ackclock.papers.claims import Claim, Finding
from ackclock.papers.paper import Work
from ackclock.papers.rules import Interval

from .measures import DRAWS, FORCED, MEANS, Draws, View
from .notes import NOTES

CLAIMS = "claims.csv"


def findings(view: View, parameters: Mapping[str, str], work: Work) -> list[Finding]:
    """Judge every claim of ``claims.csv``.

    Args:
        view: the runs.
        parameters: the set-up of the runs, for claims about parameters.
        work: the folder of claims.csv.

    Raises:
        OSError: a file of the paper's folder is missing.
        ValueError: claims.csv is invalid.
    """
    return [_finding(claim, view, parameters) for claim in claims.read(work.folder / CLAIMS)]


def _finding(claim: Claim, view: View, parameters: Mapping[str, str]) -> Finding:
    if claim.id in parameters:
        return claims.judge(claim, parameters[claim.id], note="Read from the scenarios that ran.")
    note = NOTES[claim.id](view) if claim.id in NOTES else ""
    if claim.id in FORCED:
        measured = FORCED[claim.id](view)
        return claims.judge(claim, measured, (None,) * len(measured), note)
    if claim.id in DRAWS:
        return _drawn(claim, DRAWS[claim.id](view), note)
    measure = MEANS[claim.id]
    seeds = len(next(iter(view.ran.values())).runs)
    intervals = claims.resampled(lambda draw: measure(replace(view, draw=draw)), seeds)
    return claims.judge(claim, measure(view), intervals, note)


def _drawn(claim: Claim, draws: Draws, note: str) -> Finding:
    """The finding for a single run of the paper: medians, and the range of nine out of ten of our runs."""
    medians = tuple(statistics.median(values) if values else math.nan for values in draws)
    spreads = tuple(_spread(values) for values in draws)
    return claims.judge(claim, medians, tuple(_interval(values) for values in draws), note, spreads)


def _interval(values: Sequence[float]) -> Interval | None:
    """The 95 % interval of the median."""
    if not values:
        return None
    return claims.resampled(lambda draw: (statistics.median([values[i] for i in draw]),), len(values))[0]


def _spread(values: Sequence[float]) -> Interval:
    """The 5th to the 95th percentile; an empty range if there is no value."""
    return claims.spread(values) if values else (math.nan, math.nan)
