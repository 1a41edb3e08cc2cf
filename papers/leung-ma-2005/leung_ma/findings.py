"""A verdict for every claim of Leung & Ma 2005."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ackclock.papers import claims
from ackclock.papers.claims import Claim, Finding, Verdict

from .measures import MEASURES, Measure, average_gains
from .points import (
    AVG,
    AVG_DEV,
    DEL,
    EWMA,
    FA,
    FIGURES,
    INC,
    LOSSES,
    SENSITIVE_FS,
    Single,
)
from .setup import THRESHOLDS, burst, costs, longest, state
from .view import Read, Runs, View

CLAIMS = "claims.csv"
UNCHECKED = {
    "S001-45": "§IV-A quotes a measurement by others; none of our runs can check it.",
}
MORE = frozenset({"S001-16", "S001-50"})
"""Claims about the largest of many ratios or means, which a single run can decide."""
RATE_OF_LOSS = 0.002


@dataclass(frozen=True)
class Made:
    """All results on which claims are judged."""

    figures: Runs
    seeds: int
    """The number of seeds for the figures."""
    more: Runs
    """Runs with more seeds, for ``MORE``."""
    more_seeds: int
    texts: Mapping[str, str]
    """The result of ``setup.parameters``."""
    read: Read = field(default_factory=Read)

    def view(self) -> View:
        """The runs of the figures."""
        return View(self.figures, self.read)


def findings(made: Made, folder: Path) -> list[Finding]:
    """Judge every claim of ``claims.csv``.

    Raises:
        OSError: a file of the paper's folder is missing.
        ValueError: a file is invalid.
    """
    return [judged(claim, made, folder) for claim in claims.read(folder / CLAIMS)]


def judged(claim: Claim, made: Made, folder: Path) -> Finding:
    """Judge one claim.

    Raises:
        OSError, ValueError: see ``findings``.
    """
    if claim.id in UNCHECKED:
        return Finding(claim, Verdict.UNCHECKED, note=UNCHECKED[claim.id])
    if claim.id in made.texts:
        return claims.judge(claim, made.texts[claim.id], note="Read from the scenarios and stacks that ran.")
    if claim.id == "S001-44":
        return _burst(claim, folder)
    if claim.id == "S001-42":
        return Finding(claim, Verdict.UNCHECKED, note=_instructions(folder))
    if claim.id in ("S001-40", "S001-41", "S001-43"):
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
    """The finding for Table 3, and for §IV-C's counters."""
    if claim.id == "S001-43":
        names = state(folder)
        note = (
            f"This counts the variables that our rule keeps from one ACK to the next ({', '.join(names)}), not its six "
            "constants nor what any SACK sender has: the window, the round trip, the timeout and the run of duplicates."
        )
        return claims.judge(claim, (float(len(names)),), (None,), note)
    row = costs(folder)[(AVG_DEV if claim.id == "S001-40" else FA).stack]
    note = "The threshold's own state, a full histogram included (reference/cost.csv)."
    return claims.judge(claim, (float(row["state_bytes"]),), (None,), note)


def _instructions(folder: Path) -> str:
    """A remark on Table 3's times."""
    rows = costs(folder)
    ours, theirs = rows[AVG_DEV.stack], rows[FA.stack]
    per_event = float(theirs["instructions_per_event"]) / float(ours["instructions_per_event"])
    return (
        "The paper's times are those of ns-2's code on a machine of 2005; ours cannot be compared with them. With our "
        f"code a whole ACK takes {float(ours['instructions_per_ack']):.0f} instructions with AVG-DEV and "
        f"{float(theirs['instructions_per_ack']):.0f} with FA: only a reordering event touches the histogram. In "
        f"the threshold's rule alone, an event takes {per_event:.2f} times as many (reference/README.md)."
    )


def _measured(claim: Claim, made: Made) -> Finding:
    """The finding for a claim about runs."""
    measure, view, seeds = MEASURES[claim.id], made.view(), made.seeds
    if claim.id in MORE:
        view, seeds = View(made.more, made.read), made.more_seeds
    measured = measure(view)
    intervals: tuple[tuple[float, float] | None, ...] = (None,) * len(measured)
    if seeds > 1:
        # Few runs have few different resamples, so their order says nothing.
        each = cache(lambda draw: measure(View(view.runs, made.read, draw)))
        drawn = claims.resampled(lambda draw: each(tuple(sorted(draw))), seeds)
        # On two paths without loss there is no randomness.
        intervals = tuple(interval if interval[0] < interval[1] else None for interval in drawn)
    return claims.judge(claim, measured, intervals, f"{_details(measure, view)}{_more(claim, view)}")


def _details(measure: Measure, v: View) -> str:
    """The values behind the claim's numbers."""
    axes = {
        "f": f" at f = {_listed([f'{f:.1f}' for f in v.fs])}",
        "tuned": f" at f = {_listed([f'{f:.1f}' for f in SENSITIVE_FS])}",
        "share": f" with {v.shares[0]} to {v.shares[-1]} % over R3",
    }
    series = measure.series(v)
    parts = "; ".join(f"{name} {', '.join(f'{x:.3g}' for x in values)}".strip() for name, values in series)
    values = f"{measure.what}{axes[measure.axis]}" if measure.axis in axes else measure.what.removesuffix(",")
    return f"{values}: {parts}."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _more(claim: Claim, v: View) -> str:
    """Further remarks on a claim."""
    if claim.id in ("S001-35", "S001-36", "S001-37"):
        others = {"S001-35": (DEL, INC, AVG), "S001-36": (EWMA,), "S001-37": (DEL, INC, AVG, EWMA)}[claim.id]
        loss = LOSSES[1] if claim.id == "S001-37" else LOSSES[0]
        both = [(m.label, average_gains(v, loss, m)) for m in others]
        listed = "; ".join(f"{name} {a:z.0f} and {b:z.0f}" for name, (a, b) in both)
        return f" Mean of the gains, and gain of the mean throughputs, %: {listed}."
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
