"""A verdict for every claim of Leung & Ma 2005, and what other choices say to those that differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ackclock.papers import claims
from ackclock.papers.claims import Claim, Finding, Verdict

from .measures import MEASURES, OF_THE_SINGLE_PATH, Measure, average_gains
from .points import (
    AVG,
    AVG_DEV,
    DEL,
    EWMA,
    FA,
    FIGURES,
    INC,
    LOSSES,
    ON_THE_SINGLE_PATH,
    ON_TWO_PATHS,
    OURS,
    SENSITIVE_FS,
    Choice,
    Single,
)
from .setup import THRESHOLDS, burst, costs, longest, state
from .view import Runs, View

CLAIMS = "claims.csv"
PROBE_FS = (1.0, 2.2, 3.8)
"""Delay factors of the runs with other choices."""
UNCHECKED = {
    "S001-45": "It is a measurement of other people's that §IV-A quotes; no run of ours can check it.",
}
MORE = frozenset({"S001-16", "S001-50"})
"""Claims about the largest of many ratios or means, where a single run soon decides."""
RATE_OF_LOSS = 0.002
TIE = 0.01
"""Rates this near to each other, as a share, are called alike."""


@dataclass(frozen=True)
class Made:
    """All that claims are judged on."""

    figures: Runs
    probes: Runs
    """With other choices, at ``PROBE_FS``."""
    seeds: int
    """How many of the figures."""
    probe_seeds: int
    more: Runs
    """With more seeds, for ``MORE``."""
    more_seeds: int
    texts: Mapping[str, str]
    """``setup.parameters``."""

    def view(self) -> View:
        """The runs of the figures."""
        return View(self.figures)

    def probe(self, choice: Choice) -> View:
        """The runs under another choice."""
        return View(self.probes, choice, PROBE_FS)


def findings(made: Made, folder: Path) -> list[Finding]:
    """Every claim of ``claims.csv``, judged.

    Raises:
        OSError: a file of the paper's folder is missing.
        ValueError: one of them makes no sense.
    """
    return [judged(claim, made, folder) for claim in claims.read(folder / CLAIMS)]


def judged(claim: Claim, made: Made, folder: Path) -> Finding:
    """One of them.

    Raises:
        OSError, ValueError: see ``findings``.
    """
    if claim.id in UNCHECKED:
        return Finding(claim, Verdict.UNCHECKED, note=UNCHECKED[claim.id])
    if claim.id in made.texts:
        return claims.judge(claim, made.texts[claim.id], note="Read back from the scenarios and stacks that ran.")
    if claim.id == "S001-44":
        return _burst(claim, folder)
    if claim.id in ("S001-40", "S001-41", "S001-42", "S001-43"):
        return _cost(claim, folder)
    return _measured(claim, made)


def _burst(claim: Claim, folder: Path) -> Finding:
    bursts = {n: burst(folder, n) for n in THRESHOLDS}
    none = burst(folder, 10, "nothing")
    listed = ", ".join(str(n) for n in bursts.values())
    note = (
        f"With thresholds of {THRESHOLDS[0]} to {THRESHOLDS[-1]}, and one duplicate fewer, the ACK that fills the hole "
        f"releases {listed} segments. At a threshold of 10 it is {bursts[10]}, and {none} if nothing is sent "
        "on duplicates."
    )
    return claims.judge(claim, (longest(bursts),), (None,), note)


def _cost(claim: Claim, folder: Path) -> Finding:
    """Table 3, and §IV-C's counters."""
    if claim.id == "S001-43":
        names = state(folder)
        note = (
            f"Counted are the variables that our rule keeps from one ACK to the next ({', '.join(names)}), not its six "
            "constants nor what any SACK sender has: the window, the round trip, the timeout and the run of duplicates."
        )
        return claims.judge(claim, (float(len(names)),), (None,), note)
    rows = costs(folder)
    ours, theirs = rows[AVG_DEV.stack], rows[FA.stack]
    if claim.id == "S001-42":
        per_ack, per_event = (
            float(theirs[key]) / float(ours[key]) for key in ("instructions_per_ack", "instructions_per_event")
        )
        note = (
            f"A whole ACK takes {float(ours['instructions_per_ack']):.0f} instructions with AVG-DEV and "
            f"{float(theirs['instructions_per_ack']):.0f} with FA: only a reordering event touches the histogram. Of "
            f"the threshold's rule alone, an event takes {per_event:.2f} times as many (reference/README.md)."
        )
        return claims.judge(claim, (per_ack,), (None,), note)
    row = ours if claim.id == "S001-40" else theirs
    note = "The threshold's own state, a full histogram included (reference/cost.csv)."
    return claims.judge(claim, (float(row["state_bytes"]),), (None,), note)


def _measured(claim: Claim, made: Made) -> Finding:
    """The finding for a claim about runs."""
    measure, view, seeds = MEASURES[claim.id], made.view(), made.seeds
    if claim.id in MORE:
        view, seeds = View(made.more), made.more_seeds
    measured = measure(view)
    intervals: tuple[tuple[float, float] | None, ...] = (None,) * len(measured)
    if seeds > 1:
        drawn = claims.resampled(lambda draw: measure(View(view.runs, draw=draw)), seeds)
        # Two paths without loss: nothing is random there.
        intervals = tuple(interval if interval[0] < interval[1] else None for interval in drawn)
    found = claims.judge(claim, measured, intervals, f"{_details(measure, view)}{_more(claim, view)}")
    tried = _tried(claim, made) if found.verdict is Verdict.DIFFERS else ()
    return replace(found, tried=tried)


def _details(measure: Measure, v: View) -> str:
    """The values that the claim's are made of."""
    axes = {
        "f": f" at f = {_listed([f'{f:.1f}' for f in v.fs])}",
        "tuned": f" at f = {_listed([f'{f:.1f}' for f in SENSITIVE_FS])}",
        "share": f" with {v.shares[0]} to {v.shares[-1]} % over R3",
    }
    series = measure.series(v)
    parts = "; ".join(f"{name} {', '.join(f'{x:.3g}' for x in values)}".strip() for name, values in series)
    return f"{measure.what}{axes.get(measure.axis, '')}: {parts}."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _more(claim: Claim, v: View) -> str:
    """What else belongs to a claim."""
    if claim.id in ("S001-35", "S001-36", "S001-37"):
        others = {"S001-35": (DEL, INC, AVG), "S001-36": (EWMA,), "S001-37": (DEL, INC, AVG, EWMA)}[claim.id]
        loss = LOSSES[1] if claim.id == "S001-37" else LOSSES[0]
        both = [(m.label, average_gains(v, loss, m)) for m in others]
        listed = "; ".join(f"{name} {a:z.0f} and {b:z.0f}" for name, (a, b) in both)
        return f" Mean of the gains, and gain of the mean throughputs, %: {listed}."
    if claim.id in ("S001-33", "S001-34"):
        ties = [x for x in MEASURES[claim.id](v) if abs(x - 1) < TIE]
        return "".join(f" A ratio of {x:.6f} is next to a tie: it says nothing of an order." for x in ties)
    if claim.id in ("S001-11", "S001-12"):
        f = v.fs[0]
        place = Single(f, *FIGURES["50 ms, 0.2 % loss"])
        bound = math.sqrt(1.5 / RATE_OF_LOSS) / (0.4 * f + 0.004)
        ours = v.throughput(AVG_DEV, place)
        return (
            f" Losses alone bound any TCP that halves its window to about sqrt(1.5 / p) / RTT = {bound:.0f} packets/s "
            f"at f = {f:.1f}, and AVG-DEV has {ours:.0f} kB/s in packets of 1 kB: there is no room for such gains."
        )
    return ""


def _tried(claim: Claim, made: Made) -> tuple[str, ...]:
    """What the claim's number becomes with each other choice: those that make it hold, and the range of the others."""
    if claim.id in ("S001-38", "S001-50"):
        return ()
    listed = ON_THE_SINGLE_PATH if claim.id in OF_THE_SINGLE_PATH else ON_TWO_PATHS
    measure = MEASURES[claim.id]
    ours = measure(made.probe(OURS))
    each = [(choice, measure(made.probe(choice))) for choice in listed]
    held, others = [], []
    seeds = f"{made.probe_seeds} seed{'s' if made.probe_seeds > 1 else ''}"
    for choice, measured in each:
        if claim.accepts(measured):
            held.append(f"If {choice.label}, it would hold: {_numbers(measured)} ({seeds}).")
        elif measured != ours:
            others.append(measured)
    if not others:
        return tuple(held)
    ranges = " and ".join(f"{min(values):.3g} to {max(values):.3g}" for values in zip(*others, strict=True))
    more = "other choices" if held else "choices made otherwise"
    return (*held, f"It differs with {len(others)} {more}, too: {ranges} (tables below).")


def _numbers(values: Sequence[float]) -> str:
    return " and ".join(f"{value:.3g}" for value in values)
