"""Everything that the claims look at, run: as the scenario has it, or with a choice of ours made otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ackclock.papers.paper import Work
from ackclock.runs import trial
from ackclock.runs.trial import Ran, Trial

from .curves import (
    NONE,
    ONE,
    RIS,
    SENDERS,
    Changes,
    Curve,
    Family,
    Sender,
    Set,
    arrived,
    delays,
    point,
)
from .measures import LONG, SHORT, View
from .window_trace import window_trace

UNTIL_D: Changes = (("run.duration", "10.21512 s"),)
"""What is at R2 by 10.2 s is at D 15.12 ms later: 0.12 ms of transmission and 15 ms."""


@dataclass(frozen=True)
class Switch:
    """A choice of ours, made otherwise."""

    label: str
    """What is otherwise, as it follows "if"."""
    changes: Changes = ()
    """Of the scenario."""
    set: Set = ()
    """Of the senders."""
    senders: Sequence[Sender] = SENDERS
    """Those that ``set`` is for."""

    def of(self, sender: Sender) -> Set:
        """What a sender has beyond its own."""
        return self.set if sender in self.senders else ()


AS_IT_IS = Switch("as in the scenario")


@dataclass(frozen=True)
class Wanted:
    """The points of a view."""

    switch: Switch
    families: Sequence[Family]
    arrivals: dict[Sender, list[Trial]]
    traces: dict[tuple[Sender, int], list[Trial]]

    @classmethod
    def of(cls, switch: Switch, n: int) -> Wanted:
        """With so many delays."""
        every = delays(n)

        def one(sender: Sender, ri: int, delay: str, more: Changes = ()) -> Trial:
            return point(sender, ri, delay, (*switch.changes, *more), switch.of(sender))

        return cls(
            switch,
            [Family(sender, RIS, every, switch.changes, switch.of(sender)) for sender in SENDERS],
            {sender: [one(sender, NONE, delay, UNTIL_D) for delay in every] for sender in SENDERS},
            {(s, ri): [one(s, ri, delay) for delay in every] for s in SENDERS for ri in (SHORT, LONG)},
        )

    @property
    def trials(self) -> list[Trial]:
        """Those that the laboratory runs."""
        return [t for family in self.families for t in family.trials] + [t for ts in self.arrivals.values() for t in ts]


def run(work: Work, what: str, switches: Sequence[Switch], n: int) -> tuple[list[View], dict[Trial, Ran]]:
    """Run a view for each of these, with so many delays; answers them, and their runs.

    Raises:
        OSError, ScenarioError, ValueError: see ``trial.run``.
    """
    wanted = [Wanted.of(switch, n) for switch in switches]
    ran = trial.run(work.lab, what, work.folder, [t for w in wanted for t in w.trials], ONE)
    return [_view(w, ran, work, n) for w in wanted], ran


def _view(wanted: Wanted, ran: dict[Trial, Ran], work: Work, n: int) -> View:
    syn = wanted.families[0].syn
    return View(
        {family.sender: Curve.of(family, ran) for family in wanted.families},
        {key: [window_trace(one, work.folder) for one in trials] for key, trials in wanted.traces.items()},
        {sender: [arrived(ran[one].runs[0]) - syn for one in trials] for sender, trials in wanted.arrivals.items()},
        range(n),
    )
