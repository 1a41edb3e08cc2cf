"""All data that the claims need, from runs under a reading of the paper."""

from __future__ import annotations

from dataclasses import replace

from ackclock.papers.paper import Work
from ackclock.runs.trial import Ran, Trial

from .curves import NONE, ONE, RIS, SENDERS, SYN, Changes, Curve, Family, arrived, delays, point
from .measures import LONG, SHORT, View
from .window_trace import window_trace

UNTIL_D: Changes = (("run.duration", "10.21512 s"),)
"""Packets at R2 by 10.2 s are at D 15.12 ms later: 0.12 ms of transmission and 15 ms of delay."""


def run(work: Work) -> tuple[View, dict[Trial, Ran]]:
    """Run a view in which the number of round trips is the requested number of seeds; return it with its runs.

    Raises:
        OSError, ScenarioError, ValueError: see ``Work.run``.
    """
    n = work.effort.seeds
    every = delays(n)
    families = [Family(sender, RIS, every) for sender in SENDERS]
    arrivals = {sender: [point(sender, NONE, delay, UNTIL_D) for delay in every] for sender in SENDERS}
    trials = [t for family in families for t in family.trials] + [t for ts in arrivals.values() for t in ts]
    ran = work.run("every RI", trials, ONE)
    view = View(
        {family.sender: _counted(Curve.of(family, ran), work) for family in families},
        {
            (sender, ri): [window_trace(work, point(sender, ri, delay)) for delay in every]
            for sender in SENDERS
            for ri in (SHORT, LONG)
        },
        {sender: [arrived(ran[one].runs[0]) - SYN for one in trials] for sender, trials in arrivals.items()},
        range(n),
    )
    return view, ran


def _counted(curve: Curve, work: Work) -> Curve:
    """The curve with throughput as the reading counts it where packets are reordered."""
    return replace(curve, normalised=curve.arriving) if work.reading["counted"] == "packets" else curve
