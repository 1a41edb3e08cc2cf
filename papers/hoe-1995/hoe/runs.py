"""The runs of Hoe's thesis, each a scenario with what a section changes, and the choices that it leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from ackclock.runs.trial import Trial, Value, events

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
    "hoe": Trial(DELAYED, (SYN,), "hoe"),
    "hoe every": Trial(EVERY, (), "hoe"),
    "hoe eighth": Trial(DELAYED, (SYN,), "hoe", (EIGHTH,)),
    "recovery": Trial(DELAYED, (SYN,), "hoe", (("startup", "fixed"), ESTIMATE[1])),
    "recovery every": Trial(EVERY, (), "hoe", (("startup", "fixed"), ESTIMATE[1])),
    **{f"{n} lost": _losses(n) for n in LOST_AT_ONCE},
}
"""Each run by its name. Without "every" ACKs are delayed and there is the eighth, unless "plain"; "every" has none."""
FOUR = ("delayed", "delayed plain", "every eighth", "every")
"""Those of §5.1 to §5.3."""


@dataclass(frozen=True)
class Choice:
    """What the thesis leaves open, made otherwise."""

    label: str
    changes: tuple[tuple[str, Value], ...] = ()
    set: tuple[tuple[str, str], ...] = ()
    file: str | None = None
    """Only runs of this scenario are touched; without it all but ``LOSSES``."""
    reno: bool = False
    """Only Net/2's own recovery has this parameter."""

    def touches(self, trial: Trial) -> bool:
        """Whether a run becomes another under this choice."""
        if trial.file == LOSSES or (self.reno and trial.stack == "hoe"):
            return False
        return self.file in (None, trial.file)

    def of(self, trial: Trial) -> Trial:
        """The run under this choice; its own changes win."""
        if not self.touches(trial):
            return trial
        own = {path for path, _ in trial.changes}
        changes = tuple((path, value) for path, value in self.changes if path not in own)
        return replace(trial, changes=(*trial.changes, *changes), set=(*trial.set, *self.set))


def service(rate: str) -> tuple[tuple[str, Value], ...]:
    """A bottleneck that counts 40 bytes of header, too."""
    return (("link[0].rate", rate), ("flow[0].header", "40 B"))


def access(delay: str) -> tuple[tuple[str, Value], ...]:
    """Such a delay on both access links."""
    return (("link[1].delay", delay), ("link[2].delay", delay))


WAITING = (("link[0].queue.limit_counts_service", False),)
CHOICES = (
    *(Choice(f"the slow clock ticks at {ms} ms", set=(("rto.phase", f"{ms} ms"),)) for ms in (100, 200, 300, 400)),
    *(
        Choice(f"the receiver's clock ticks at {ms} ms", (("flow[0].receiver.phase", f"{ms} ms"),), file=DELAYED)
        for ms in (0, 40, 120, 160)
    ),
    Choice("1.8 Mb/s and 40 bytes of header (4.73 ms a packet)", service("1.8 Mbps")),
    Choice("1.6 Mb/s and 40 bytes of header (5.32 ms a packet)", service("1.6 Mbps")),
    Choice("10 packets wait beside the one in transmission", WAITING),
    Choice("access links of 1 ms", access("1 ms")),
    Choice("access links of 2.5 ms", access("2.5 ms")),
    Choice("access links of 100 Mb/s", (("link[1].rate", "100 Mbps"), ("link[2].rate", "100 Mbps"))),
    Choice("a SYN before the data", (SYN,), file=DELAYED),
    Choice("no SYN before the data", (("flow[0].handshake", False),), file=EVERY),
    Choice("an initial window of 2", set=(("startup.initial_window_segs", "2"),)),
    Choice("ssthresh + 1 after a fast retransmit (§3.2.4)", set=(("recovery.inflate_segs", "1"),), reno=True),
    Choice("the ACK that ends a recovery opens no window", set=(("recovery.grow_on_exit", "false"),)),
    Choice("Net/2's header prediction", set=(("recovery.header_prediction", "true"),), reno=True),
    Choice("Net/2's integers for the timeout", set=(("rto.arithmetic", "integer"),)),
    Choice("real numbers for the timeout", set=(("rto.arithmetic", "real"),)),
    Choice("cwnd ends at 51200 bytes", set=(("congestion.max_window", "51200"),)),
)


class View:
    """What happened in each run, by the run's name; under a choice, if there is one."""

    def __init__(self, folder: Path, choice: Choice | None = None, instead: Mapping[str, Trial] | None = None) -> None:
        """``folder`` has the scenarios; ``instead`` other runs under names of ``RUNS``."""
        self.folder, self.choice, self.instead = folder, choice, instead or {}
        self._seen: dict[str, SenderTrace] = {}

    def trial(self, name: str) -> Trial:
        """The run of this name."""
        trial = self.instead.get(name, RUNS[name])
        return trial if self.choice is None else self.choice.of(trial)

    def __call__(self, name: str) -> SenderTrace:
        """What happened in it.

        Raises:
            OSError: the scenario is missing.
            ScenarioError, ValueError: it makes no sense.
        """
        if name not in self._seen:
            self._seen[name] = SenderTrace.of(self.events(name))
        return self._seen[name]

    def events(self, name: str) -> pl.DataFrame:
        """The run's trace."""
        return events(self.trial(name), self.folder)


IN_THE_FILE: dict[tuple[str, Value], str] = {
    SYN: "s/^handshake = false/handshake = true/",
    **dict.fromkeys(_limit(20), 's/limit = "10 packets"/limit = "20 packets"/'),
}
"""How sed makes a change in a scenario's text."""


def command(name: str) -> str:
    """The command that runs it.

    Raises:
        KeyError: it changes its scenario in a way that no command of ours makes.
    """
    trial = RUNS[name]
    file = f"papers/{KEY}/{trial.file}"
    options = [f"--stack {trial.stack}"] if trial.stack else []
    options += [f"--set {path}={value}" for path, value in trial.set]
    if not trial.changes:
        return " ".join(["ackclock run", file, *options])
    edits = "; ".join(IN_THE_FILE[change] for change in trial.changes)
    return " ".join([f"sed '{edits}' {file} | ackclock run -", *options])
