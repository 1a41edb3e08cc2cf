"""ns-2's runs of Figures 2 and 3, compared with ours."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ackclock.papers.paper import Reference as Summary
from ackclock.papers.paper import Table
from ackclock.statistics import Comparison, Mean, Verdict

from .points import Point, Setting, setting

TOLERANCES = {"throughput": 0.03, "needless": 0.05}


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
            # acked_pkts includes the SYN, which is not payload.
            throughput = (int(r["acked_pkts"]) - 1) * 1460 / 600
            needless = int(r["retransmits"]) - int(r["drops"])
            at = (r["label"], int(r["swaps"]), float(r["mean_interval_s"]))
            runs.setdefault(at, []).append((throughput, needless))
    return [
        Reference(*at, *(Mean.of(values) for values in zip(*pairs, strict=True))) for at, pairs in sorted(runs.items())
    ]


@dataclass(frozen=True)
class Compared:
    """One of ns-2's points compared with ours."""

    reference: Reference
    throughput: Comparison
    needless: Comparison

    def row(self) -> dict[str, object]:
        """A line of comparison.csv."""
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


def compare(points: Mapping[Setting, Point], folder: Path) -> Iterator[Compared]:
    """Compare each of ns-2's points with ours of the same set-up.

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


def summary(compared: Sequence[Compared]) -> Summary:
    """Summarise the agreement, and list all points."""
    comparisons = {name: [getattr(c, name) for c in compared] for name in TOLERANCES}
    sentences = [
        _agreement("Throughput", comparisons["throughput"]),
        _agreement("Needless retransmissions", comparisons["needless"]),
    ]
    good = all(c.verdict.good for each in comparisons.values() for c in each)
    head = ["sweep", "swaps", "mean gap, s"]
    for name in ("throughput, kB/s", "needless"):
        head += [f"{name}: ours", "ns-2", "difference", "verdict"]
    return Summary(sentences, good, Table("Compared with ns-2.35", head, [_cells(c) for c in compared]))


def _agreement(what: str, comparisons: Sequence[Comparison]) -> str:
    count = {v: sum(c.verdict is v for c in comparisons) for v in Verdict}
    good = sum(c.verdict.reproduced for c in comparisons)
    how = ", ".join(f"{n} {v.value}" for v, n in count.items() if n)
    worst = max(abs(c.difference) for c in comparisons)
    return (
        f"{what} (tolerance {100 * comparisons[0].tolerance:g} %): {good} of {len(comparisons)} points reproduced "
        f"({how}); largest difference {100 * worst:.1f} %"
    )


def _cells(compared: Compared) -> list[str]:
    r = compared.reference
    cells = [r.sweep, str(r.swaps), f"{r.gap_s:g}"]
    for c, scale in ((compared.throughput, 1e-3), (compared.needless, 1.0)):
        cells += [f"{scale * m.value:.1f} ± {scale * m.half:.1f}" for m in (c.ours, c.reference)]
        cells += [f"{100 * c.difference:+z.1f} %", c.verdict.value]
    return cells
