"""The points of Figures 2 and 3: the loss of throughput of plain SACK TCP when packets in a queue are swapped.

``schemes`` has the points of the other figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import ackclock
from ackclock.papers.paper import Work
from ackclock.runs.trial import Trial, Value, digest
from ackclock.statistics import Mean, Median

KEY = "blanton-allman-2002"
STACK = "sack-ff96"
SCENARIOS = {"ns2": "scenario-ns2.toml", "paper": "scenario-paper.toml"}
"""The set-up of our ns-2 runs, and the set-up that the paper describes."""

SWAPS = (0, 1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 25, 30)
"""Figures 2(a), 3(a): the values on the axes are lost; this grid is ours."""
SWEEP_A_GAPS_S = (1.0, 8.0)
GAPS_S = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Figures 2(b), 3(b)."""
SWEEP_B_SWAPS = 12


@dataclass(frozen=True)
class Scheme:
    """A sender: a stack, and parameters in addition to the scenario's."""

    label: str
    """Its name in figures and tables."""
    stack: str
    set: tuple[tuple[str, str], ...] = ()
    """Paths and values, in the form that ``--set`` takes."""


STOCK = Scheme("stock sack1", STACK)


@dataclass(frozen=True)
class Setting:
    """A point of the figures."""

    scenario: str
    """A key of ``SCENARIOS``."""
    swaps: int
    gap_s: float
    """Mean time between swap events; 0 and without meaning if there are no swaps."""
    scheme: Scheme = STOCK


def setting(scenario: str, swaps: int, gap_s: float, scheme: Scheme = STOCK) -> Setting:
    """The setting with these values."""
    return Setting(scenario, swaps, gap_s if swaps else 0.0, scheme)


def settings() -> list[Setting]:
    """Every point of Figures 2 and 3 once, in the order in which they are run."""
    sweep_a = [(swaps, gap) for gap in SWEEP_A_GAPS_S for swaps in SWAPS]
    sweep_b = [(SWEEP_B_SWAPS, gap) for gap in GAPS_S]
    return list(dict.fromkeys(setting(name, *point) for name in SCENARIOS for point in sweep_a + sweep_b))


def trial(s: Setting) -> Trial:
    """The trial of a point: the scenario with other swaps, or none, and another mean gap."""
    at = "link[1].elements"
    swaps: tuple[tuple[str, Value], ...] = (
        (f"{at}[0].count", s.swaps),
        (f"{at}[0].gap.exponential", f"{round(s.gap_s * 1000)} ms"),
    )
    return Trial(SCENARIOS[s.scenario], swaps if s.swaps else ((at, ()),), s.scheme.stack, s.scheme.set)


@dataclass
class Point:
    """The runs of one setting."""

    setting: Setting
    runs: list[dict[str, Any]] = field(repr=False)
    document: dict[str, Any] = field(default_factory=dict, repr=False)
    """The scenario that ran, as a TOML document."""
    _known: dict[str, list[float]] = field(default_factory=dict, init=False, repr=False)

    def values(self, key: str) -> list[float]:
        """A number of each run's only flow, in the order of the seeds."""
        if key not in self._known:
            self._known[key] = [float(run["flows"][0][key]) for run in self.runs]
        return self._known[key]

    def mean(self, number: Callable[[dict[str, Any]], float]) -> Mean:
        """The mean over the runs of ``number``, applied to a run's only flow."""
        return Mean.of([number(run["flows"][0]) for run in self.runs])

    @property
    def throughput(self) -> Mean:
        """Acknowledged payload, in bytes per second."""
        return self.mean(itemgetter("throughput_bytes_per_s"))

    @property
    def needless(self) -> Mean:
        """Retransmissions per run of data of which no earlier copy was dropped."""
        return self.mean(itemgetter("needless_retransmissions"))

    @property
    def identity(self) -> str:
        """A hash over the identities of scenario, stack and seed, which identifies the runs."""
        return digest([run["identity"] for run in self.runs])

    def row(self) -> dict[str, object]:
        """A line of points.csv."""
        throughput, needless = self.throughput, self.needless
        median = Median.of(self.values("needless_retransmissions"))
        beyond = self.mean(lambda flow: flow["retransmissions"] - flow["data_drops"])
        row: dict[str, object] = {
            "scenario": self.setting.scenario,
            "stack": self.setting.scheme.stack,
            "set": " ".join(f"{path}={value}" for path, value in self.setting.scheme.set) or None,
            "swaps": self.setting.swaps,
            "mean_gap_s": self.setting.gap_s or None,
            "seeds": len(self.runs),
            "throughput_bytes_per_s": f"{throughput.value:.1f}",
            "throughput_half_width_95": f"{throughput.half:.1f}",
            "needless": f"{needless.value:.3f}",
            "needless_half_width_95": f"{needless.half:.3f}",
            "needless_median": f"{median.value:g}",
            "needless_lower_quartile": f"{median.low:g}",
            "needless_upper_quartile": f"{median.high:g}",
            "needless_median_deviation": f"{median.deviation:g}",
            "retransmissions_minus_drops": f"{beyond.value:.3f}",
            "retransmissions_minus_drops_half_width_95": f"{beyond.half:.3f}",
        }
        for name in ("data_packets_sent", "retransmissions", "data_drops", "timeouts", "fast_recoveries"):
            row[name] = f"{self.mean(itemgetter(name)).value:.3f}"
        for name in ("swap_events", "swap_skipped"):
            row[name] = f"{sum(link[name] for run in self.runs for link in run['links']) / len(self.runs):.3f}"
        return {**row, "runs": self.identity, "version": ackclock.__version__}


def provenance(points: Sequence[Point], more: str = "") -> str:
    """The origin of a figure's data."""
    first, last = (points[0].runs[i]["seed"] for i in (0, -1))
    text = f"Ackclock {ackclock.__version__}, seeds {first} to {last}, runs {runs_of(points)}"
    return text + (f"; {more}" if more else "")


def command(scenario: str, scheme: Scheme = STOCK) -> str:
    """The command that runs a scheme's point at 12 swaps every 1 s, as in the scenario."""
    options = [f"--stack {scheme.stack}", *(f"--set {path}={value}" for path, value in scheme.set)]
    return " ".join([f"ackclock run papers/{KEY}/{SCENARIOS[scenario]}", *options])


def runs_of(points: Iterable[Point]) -> str:
    """A hash over the identities of all runs of these points."""
    return digest([point.identity for point in points])


def run(work: Work, every: Sequence[Setting]) -> dict[Setting, Point]:
    """Run these points under the reading of the paper.

    Raises:
        OSError: a scenario is missing, or a result cannot be stored.
        ScenarioError, ValueError: a scenario is invalid.
    """
    trials = {s: trial(s) for s in every}
    ran = work.run("figures and claims", list(trials.values()))
    return {s: Point(s, ran[t].runs, work.document(t)) for s, t in trials.items()}
