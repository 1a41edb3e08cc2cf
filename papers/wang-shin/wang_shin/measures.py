"""The number behind each claim of Wang & Shin, as a function of the runs."""

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
    LOSSES,
    NEW_RENO,
    PEER_WINDOWS,
    RR,
    SACK,
    TAHOE,
    TO_THE_LETTER,
    Scheme,
    red,
)
from .repair import Repair
from .transfer import PUBLISHED, RATE_KBPS, Transfer

Numbers = tuple[float, ...]
Draws = tuple[list[float], ...]
THROUGHPUT = "throughput_bytes_per_s"
PUBLISHED_ORDER = ("IV", "III", "II", "I")
LOSS_ORDER = ("IV", "II", "III", "I")


@dataclass(frozen=True)
class View:
    """All runs, or a resample of them."""

    ran: Mapping[Trial, Ran]
    grid: Grid
    recoveries: Mapping[Scheme, Sequence[FirstRecovery]]
    figure_3: Repair
    draw: Sequence[int] | None = None
    """The seeds to use. Default: all."""
    kept: dict[object, list[float]] = field(default_factory=dict, compare=False, repr=False)
    """Results computed from all runs; a view of other runs needs another cache."""

    @property
    def model(self) -> Model:
        """Figure 7."""
        return Model(self.ran, self.draw, self.kept)

    @property
    def transfer(self) -> Transfer:
        """Table 5."""
        return Transfer(self.ran, self.draw, self.kept)

    def kbps(self, scheme: Scheme) -> float:
        """Figure 6: the first flow's throughput in kb/s, mean over the seeds."""
        key = ("red", scheme)
        if key not in self.kept:
            self.kept[key] = [8 * bytes_per_s / 1000 for bytes_per_s in self.ran[red(scheme)].values(THROUGHPUT)]
        every = self.kept[key]
        return statistics.fmean(every if self.draw is None else [every[i] for i in self.draw])

    def of(self, scheme: Scheme) -> Sequence[FirstRecovery]:
        """Figure 6: the events for each seed."""
        every = self.recoveries[scheme]
        return every if self.draw is None else [every[i] for i in self.draw]


def _over(losses: int) -> Callable[[View], Numbers]:
    def ratios(v: View) -> Numbers:
        others = (TAHOE, NEW_RENO)
        return tuple(v.grid.ratio(RR, other, losses, window) for window in PEER_WINDOWS for other in others)

    return ratios


def _over_sack(losses: int) -> Callable[[View], Numbers]:
    return lambda v: tuple(v.grid.ratio(RR, SACK, losses, window) for window in PEER_WINDOWS)


def _course(pick: Callable[[FirstRecovery], float | None]) -> Callable[[View], Draws]:
    """The value in the runs in which the event occurred."""
    return lambda v: (first_recovery.there([pick(one) for one in v.of(RR)]),)


def _apart(one: FirstRecovery) -> float | None:
    return None if one.further_s is None or one.resent_s is None else one.resent_s - one.further_s


def _halves(v: View) -> Numbers:
    every = v.of(NEW_RENO)
    rounds = [one for each in every for one in each.halved]
    return 100 * sum(rounds) / max(len(rounds), 1), first_recovery.median([one.last_new for one in every])


def _bounds(v: View) -> Numbers:
    return tuple(v.model.largest(scheme, network) for network in ("open", "Table 3") for scheme in (RR, SACK))


def _counted(v: View) -> Numbers:
    open_window = PEER_WINDOWS[1]
    letter = [r for losses in LOSSES for r in v.grid.found[TO_THE_LETTER, losses, open_window]]
    built = [r for losses in LOSSES for r in v.grid.found[RR, losses, open_window]]
    unequal, _, exits = forced.ndup_unequal_to_actnum(letter)
    return unequal, forced.ndup_unequal_to_sent(built), exits


def _released(v: View) -> Numbers:
    counts = [repair.released for repair in v.grid.of(RR)]
    return min(counts), max(counts)


def _delay(case: str) -> Callable[[View], Draws]:
    return lambda v: (v.transfer.delays(case),)


def _loss(case: str) -> Callable[[View], Draws]:
    return lambda v: (v.transfer.losses(case),)


def _unused(v: View, case: str) -> tuple[list[float], list[float]]:
    """The throughput of all flows, and the unused capacity."""
    totals = v.transfer.totals(case)
    return totals, [RATE_KBPS - total for total in totals]


FORCED: dict[str, Callable[[View], Numbers]] = {
    "S004-03": _over(3),
    "S004-04": _over_sack(3),
    "S004-05": _over(6),
    "S004-06": _over_sack(6),
    "S004-07": lambda v: tuple(v.grid.ratio(TAHOE, NEW_RENO, 6, window) for window in PEER_WINDOWS),
    "S004-30": _counted,
    "S004-31": lambda v: (1, len(v.figure_3.rounds) - 1),
    "S004-32": _released,
}
"""Measures without randomness."""
MEANS: dict[str, Callable[[View], Numbers]] = {
    "S004-08": lambda v: (first_recovery.median([one.cwnd for one in v.of(RR)]),),
    "S004-13": lambda v: tuple(v.kbps(RR) / v.kbps(other) for other in (TAHOE, NEW_RENO, SACK)),
    "S004-14": _halves,
    "S004-15": _bounds,
    "S004-16": lambda v: (v.model.lead(RR, SACK),),
    "S004-17": lambda v: tuple(v.model.fall(scheme) for scheme in (RR, SACK)),
}
"""Measures over all seeds."""
DRAWS: dict[str, Callable[[View], Draws]] = {
    "S004-09": _course(_apart),
    "S004-10": _course(lambda one: one.exit_s),
    "S004-11": _course(lambda one: one.loss_s),
    "S004-12": _course(lambda one: one.second_exit_s),
    **{f"S004-{19 + 2 * n}": _delay(case) for n, case in enumerate(PUBLISHED)},
    **{f"S004-{20 + 2 * n}": _loss(case) for n, case in enumerate(PUBLISHED)},
    "S004-27": lambda v: v.transfer.steps(PUBLISHED_ORDER, "delays"),
    "S004-28": lambda v: (v.transfer.rates("I"), *_unused(v, "I")),
    "S004-29": lambda v: (v.transfer.rates("IV"), _unused(v, "IV")[1]),
    "S004-33": lambda v: v.transfer.steps(LOSS_ORDER, "losses"),
}
"""Measures of single runs in the paper: for each value of the claim, the values of all our runs that have one."""
MEASURES = (*FORCED, *MEANS, *DRAWS)
