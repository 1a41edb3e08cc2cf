"""ns-2's runs of a plain SACK sender on Leung & Ma's single path, compared with ours."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from ackclock.papers.paper import Reference, Table
from ackclock.runs.trial import Ran, Trial
from ackclock.statistics import Comparison, Mean, Verdict

from .points import Changes

SCENARIO = "scenario-ns2.toml"
DELAYED: Changes = (("flow[0].receiver.ack", "delayed"), ("flow[0].receiver.delay", "100 ms"))
TOLERANCE = 0.03
SEEDS = 240
"""The number of our seeds. With ns-2's 60 the standard error of a difference of throughputs is at most 1.2 %, so chance
alone rarely makes 3 %."""
LEAST_RUNS = 5
"""Points with fewer runs of ns-2 are judged together: three runs say almost nothing about the spread."""


@dataclass(frozen=True)
class Point:
    """A set-up of ns-2's runs."""

    f: float
    every_ms: int
    loss: float
    ack: str
    """``every`` packet, or ``del``: delayed ACKs of 100 ms."""

    @property
    def trial(self) -> Trial:
        """Our trial with the same set-up."""
        mean, path = f"{200 * self.f:.3f} ms", "link[1].elements"
        changes: Changes = (
            (f"{path}[0].p", self.loss),
            (f"{path}[1].mean", mean),
            (f"{path}[1].deviation", f"{200 * self.f / 3:.3f} ms"),
            (f"{path}[1].every", f"{self.every_ms} ms"),
            ("link[1].back.delay", mean),
        )
        return Trial(SCENARIO, (*changes, *(DELAYED if self.ack == "del" else ())))


@dataclass(frozen=True)
class Compared:
    """One of ns-2's points compared with ours."""

    point: Point
    throughput: Comparison
    """In kB/s."""
    resent: Comparison
    """Retransmissions per run; without loss all of them are needless."""
    recoveries: Comparison

    def cells(self) -> list[str]:
        """A line of the table."""
        p = self.point
        cells = [f"{p.f:.1f}", f"{p.every_ms} ms", f"{100 * p.loss:g} %", "delayed" if p.ack == "del" else "every"]
        for c in (self.throughput, self.resent, self.recoveries):
            cells += [f"{m.value:.1f} ± {m.half:.1f}" for m in (c.ours, c.reference)]
            cells += [f"{100 * c.difference:+z.1f} %", c.verdict.value]
        return cells

    def row(self) -> dict[str, object]:
        """A line of comparison.csv."""
        p = self.point
        row: dict[str, object] = {"f": p.f, "every_ms": p.every_ms, "loss": p.loss, "ack": p.ack}
        for name in NUMBERS:
            c: Comparison = getattr(self, name)
            for whose, mean in (("ours", c.ours), ("ns2", c.reference)):
                row[f"{name}_{whose}"] = f"{mean.value:.3f}"
                row[f"{name}_{whose}_half_width_95"] = f"{mean.half:.3f}"
                row[f"{name}_{whose}_runs"] = mean.n
            row[f"{name}_difference_percent"] = f"{100 * c.difference:.3f}"
            row[f"{name}_verdict"] = c.verdict.value
        return row


NUMBERS = {
    "throughput": ("throughput", "pkt_per_s"),
    "resent": ("retransmissions", "retransmits"),
    "recoveries": ("fast recoveries", "fast_recoveries"),
}
"""The compared quantities: name, and ns-2's column."""


def references(folder: Path) -> dict[Point, dict[str, Mean]]:
    """ns-2's means by point.

    Raises:
        OSError: the file is missing.
    """
    runs: dict[Point, list[dict[str, str]]] = {}
    with (folder / "reference" / "ns2.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            point = Point(float(row["f"]), round(1000 * float(row["update_s"])), float(row["loss"]), row["ack"])
            runs.setdefault(point, []).append(row)
    return {
        point: {name: Mean.of([float(row[column]) for row in rows]) for name, (_, column) in NUMBERS.items()}
        for point, rows in runs.items()
    }


def compare(ran: Mapping[Trial, Ran], folder: Path) -> Iterator[Compared]:
    """Compare each of ns-2's points with ours of the same set-up.

    Raises:
        OSError: the reference values are missing.
    """
    for point, means in references(folder).items():
        ours = ran[point.trial]
        # ns-2 counts packets of 1000 bytes, including the SYN.
        throughput = ours.mean(lambda run: (run["flows"][0]["acked_bytes"] / 1000 + 1) / run["duration_s"])
        each = (throughput, ours.mean("retransmissions"), ours.mean("fast_recoveries"))
        yield Compared(point, *(Comparison(m, means[n], TOLERANCE) for m, n in zip(each, NUMBERS, strict=True)))


def summary(compared: Sequence[Compared]) -> Reference:
    """Summarise the agreement, and list all points."""
    judged = [c for c in compared if c.throughput.reference.n >= LEAST_RUNS]
    comparisons = {name: [getattr(c, name) for c in judged] for name in NUMBERS}
    sentences = [_agreement(NUMBERS[name][0].capitalize(), each) for name, each in comparisons.items()]
    sentences += together([c for c in compared if c not in judged])
    good = all(c.verdict.good for each in comparisons.values() for c in each)
    head = ["f", "delay changes every", "loss", "ACKs"]
    for name in ("throughput, packets/s", "retransmissions", "fast recoveries"):
        head += [f"{name}: ours", "ns-2", "difference", "verdict"]
    return Reference(sentences, good, Table("Compared with ns-2.35", head, [c.cells() for c in judged]))


def together(compared: Sequence[Compared]) -> list[str]:
    """The mean differences of points with too few runs to be judged individually; empty if there are none."""
    if not compared:
        return []
    mean = {name: fmean(getattr(c, name).difference for c in compared) for name in NUMBERS}
    parts = ", ".join(f"{NUMBERS[name][0]} {100 * difference:+.1f} %" for name, difference in mean.items())
    runs = compared[0].throughput.reference.n
    return [f"With delayed ACKs, {len(compared)} points of {runs} runs of ns-2's each, mean differences: {parts}"]


def _agreement(what: str, comparisons: Sequence[Comparison]) -> str:
    count = {v: sum(c.verdict is v for c in comparisons) for v in Verdict}
    good = sum(c.verdict.reproduced for c in comparisons)
    how = ", ".join(f"{n} {v.value}" for v, n in count.items() if n)
    worst = max(abs(c.difference) for c in comparisons)
    return (
        f"{what} (tolerance {100 * TOLERANCE:g} %): {good} of {len(comparisons)} points reproduced ({how}); "
        f"largest difference {100 * worst:.1f} %"
    )
