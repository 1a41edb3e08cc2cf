"""ns-2's runs of Hoe's transfer, compared with ours."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.papers.paper import Reference, Table
from ackclock.runs.trial import Ran, Trial, Value
from ackclock.statistics import Comparison, Mean, Verdict

from .spread import completion

SCENARIO = "scenario-ns2.toml"
TOLERANCE = 0.03
Set = tuple[tuple[str, str], ...]
ANY_DUPLICATE: Set = (("dup_rule", "ns2"),)
NEWRENO: Set = (
    *ANY_DUPLICATE,
    ("recovery.full_ack", "keep"),
    ("recovery.grow_on_exit", "true"),
    ("recovery.burst_segs", "2"),
)
AGAIN: Set = (("timeout.skip_sacked", "false"),)
VARIANTS: dict[str, tuple[str, Set]] = {
    "tahoe": ("tahoe", ANY_DUPLICATE),
    "reno": ("reno", ANY_DUPLICATE),
    "renonb": ("reno-no-bugfix", ANY_DUPLICATE),
    "newreno": ("newreno", NEWRENO),
    "newreno0": ("newreno-slow-but-steady", NEWRENO),
    "newrenoh": ("newreno", (*ANY_DUPLICATE, ("recovery", "hoe"))),
    "sack1": ("sack-ff96", AGAIN),
}
"""Our stack with ns-2's conventions, by ns-2's sender. Its Fack is a different algorithm from ours."""
HOES_THRESHOLD = {"every": 20, "del": 2}
"""The estimate of ns-2's newrenoh: the first round trip divided by the time between the 2nd and the 3rd ACK."""
COLUMNS: dict[str, tuple[str, str | Callable[[Mapping[str, Any]], float]]] = {
    "completion, s": ("completion_s", completion),
    "data sent": ("data_sent", "data_packets_sent"),
    "sent again": ("retransmits", "retransmissions"),
    "drops": ("drops", "data_drops"),
    "timeouts": ("timeouts", "timeouts"),
}
"""ns-2's column, and our number."""


@dataclass(frozen=True)
class Row:
    """One of ns-2's runs."""

    values: Mapping[str, str]

    @property
    def trial(self) -> Trial:
        """Our run of the same set-up."""
        v = self.values
        stack, conventions = VARIANTS[v["variant"]]
        limit = f"{v['buffer']} packets"
        changes: list[tuple[str, Value]] = [("link[0].queue.limit", limit), ("link[2].queue.limit", limit)]
        if v["ack"] == "del":
            changes += [("flow[0].receiver.ack", "delayed"), ("flow[0].receiver.delay", "200 ms")]
        asked = int(v["ssthresh_init(0=window)"])
        threshold = asked or (HOES_THRESHOLD[v["ack"]] if v["variant"] == "newrenoh" else 0)
        tick: Set = (("rto.tick", f"{1e3 * float(v['tick_s']):g} ms"),)
        begin: Set = (("startup.ssthresh_segs", str(threshold)),) if threshold else ()
        return Trial(SCENARIO, tuple(changes), stack, (*conventions, *tick, *begin))


@dataclass(frozen=True)
class Compared:
    """One of ns-2's runs compared with ours."""

    row: Row
    each: Sequence[Comparison]
    """Comparisons in the order of ``COLUMNS``."""

    @property
    def good(self) -> bool:
        """Whether every number is within the tolerance."""
        return all(c.verdict is Verdict.WITHIN for c in self.each)

    def line(self) -> dict[str, object]:
        """A line of comparison.csv."""
        v = self.row.values
        line: dict[str, object] = {key: v[key] for key in ("label", "variant", "ack", "buffer", "tick_s")}
        for name, c in zip(COLUMNS, self.each, strict=True):
            key = name.removesuffix(", s").replace(" ", "_")
            line[f"{key}_ours"], line[f"{key}_ns2"] = f"{c.ours.value:.6g}", f"{c.reference.value:.6g}"
        return {**line, "verdict": Verdict.WITHIN.value if self.good else Verdict.OUTSIDE.value}


def rows(folder: Path) -> list[Row]:
    """ns-2's runs with senders that we have.

    Raises:
        OSError: the file is missing.
    """
    with (folder / "reference" / "ns2.csv").open(encoding="utf-8", newline="") as file:
        return [Row(values) for values in csv.DictReader(file) if values["variant"] in VARIANTS]


def compare(folder: Path, numbers: Mapping[Trial, Ran]) -> list[Compared]:
    """Compare each run with ours.

    Raises:
        OSError: the reference values are missing.
    """

    def one(row: Row) -> Compared:
        ran = numbers[row.trial]
        pairs = [(ran.values(ours)[0], float(row.values[theirs])) for theirs, ours in COLUMNS.values()]
        return Compared(row, [Comparison(Mean.of([a]), Mean.of([b]), TOLERANCE) for a, b in pairs])

    return [one(row) for row in rows(folder)]


def summary(compared: Sequence[Compared]) -> Reference:
    """Summarise the agreement, and list all runs."""
    same = sum(all(c.ours.value == c.reference.value for c in one.each[1:]) for one in compared)
    worst = max(abs(one.each[0].difference) for one in compared)
    within = sum(one.good for one in compared)
    sentences = [
        f"{within} of {len(compared)} runs have all five numbers within {100 * TOLERANCE:g} %",
        f"In {same} of them every count is the same; the time of the transfer differs by at most {100 * worst:.1f} %",
    ]
    head = ["run", "sender", "ACKs", "buffer", "tick, s"]
    head += [f"{name}: ours / ns-2" for name in COLUMNS] + ["verdict"]
    table = Table("Compared with ns-2.35", head, [_cells(one) for one in compared])
    return Reference(sentences, all(one.good for one in compared), table)


def _cells(one: Compared) -> list[str]:
    v = one.row.values
    cells = [v[key] for key in ("label", "variant", "ack", "buffer", "tick_s")]
    cells += [f"{c.ours.value:.5g} / {c.reference.value:.5g}" for c in one.each]
    return [*cells, Verdict.WITHIN.value if one.good else Verdict.OUTSIDE.value]
