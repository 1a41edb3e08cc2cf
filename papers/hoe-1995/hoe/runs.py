"""The runs of Hoe's thesis, each a scenario with the changes of one section."""

from __future__ import annotations

import polars as pl

from ackclock.papers.paper import Work
from ackclock.runs.trial import Document, Trial, Value

from .sender_trace import SenderTrace

KEY = "hoe-1995"
DELAYED, EVERY, LOSSES = "scenario-delayed.toml", "scenario-every.toml", "scenario-losses.toml"
EIGHTH = ("congestion.eighth", "true")
PLAIN = ("congestion.eighth", "false")
SYN = ("flow[0].handshake", True)
ESTIMATE = (("startup", "bdp"), ("startup.ssthresh_segs", "64"))
"""§7.1 alone, with Net/2's recovery."""
LOST_AT_ONCE = tuple(range(1, 11))
FIRST_LOST = 60


def _limit(packets: int) -> tuple[tuple[str, Value], ...]:
    return (("link[0].queue.limit", f"{packets} packets"),)


def _losses(n: int) -> Trial:
    lost = tuple(range(FIRST_LOST, FIRST_LOST + 2 * n, 2))
    return Trial(LOSSES, (("link[0].elements[0].drop", lost),))


RUNS = {
    "delayed": Trial(DELAYED),
    "delayed plain": Trial(DELAYED, set=(PLAIN,)),
    "every": Trial(EVERY),
    "every eighth": Trial(EVERY, set=(EIGHTH,)),
    "buffer 20": Trial(DELAYED, _limit(20)),
    "buffer 20 plain": Trial(DELAYED, _limit(20), set=(PLAIN,)),
    "buffer 20 every": Trial(EVERY, _limit(20)),
    "45 ms": Trial(DELAYED, (("link[0].delay", "45 ms"),)),
    "55 ms": Trial(DELAYED, (("link[0].delay", "55 ms"),)),
    "estimate": Trial(DELAYED, (SYN,), set=(*ESTIMATE, PLAIN)),
    "estimate every": Trial(EVERY, set=ESTIMATE),
    "estimate eighth": Trial(DELAYED, (SYN,), set=ESTIMATE),
    "estimate every eighth": Trial(EVERY, set=(*ESTIMATE, EIGHTH)),
    "hoe": Trial(DELAYED, (SYN,), "hoe"),
    "hoe every": Trial(EVERY, (), "hoe"),
    "hoe eighth": Trial(DELAYED, (SYN,), "hoe", (EIGHTH,)),
    "recovery": Trial(DELAYED, (SYN,), "hoe", (("startup", "fixed"), ESTIMATE[1])),
    "recovery every": Trial(EVERY, (), "hoe", (("startup", "fixed"), ESTIMATE[1])),
    **{f"{n} lost": _losses(n) for n in LOST_AT_ONCE},
}
"""The runs by name. Without "every", ACKs are delayed, and the eighth is used unless "plain"; "every" has no eighth."""
FOUR = ("delayed", "delayed plain", "every eighth", "every")
"""The runs of §5.1 to §5.3."""


WITH_EIGHTH = {"estimate": "estimate eighth", "hoe": "hoe eighth", "estimate every": "estimate every eighth"}
"""Replacements for runs under readings in which chapter 7 uses the eighth (readings.toml, ``eighth-7``)."""


class View:
    """The events of each run, by name, under a reading of the thesis."""

    def __init__(self, work: Work) -> None:
        """``work`` makes the runs."""
        self.work = work
        self._seen: dict[str, SenderTrace] = {}

    def trial(self, name: str) -> Trial:
        """The run of this name."""
        with_eighth = self.work.reading["eighth-7"] == "in"
        return RUNS[WITH_EIGHTH.get(name, name) if with_eighth else name]

    def document(self, name: str) -> Document:
        """The scenario that it runs."""
        return self.work.document(self.trial(name))

    def __call__(self, name: str) -> SenderTrace:
        """Return the events of a run.

        Raises:
            OSError: the scenario is missing.
            ScenarioError, ValueError: the scenario is invalid.
        """
        if name not in self._seen:
            self._seen[name] = SenderTrace.of(self.events(name))
        return self._seen[name]

    def events(self, name: str) -> pl.DataFrame:
        """The run's trace."""
        return self.work.events(self.trial(name))


IN_THE_FILE: dict[tuple[str, Value], str] = {
    SYN: "s/^handshake = false/handshake = true/",
    **dict.fromkeys(_limit(20), 's/limit = "10 packets"/limit = "20 packets"/'),
}
"""The sed commands for changes in a scenario's text."""


def command(name: str) -> str:
    """The command for a run.

    Raises:
        KeyError: no command can make the run's change to its scenario.
    """
    trial = RUNS[name]
    file = f"papers/{KEY}/{trial.file}"
    options = [f"--stack {trial.stack}"] if trial.stack else []
    options += [f"--set {path}={value}" for path, value in trial.set]
    if not trial.changes:
        return " ".join(["ackclock run", file, *options])
    edits = "; ".join(IN_THE_FILE[change] for change in trial.changes)
    return " ".join([f"sed '{edits}' {file} | ackclock run -", *options])
