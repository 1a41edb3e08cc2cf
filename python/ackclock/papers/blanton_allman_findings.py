"""A verdict for every claim of Blanton & Allman 2002, and what our switches say to those that differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ackclock.papers import claims
from ackclock.papers.blanton_allman import STOCK, Point, Scheme, Setting
from ackclock.papers.blanton_allman_claims import (
    BETTER,
    FOUR_AND_MORE,
    HEAVY,
    MEASURES,
    SOME,
    Switch,
    View,
    apart,
    as_fixed,
    gains,
    medians,
    ratio,
)
from ackclock.papers.blanton_allman_schemes import (
    ADAPTIVE,
    ALPHAS,
    COUNTERS,
    EWMA,
    FIG9_SWAPS,
    UNDO,
    XS,
    at,
    ewma,
    fraction,
)
from ackclock.papers.blanton_allman_setup import burst, parameters
from ackclock.papers.claims import Claim, Finding, Verdict

CLAIMS = "claims.csv"
DURATION_S = 600
"""§4: ten minutes."""
Points = Mapping[Setting, Point]
Probe = Callable[[Sequence[Setting]], Points]
"""Runs further points."""

THRESHOLDS = tuple(scheme.stack for scheme in (*COUNTERS, EWMA) if scheme.stack != "dsack-del")
SENDERS = (UNDO.stack, *(scheme.stack for scheme in ADAPTIVE))
HOLES = Switch(
    "holes resent in a recovery without asking the threshold (recovery.hole_rule = ff96)",
    SENDERS,
    (("recovery.hole_rule", "ff96"),),
)
FORGETFUL = Switch(
    "the cap asked, not stored (detect.threshold.cap.store = test)",
    THRESHOLDS,
    (("detect.threshold.cap.store", "test"),),
)
LITERAL = Switch("two waiting packets swapped in place of two places (scenario-ns2.toml)", reading="ns2")
SWITCHES: dict[str, tuple[Switch, ...]] = {
    "S000-13": (LITERAL,),
    "S000-14": (LITERAL, HOLES),
    "S000-23": (LITERAL, HOLES),
    "S000-25": (LITERAL, FORGETFUL),
    "S000-26": (LITERAL, HOLES),
    "S000-27": (LITERAL, FORGETFUL),
    "S000-29": (LITERAL, FORGETFUL),
    "S000-30": (LITERAL, FORGETFUL),
    "S000-31": (LITERAL, HOLES),
    "S000-32": (LITERAL, HOLES),
    "S000-33": (LITERAL, HOLES),
    "S000-34": (LITERAL, HOLES),
    "S000-35": (LITERAL, HOLES),
    "S000-38": (LITERAL, FORGETFUL),
}
"""What is tried where a claim differs."""

UNCHECKED = {
    "S000-19": "a run's numbers do not hold the threshold; the engine has the rule, without a switch",
    "S000-20": "a run's numbers do not hold the threshold; the engine's rule has a floor of 3",
    "S000-36": "context: a measurement of other people's, which no run of ours can check",
}


def _series(label: str, values: Sequence[float], swaps: Sequence[int] = SOME) -> str:
    numbers = " ".join(f"{value:.2f}" for value in values)
    return f"{label}: {numbers} at {' '.join(map(str, swaps))} swaps"


def _each(v: View, over: Sequence[Scheme], under: Scheme) -> str:
    return "; ".join(_series(scheme.label, medians(v, [scheme], under)) for scheme in over)


def _gains(v: View) -> str:
    return ", ".join(f"{scheme.label} {v.median(scheme, FIG9_SWAPS):g}" for scheme in (ewma(1.0, x) for x in XS))


DETAILS: dict[str, Callable[[View], str]] = {
    "S000-10": lambda v: _series("means", [v.needless(STOCK, n) for n in SOME]),
    "S000-31": _gains,
    "S000-32": _gains,
    "S000-33": _gains,
    "S000-14": lambda v: _series("ratios", medians(v, [UNDO], STOCK)),
    "S000-22": lambda v: "; ".join(_series(f"{s.label}, %", gains(v, [s], UNDO, SOME)) for s in COUNTERS),
    "S000-23": lambda v: _series("differences, %", gains(v, [EWMA], UNDO, HEAVY), HEAVY),
    "S000-25": lambda v: _each(v, COUNTERS, STOCK),
    "S000-26": lambda v: _each(v, [EWMA], STOCK),
    "S000-27": lambda v: "; ".join(_series(s.label, [v.median(s, n) for n in SOME]) for s in COUNTERS),
    "S000-29": lambda v: "; ".join(
        _series(s.label, [ratio(v.deviation(s, n), v.median(s, n)) for n in SOME]) for s in BETTER
    ),
    "S000-30": lambda v: "; ".join(_series(s.label, [v.deviation(s, n) for n in SOME]) for s in (EWMA, *COUNTERS)),
    "S000-34": lambda v: "; ".join(
        f"x = {fraction(x)}: {apart(v.median(ewma(a, x), FIG9_SWAPS) for a in ALPHAS[1:]):.1f} %" for x in XS
    ),
    "S000-35": lambda v: ", ".join(f"{s.label} {v.median(s, FIG9_SWAPS):g}" for s in COUNTERS),
    "S000-38": lambda v: ", ".join(f"{s.label} {v.median(s, FIG9_SWAPS):g}" for s in (EWMA, *COUNTERS)),
    "S000-37": lambda v: _series("differences, %", gains(v, [UNDO], STOCK, FOUR_AND_MORE), FOUR_AND_MORE),
}
"""The values behind a claim's number."""


def findings(points: Points, folder: Path, probe: Probe) -> list[Finding]:
    """Every claim of ``claims.csv``, judged.

    Args:
        points: the runs of ``blanton_allman.settings()`` and ``blanton_allman_schemes.settings()``.
        folder: the paper's.
        probe: runs what the switches ask for where a claim differs.

    Raises:
        OSError: a file of ``folder`` is missing.
        ValueError: claims.csv makes no sense.
    """
    listed = claims.read(folder / CLAIMS)
    texts, bursts = parameters(points), {d: burst(folder, d) for d in ("limited-transmit", "extended", "nothing")}

    def one(claim: Claim) -> Finding:
        if claim.id in UNCHECKED:
            return Finding(claim, Verdict.UNCHECKED, note=UNCHECKED[claim.id])
        if claim.id in texts:
            return claims.judge(claim, texts[claim.id], note="as the scenarios that ran have it")
        if claim.id == "S000-15":
            note = f"without any limited transmit (disorder = nothing) the burst is {bursts['nothing']}"
            return claims.judge(claim, (float(bursts["limited-transmit"]),), (None,), note)
        if claim.id == "S000-16":
            return claims.judge(claim, (float(bursts["extended"]),), (None,))
        if claim.id == "S000-18":
            return claims.judge(claim, (as_fixed(points),), (None,), "an average of 3 ± 0.5 would show the same")
        return _measured(claim, points, probe)

    return [one(claim) for claim in listed]


def _measured(claim: Claim, points: Points, probe: Probe) -> Finding:
    """The finding for a claim that depends on chance."""
    runs = points[at(STOCK, 0)].runs
    if claim.unit == "retransmissions" and runs[0]["duration_s"] != DURATION_S:
        why = f"a count over {DURATION_S} s; these runs have {runs[0]['duration_s']:g} s"
        return Finding(claim, Verdict.UNCHECKED, note=why)
    measure, view = MEASURES[claim.id], View(points)
    measured = measure(view)
    intervals = claims.resampled(lambda draw: measure(View(points, draw)), len(runs))
    detail = DETAILS.get(claim.id)
    notes = [detail(View(points))] if detail else []
    if not claims.accepts(claim.accept, measured):
        for switch in SWITCHES.get(claim.id, ()):
            notes.append(_switched(claim, list(view.asked), switch, probe))
    return claims.judge(claim, measured, intervals, ". ".join(notes))


def _switched(claim: Claim, asked: Sequence[Setting], switch: Switch, probe: Probe) -> str:
    """What the claim's number becomes with a choice of ours made otherwise."""
    translate = View({}, switch=switch)
    wanted = [translate.setting(s.scheme, s.swaps, s.gap_s) for s in asked]
    points = probe(list(dict.fromkeys(wanted)))
    measured = MEASURES[claim.id](View(points, switch=switch))
    seeds = len(next(iter(points.values())).runs)
    result = "it would hold" if claims.accepts(claim.accept, measured) else "it differs, too"
    return f"With {switch.label}, {seeds} seeds: {', '.join(f'{value:.3g}' for value in measured)}; {result}"


def counts(found: Sequence[Finding]) -> dict[Verdict, int]:
    """How many of each verdict."""
    return {verdict: sum(f.verdict is verdict for f in found) for verdict in Verdict}
