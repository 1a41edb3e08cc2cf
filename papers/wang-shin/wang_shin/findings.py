"""A verdict for every claim of Wang & Shin, and what other readings of its senders say to those that differ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ackclock.papers import claims
from ackclock.papers.claims import Claim, Finding, Verdict
from ackclock.papers.paper import Work
from ackclock.runs import trial

from . import first_recovery, forced, model, transfer
from .measures import (
    COURSE,
    FORCED,
    MEASURES,
    MODEL,
    RED,
    RESTS_ON_NEW_RENO,
    RESTS_ON_RR,
    TRANSFER,
    View,
)
from .notes import NOTES
from .points import (
    CLAIMED_PS,
    HOE,
    NEW_RENO,
    OTHERWISE,
    RFC_6582,
    RR,
    VARIANTS,
    Rules,
    Scheme,
    red,
    variant,
)

CLAIMS = "claims.csv"
PROBE_SEEDS = 100
"""Of the runs that see whether a claim hangs on how the senders are read."""


@dataclass(frozen=True)
class Switch:
    """A sender read, or Table 5 set up, otherwise."""

    label: str
    rr: Scheme = RR
    new_reno: Scheme = NEW_RENO
    rules: Rules = ()

    def touches(self, claim: str) -> bool:
        """Whether the claim looks at what is otherwise."""
        if self.rules:
            return claim in TRANSFER
        return claim in (RESTS_ON_RR if self.rr != RR else RESTS_ON_NEW_RENO)


SWITCHES = (
    *(Switch(f"RR: {label}", rr=variant(settings)) for label, settings in VARIANTS.items()),
    Switch("New-Reno has Hoe's form, which the paper cites (recovery = hoe)", new_reno=HOE),
    Switch("New-Reno is RFC 6582's (stack newreno)", new_reno=RFC_6582),
    *(Switch(label, rules=rules) for label, rules in OTHERWISE.items()),
)


def findings(view: View, parameters: Mapping[str, str], work: Work, every: int) -> list[Finding]:
    """Every claim of ``claims.csv``, judged.

    Args:
        view: the runs.
        parameters: what ran, for the claims that are parameters.
        work: where claims.csv is, and what runs the other readings where a claim differs.
        every: forced losses are run in every so many cases.

    Raises:
        OSError: a file of the paper's folder is missing.
        ValueError: claims.csv makes no sense.
    """
    listed = claims.read(work.folder / CLAIMS)
    found = [_finding(claim, view, parameters) for claim in listed]
    differing = {f.claim.id for f in found if f.verdict is Verdict.DIFFERS} & set(MEASURES)
    views = [(switch, _read(switch, view, work, differing, every)) for switch in SWITCHES]
    return [replace(f, tried=_tried(f.claim, views)) if f.claim.id in differing else f for f in found]


def _finding(claim: Claim, view: View, parameters: Mapping[str, str]) -> Finding:
    if claim.id in parameters:
        return claims.judge(claim, parameters[claim.id], note="Read back from the scenarios that ran.")
    measure = MEASURES[claim.id]
    measured = measure(view)
    note = NOTES[claim.id](view) if claim.id in NOTES else ""
    if claim.id in FORCED:
        return claims.judge(claim, measured, (None,) * len(measured), note)
    seeds = len(next(iter(view.ran.values())).runs)
    intervals = claims.resampled(lambda draw: measure(replace(view, draw=draw)), seeds)
    return claims.judge(claim, measured, intervals, note)


def _read(switch: Switch, view: View, work: Work, differing: Iterable[str], every: int) -> View:
    """The runs that the differing claims look at, with a sender read otherwise."""
    asked = {claim for claim in differing if switch.touches(claim)}
    rr, new_reno = switch.rr, switch.new_reno
    own = [scheme for scheme in (rr, new_reno) if scheme not in (RR, NEW_RENO)]
    seeds = min(work.effort.seeds, PROBE_SEEDS)
    trials = [red(scheme) for scheme in own] if asked & set(RED) else []
    if asked & set(MODEL):
        trials += model.points((rr,), CLAIMED_PS)
    if asked & set(TRANSFER):
        trials += transfer.trials(rr, switch.rules)
    effort = replace(work.effort, seeds=seeds)
    ran = trial.run(work.lab, f"claims that differ, {switch.label.split(' (')[0]}", work.folder, trials, effort)
    grid = view.grid
    if asked & set(FORCED):
        grid = forced.Grid({**grid.found, **forced.grid(work.folder, own, every).found})
    recoveries = dict(view.recoveries)
    if asked & set(COURSE):
        recoveries |= {scheme: first_recovery.first_recoveries(work.folder, scheme, seeds) for scheme in own}
    first = {t: one.drawn(range(seeds)) for t, one in view.ran.items()}
    return replace(
        view,
        ran={**first, **ran},
        grid=grid,
        recoveries=recoveries,
        rr=rr,
        new_reno=new_reno,
        rules=switch.rules,
        kept={},
    )


def _tried(claim: Claim, views: Sequence[tuple[Switch, View]]) -> tuple[str, ...]:
    """What the claim's numbers become with each reading; first those that make it hold."""
    tried: dict[bool, list[str]] = {True: [], False: []}
    for switch, view in views:
        if not switch.touches(claim.id):
            continue
        measured = MEASURES[claim.id](view)
        if any(math.isnan(value) for value in measured):
            tried[False].append(f"If {switch.label}, it cannot be measured: no run has all of what it speaks of.")
            continue
        holds = claim.accepts(measured)
        values = " and ".join(f"{value:.3g}" for value in measured)
        verdict = "it would hold" if holds else "it differs, too"
        tried[holds].append(f"If {switch.label}, {verdict}: {values}.")
    return (*tried[True], *tried[False])
