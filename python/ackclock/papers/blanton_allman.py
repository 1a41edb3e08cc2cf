"""Blanton & Allman 2002: settings and runs of the figures, and Figures 2 and 3 beside ns-2.

What plain SACK TCP loses to packets that change places in a queue; ``blanton_allman_schemes`` has what helps.
"""

from __future__ import annotations

import csv
import hashlib
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

import ackclock
from ackclock.papers.measure import Comparison, Mean, Median

KEY = "blanton-allman-2002"
STACK = "sack-ff96"
SCENARIOS = {"ns2": "scenario-ns2.toml", "paper": "scenario-paper.toml"}
"""The two readings of the paper."""

SWAPS = (0, 1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 25, 30)
"""Figures 2(a), 3(a): the axes' values are lost, the grid is ours."""
SWEEP_A_GAPS_S = (1.0, 8.0)
GAPS_S = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Figures 2(b), 3(b)."""
SWEEP_B_SWAPS = 12

TOLERANCES = {"throughput": 0.03, "needless": 0.05}


@dataclass(frozen=True)
class Scheme:
    """A sender: a stack, and parameters beyond those of the scenario."""

    label: str
    """Its name in figures and tables."""
    stack: str
    set: tuple[tuple[str, str], ...] = ()
    """Paths and values, as ``--set`` takes them."""


STOCK = Scheme("stock sack1", STACK)


@dataclass(frozen=True)
class Setting:
    """A point of the figures."""

    reading: str
    swaps: int
    gap_s: float
    """Mean time between swap events; without swaps it means nothing and is 0."""
    scheme: Scheme = STOCK


def setting(reading: str, swaps: int, gap_s: float, scheme: Scheme = STOCK) -> Setting:
    """The setting with these values."""
    return Setting(reading, swaps, gap_s if swaps else 0.0, scheme)


def settings() -> list[Setting]:
    """Every point of Figures 2 and 3 once, in the order in which they are run."""
    sweep_a = [(swaps, gap) for gap in SWEEP_A_GAPS_S for swaps in SWAPS]
    sweep_b = [(SWEEP_B_SWAPS, gap) for gap in GAPS_S]
    return list(dict.fromkeys(setting(r, *point) for r in SCENARIOS for point in sweep_a + sweep_b))


def scenario(text: str, swaps: int, gap_s: float, seeds: int) -> str:
    """A scenario file's text with other swaps, another mean gap (none without swaps) and so many seeds.

    Raises:
        ValueError: the text has not exactly one place for one of them.
    """

    def put(text: str, pattern: str, value: str) -> str:
        changed, places = re.subn(pattern, value, text, flags=re.MULTILINE)
        if places != 1:
            raise ValueError(f"{places} places in the scenario match {pattern}, 1 is needed")
        return changed

    text = put(text, r"^seeds = \{.*?\}", f"seeds = {{ first = 1, count = {seeds} }}")
    if swaps == 0:
        return put(text, r"^elements = \[.*\]", "elements = []")
    text = put(text, r"(?<=kind = \"swap\", mode = )(\"\w+\"), count = \d+", rf"\1, count = {swaps}")
    return put(text, r"exponential = \"[^\"]*\"", f'exponential = "{round(gap_s * 1000)} ms"')


@dataclass
class Point:
    """The runs of one setting."""

    setting: Setting
    runs: list[dict[str, Any]] = field(repr=False)
    document: dict[str, Any] = field(default_factory=dict, repr=False)
    """The scenario that ran, as TOML has it."""

    def values(self, key: str) -> list[float]:
        """A number of each run's only flow, in the order of the seeds."""
        return [float(run["flows"][0][key]) for run in self.runs]

    def mean(self, number: Callable[[dict[str, Any]], float]) -> Mean:
        """Over the runs, of what ``number`` takes out of a run's only flow."""
        return Mean.of([number(run["flows"][0]) for run in self.runs])

    @property
    def throughput(self) -> Mean:
        """Acknowledged payload, bytes a second."""
        return self.mean(itemgetter("throughput_bytes_per_s"))

    @property
    def needless(self) -> Mean:
        """Retransmissions of data of which an earlier copy was dropped nowhere, a run."""
        return self.mean(itemgetter("needless_retransmissions"))

    @property
    def identity(self) -> str:
        """Says which runs these are: a hash over the identities of scenario, stack and seed."""
        return digest([run["identity"] for run in self.runs])

    def row(self) -> dict[str, object]:
        """As a line of points.csv."""
        throughput, needless = self.throughput, self.needless
        median = Median.of(self.values("needless_retransmissions"))
        beyond = self.mean(lambda flow: flow["retransmissions"] - flow["data_drops"])
        row: dict[str, object] = {
            "reading": self.setting.reading,
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


def digest(parts: list[str]) -> str:
    """A short hash over strings."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def provenance(points: Sequence[Point], more: str = "") -> str:
    """From what a figure was made."""
    first, last = (points[0].runs[i]["seed"] for i in (0, -1))
    runs = digest([point.identity for point in points])
    return f"Ackclock {ackclock.__version__}, seeds {first} to {last}, runs {runs}" + (f"; {more}" if more else "")


def run(
    folder: Path,
    every: Sequence[Setting],
    seeds: int,
    progress: Callable[[float], object],
    duration_s: int | None = None,
) -> dict[Setting, Point]:
    """Run these points; ``progress`` is called with the share that is done.

    Args:
        folder: where the scenarios are.
        every: the points.
        seeds: runs of each.
        progress: gets a number from 0 to 1.
        duration_s: simulated seconds of a run, instead of the scenario's.

    Raises:
        OSError: a scenario is missing in ``folder``.
        ScenarioError, ValueError: a scenario there makes no sense.
    """
    texts = {reading: (folder / file).read_text(encoding="utf-8") for reading, file in SCENARIOS.items()}
    points = {}
    for done, s in enumerate(every):
        text = scenario(texts[s.reading], s.swaps, s.gap_s, seeds)
        if duration_s is not None:
            text = re.sub(r'^duration = "[^"]*"', f'duration = "{duration_s} s"', text, flags=re.MULTILINE)

        def told(share: float, done: int = done) -> object:
            return progress((done + share) / len(every))

        name = str(folder / SCENARIOS[s.reading])
        result = ackclock.run(text, name=name, stack=s.scheme.stack, set=dict(s.scheme.set), progress=told).to_dict()
        points[s] = Point(s, result["runs"], tomllib.loads(text))
    progress(1.0)
    return points


@dataclass(frozen=True)
class Reference:
    """ns-2's runs of one point of one of its sweeps (see the folder ``reference``)."""

    sweep: str
    swaps: int
    gap_s: float
    throughput: Mean
    needless: Mean


def references(folder: Path) -> list[Reference]:
    """Every point of both sweeps.

    Raises:
        OSError: the file is missing.
    """
    runs: dict[tuple[str, int, float], list[tuple[float, float]]] = {}
    with (folder / "reference" / "ns2.csv").open(encoding="utf-8", newline="") as file:
        for r in csv.DictReader(file):
            # The SYN counts in acked_pkts; it is no payload.
            throughput = (int(r["acked_pkts"]) - 1) * 1460 / 600
            needless = int(r["retransmits"]) - int(r["drops"])
            at = (r["label"], int(r["swaps"]), float(r["mean_interval_s"]))
            runs.setdefault(at, []).append((throughput, needless))
    return [
        Reference(*at, *(Mean.of(values) for values in zip(*pairs, strict=True))) for at, pairs in sorted(runs.items())
    ]


@dataclass(frozen=True)
class Compared:
    """One point of ns-2's beside ours."""

    reference: Reference
    throughput: Comparison
    needless: Comparison

    def row(self) -> dict[str, object]:
        """As a line of comparison.csv."""
        row: dict[str, object] = {
            "figure": self.reference.sweep,
            "swaps": self.reference.swaps,
            "mean_gap_s": self.reference.gap_s,
        }
        for name, digits in (("throughput", 1), ("needless", 3)):
            c: Comparison = getattr(self, name)
            for whose, mean in (("ours", c.ours), ("ns2", c.reference)):
                row[f"{name}_{whose}"] = f"{mean.value:.{digits}f}"
                row[f"{name}_{whose}_half_width_95"] = f"{mean.half:.{digits}f}"
                row[f"{name}_{whose}_runs"] = mean.n
            row[f"{name}_difference_percent"] = f"{100 * c.difference:.3f}"
            row[f"{name}_tolerance_percent"] = f"{100 * c.tolerance:g}"
            row[f"{name}_verdict"] = c.verdict.value
        return row


def compare(points: dict[Setting, Point], folder: Path) -> Iterator[Compared]:
    """Each of ns-2's points beside ours of the same set-up.

    Raises:
        OSError: the reference values are missing.
    """
    for r in references(folder):
        ours = points[setting("ns2", r.swaps, r.gap_s)]
        yield Compared(
            r,
            Comparison(ours.throughput, r.throughput, TOLERANCES["throughput"]),
            Comparison(ours.needless, r.needless, TOLERANCES["needless"]),
        )
