"""A verdict for every claim of Blanton & Allman 2002."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ackclock.papers import claims
from ackclock.papers.claims import Claim, Finding, Verdict
from ackclock.papers.paper import Work

from . import schemes
from .measures import MEASURES, View, as_fixed
from .notes import DETAILS
from .points import STOCK, Point, Setting
from .points import settings as early_settings
from .schemes import COUNTERS, EWMA, PAPER, Look, at
from .setup import burst, parameters

CLAIMS = "claims.csv"
DURATION_S = 600
"""§4: ten minutes."""
Points = Mapping[Setting, Point]
THRESHOLDS = tuple(scheme.stack for scheme in (*COUNTERS, EWMA) if scheme.stack != "dsack-del")
FIRST_DUPLICATES = {"two": "limited-transmit", "none": "nothing"}
"""§6.1's sender "without extending Limited Transmit", as set by the choice ``limited-transmit``."""

EXTREMES = {
    "S000-19": ("dupthresh_after_timeout_max", "Measured after every timeout of every run of these senders."),
    "S000-20": ("dupthresh_of_ceiling_max", "Measured at the end of every instant of every run of these senders."),
}
"""Numbers of a run whose largest value counts, and their origin."""
UNCHECKED = {
    "S000-36": "The introduction quotes a measurement by others; none of our runs can check it.",
}


def settings(work: Work) -> list[Setting]:
    """Every point that a claim is about."""
    early = [s for s in early_settings() if s.scenario == PAPER]
    return list(dict.fromkeys([*early, *schemes.settings(Look.of(work.reading))]))


def findings(points: Points, work: Work) -> list[Finding]:
    """Judge every claim of ``claims.csv``.

    Args:
        points: at least the runs of ``settings``.
        work: the folder of claims.csv, and the reading of the paper.

    Raises:
        OSError: a file of the paper's folder is missing.
        ValueError: claims.csv is invalid.
    """
    listed, look = claims.read(work.folder / CLAIMS), Look.of(work.reading)
    texts = parameters(points)
    bursts = {rule: burst(work, rule) for rule in ("limited-transmit", "extended", "nothing")}
    bursts_of = {"S000-15": FIRST_DUPLICATES[work.reading["limited-transmit"]], "S000-16": "extended"}

    drawn = [claim for claim in listed if claim.id in MEASURES]
    by_chance = {found.claim.id: found for found in _measured(points, look, drawn)}

    def one(claim: Claim) -> Finding:
        if claim.id in UNCHECKED:
            return Finding(claim, Verdict.UNCHECKED, note=UNCHECKED[claim.id])
        if claim.id in texts:
            return claims.judge(claim, texts[claim.id], note="Read from the scenarios that ran.")
        if claim.id in bursts_of:
            return claims.judge(claim, (float(bursts[bursts_of[claim.id]]),), (None,), _burst(bursts))
        if claim.id == "S000-18":
            note = "One trace hash for both; a first average of 3 ± 0.5 would show the same."
            return claims.judge(claim, (as_fixed(points, look),), (None,), note)
        if claim.id in EXTREMES:
            return _extreme(claim, points)
        return by_chance[claim.id]

    return [one(claim) for claim in listed]


def _burst(bursts: Mapping[str, int]) -> str:
    return (
        f"A sender that sends nothing on duplicates (disorder = nothing) has a burst of {bursts['nothing']}; "
        f"RFC 3042's two segments (limited-transmit) leave {bursts['limited-transmit']}, the extended limited transmit "
        f"{bursts['extended']}: each segment sent on a duplicate is one fewer in the burst."
    )


def _extreme(claim: Claim, points: Points) -> Finding:
    """The finding for a claim about all moments of all runs with an adaptive, counting threshold."""
    key, note = EXTREMES[claim.id]
    every = [p for s, p in points.items() if s.scheme.stack in THRESHOLDS]
    taken = [run["flows"][0][key] for point in every for run in point.runs]
    known = [float(value) for value in taken if value is not None]
    if not known:
        return Finding(claim, Verdict.UNCHECKED, note="No timeout happened in these runs.")
    return claims.judge(claim, (max(known),), (None,), f"{note} {len(known):,} runs count.")


def _measured(points: Points, look: Look, listed: Sequence[Claim]) -> Iterator[Finding]:
    """The findings for claims that depend on chance, all with the same draws."""
    runs = points[at(STOCK, 0)].runs
    short = runs[0]["duration_s"] != DURATION_S
    why = f"It is a count over {DURATION_S} s, and these runs have {runs[0]['duration_s']:g} s."
    unlike = [claim for claim in listed if short and claim.unit == "retransmissions"]
    yield from (Finding(claim, Verdict.UNCHECKED, note=why) for claim in unlike)
    alike = [claim for claim in listed if claim not in unlike]

    def every(draw: Sequence[int]) -> tuple[float, ...]:
        view = View(points, draw, look)
        return tuple(value for claim in alike for value in MEASURES[claim.id](view))

    intervals = iter(claims.resampled(every, len(runs)))
    whole = View(points, look=look)
    for claim in alike:
        measured, detail = MEASURES[claim.id](whole), DETAILS.get(claim.id)
        note = detail.sentences(claim, whole) if detail else ""
        yield claims.judge(claim, measured, tuple(next(intervals) for _ in measured), note)
