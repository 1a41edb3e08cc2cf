"""The number behind each claim of Wang & Shin, as a function of the runs and of how the senders are read."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ackclock.runs.trial import Ran, Trial

from . import first_recovery, forced
from .first_recovery import FirstRecovery
from .forced import Grid
from .model import Model
from .points import (
    LETTER,
    LOSSES,
    NEW_RENO,
    PEER_WINDOWS,
    RR,
    SACK,
    TAHOE,
    Rules,
    Scheme,
    red,
    variant,
)
from .repair import Repair
from .transfer import RATE_KBPS, Transfer

Numbers = tuple[float, ...]
THROUGHPUT = "throughput_bytes_per_s"
PUBLISHED_ORDER = ("IV", "III", "II", "I")
LOSS_ORDER = ("IV", "II", "III", "I")


@dataclass(frozen=True)
class View:
    """All runs, or a draw of them; with the senders of the paper, or others in their place."""

    ran: Mapping[Trial, Ran]
    grid: Grid
    recoveries: Mapping[Scheme, Sequence[FirstRecovery]]
    figure_3: Repair
    draw: Sequence[int] | None = None
    """These seeds; None: all."""
    rr: Scheme = RR
    new_reno: Scheme = NEW_RENO
    rules: Rules = ()
    """Table 5's other set-up."""
    kept: dict[object, list[float]] = field(default_factory=dict, compare=False, repr=False)
    """What was computed from all runs; a view of other runs needs another."""

    @property
    def model(self) -> Model:
        """Figure 7."""
        return Model(self.ran, self.draw, self.kept)

    @property
    def transfer(self) -> Transfer:
        """Table 5."""
        return Transfer(self.ran, self.draw, self.rr, self.rules, self.kept)

    def kbps(self, scheme: Scheme) -> float:
        """Figure 6: the first flow's throughput, kb/s, mean over the seeds."""
        key = ("red", scheme)
        if key not in self.kept:
            self.kept[key] = [8 * bytes_per_s / 1000 for bytes_per_s in self.ran[red(scheme)].values(THROUGHPUT)]
        every = self.kept[key]
        return statistics.fmean(every if self.draw is None else [every[i] for i in self.draw])

    def of(self, scheme: Scheme) -> Sequence[FirstRecovery]:
        """Figure 6: what happened in each seed."""
        every = self.recoveries[scheme]
        return every if self.draw is None else [every[i] for i in self.draw]

    def median(self, pick: Callable[[FirstRecovery], float | None]) -> float:
        """Of Robust Recovery's first flow."""
        return first_recovery.median([pick(one) for one in self.of(self.rr)])


def _over(losses: int) -> Callable[[View], Numbers]:
    def ratios(v: View) -> Numbers:
        others = (TAHOE, v.new_reno)
        return tuple(v.grid.ratio(v.rr, other, losses, window) for window in PEER_WINDOWS for other in others)

    return ratios


def _over_sack(losses: int) -> Callable[[View], Numbers]:
    return lambda v: tuple(v.grid.ratio(v.rr, SACK, losses, window) for window in PEER_WINDOWS)


def _further(v: View) -> Numbers:
    def apart(one: FirstRecovery) -> float | None:
        return None if one.further_s is None or one.resent_s is None else one.resent_s - one.further_s

    return (v.median(apart),)


def _second(v: View) -> Numbers:
    every = v.of(v.rr)
    there = sum(one.second_exit_s is not None for one in every)
    return v.median(lambda one: one.second_exit_s), 100 * there / len(every)


def _halves(v: View) -> Numbers:
    every = v.of(v.new_reno)
    rounds = [one for each in every for one in each.halved]
    return 100 * sum(rounds) / max(len(rounds), 1), first_recovery.median([one.last_new for one in every])


def _bounds(v: View) -> Numbers:
    return tuple(v.model.largest(scheme, network) for network in ("open", "Table 3") for scheme in (v.rr, SACK))


def _counted(v: View) -> Numbers:
    open_window = PEER_WINDOWS[1]
    letter = [r for losses in LOSSES for r in v.grid.found[variant(LETTER), losses, open_window]]
    built = [r for losses in LOSSES for r in v.grid.found[RR, losses, open_window]]
    unequal, _, exits = forced.ndup_unequal_to_actnum(letter)
    return unequal, forced.ndup_unequal_to_sent(built), exits


def _released(v: View) -> Numbers:
    counts = [repair.released for repair in v.grid.of(v.rr)]
    return min(counts), max(counts)


def _delay(case: str) -> Callable[[View], Numbers]:
    return lambda v: (statistics.median(v.transfer.delays(case)),)


def _loss(case: str) -> Callable[[View], Numbers]:
    return lambda v: (statistics.median(v.transfer.losses(case)),)


def _alike(v: View) -> Numbers:
    total = v.transfer.mean(v.transfer.totals("I"))
    return v.transfer.mean(v.transfer.rates("I")), total, RATE_KBPS - total


def _among(v: View) -> Numbers:
    total = v.transfer.mean(v.transfer.totals("IV"))
    return v.transfer.mean(v.transfer.rates("IV")), RATE_KBPS / 20, RATE_KBPS - total


FORCED: dict[str, Callable[[View], Numbers]] = {
    "S004-03": _over(3),
    "S004-04": _over_sack(3),
    "S004-05": _over(6),
    "S004-06": _over_sack(6),
    "S004-07": lambda v: tuple(v.grid.ratio(TAHOE, v.new_reno, 6, window) for window in PEER_WINDOWS),
    "S004-30": _counted,
    "S004-31": lambda v: (1, len(v.figure_3.rounds) - 1),
    "S004-32": _released,
}
"""Nothing is drawn."""
COURSE: dict[str, Callable[[View], Numbers]] = {
    "S004-08": lambda v: (v.median(lambda one: one.cwnd),),
    "S004-09": _further,
    "S004-10": lambda v: (v.median(lambda one: one.exit_s),),
    "S004-11": lambda v: (v.median(lambda one: one.loss_s),),
    "S004-12": _second,
    "S004-14": _halves,
}
RED: dict[str, Callable[[View], Numbers]] = {
    "S004-13": lambda v: tuple(v.kbps(v.rr) - v.kbps(other) for other in (TAHOE, v.new_reno, SACK)),
}
MODEL: dict[str, Callable[[View], Numbers]] = {
    "S004-15": _bounds,
    "S004-16": lambda v: (v.model.lead(v.rr, SACK),),
    "S004-17": lambda v: tuple(v.model.fall(scheme) for scheme in (v.rr, SACK)),
}
TRANSFER: dict[str, Callable[[View], Numbers]] = {
    **{f"S004-{19 + 2 * n}": _delay(case) for n, case in enumerate(("I", "II", "III", "IV"))},
    **{f"S004-{20 + 2 * n}": _loss(case) for n, case in enumerate(("I", "II", "III", "IV"))},
    "S004-27": lambda v: v.transfer.steps(PUBLISHED_ORDER, "delays"),
    "S004-28": _alike,
    "S004-29": _among,
    "S004-33": lambda v: v.transfer.steps(LOSS_ORDER, "losses"),
}
MEASURES = FORCED | COURSE | RED | MODEL | TRANSFER
RESTS_ON_NEW_RENO = {"S004-03", "S004-05", "S004-07", "S004-13", "S004-14"}
RESTS_ON_RR = set(MEASURES) - {"S004-07", "S004-14", "S004-19", "S004-20", "S004-28", "S004-30", "S004-31"}
