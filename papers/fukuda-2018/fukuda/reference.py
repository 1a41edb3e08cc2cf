"""Our runs compared with a model of ns-3's old recovery rules and with ns-3 3.44 (see the folder ``reference``)."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from ackclock.papers.paper import Reference, Table, Work
from ackclock.runs import trial
from ackclock.runs.trial import Ran
from ackclock.statistics import Verdict

from .curves import (
    CUBIC,
    NEWRENO,
    NONE,
    ONE,
    SYN,
    Changes,
    Curve,
    Family,
    Sender,
    Set,
    arrived,
    delays,
    point,
    run,
)
from .measures import SENDING_S, megabits

ROUND_TRIPS = 10
"""Round trips per envelope, also in the quick form, because fewer say little."""
TOLERANCE = 0.03
"""Tolerance relative to the throughput at the nearest end of our envelope."""
EVENT = 1.0
"""Numbers of fast recoveries that differ by at most this are near."""
ROUNDING = 1e-6
"""Precision of the recorded values."""
FRAMED: Changes = (("flow[0].header", "54 B"), ("flow[0].window", "155 packets"))
"""The references' PPP link, with 1502 bytes on the wire, and their window."""
UNTIL_S: Changes = (("run.duration", "10.23504 s"),)
"""The references count the data at D by 10.2 s; S learns about them 35.04 ms later."""
UNTIL_D: Changes = (("run.duration", "10.215120160 s"),)
DELAYED: Changes = (("flow[0].receiver.ack", "delayed"), ("flow[0].receiver.delay", "200 ms"))
RULES: Set = (("detect.guard", "off"), ("startup.initial_window_segs", "1"))
"""The references' rules: no test of ``recover``, an initial window of 1."""
MODELS_NEWRENO = Sender("NewReno", NEWRENO.file, RULES)
MODELS_CUBIC = Sender(
    "Cubic",
    CUBIC.file,
    (*RULES, ("recovery.inflate", "true"), ("congestion.friendliness", "true"), ("recovery.full_ack", "flight")),
)
"""The model's friendliness and last ACK are not recorded; both are inferred. With other values, 2 to 5 of its 34 points
are outside."""
SENDERS = {"newreno": MODELS_NEWRENO, "cubic": MODELS_CUBIC}


class Place(Enum):
    """The position of the model's value, from best to worst."""

    OWN = "in the envelope"
    NEIGHBOURS = "in that of RI ± 1"
    NEAR = "near it"
    OUTSIDE = "outside"

    @property
    def verdict(self) -> Verdict:
        """The verdict, as for all papers' points: only values in the envelope of their own RI count as reproduced."""
        if self is Place.OWN:
            return Verdict.WITHIN
        return Verdict.OUTSIDE if self is Place.OUTSIDE else Verdict.OVERLAP


@dataclass(frozen=True)
class Compared:
    """A value of the model compared with our envelope, the smallest and largest value over the round trips."""

    model: float
    own: tuple[float, float]
    wide: tuple[float, float]
    """The envelope over RI - 1, RI and RI + 1: neighbouring RI differ as much as round trips do."""
    near: float = 0.0
    """The distance from ``wide`` that counts as near; 0: ``TOLERANCE`` times the value there."""

    @property
    def place(self) -> Place:
        """The best place that applies; the ends of ranges are inside."""
        for (low, high), place in ((self.own, Place.OWN), (self.wide, Place.NEIGHBOURS)):
            if low - ROUNDING <= self.model <= high + ROUNDING:
                return place
        low, high = self.wide
        is_near = low - (self.near or TOLERANCE * low) <= self.model <= high + (self.near or TOLERANCE * high)
        return Place.NEAR if is_near else Place.OUTSIDE


@dataclass(frozen=True)
class Row:
    """A point of the model."""

    sender: str
    delayed: bool
    ri: int
    throughput: Compared
    """Payload in order at D, in Mb/s."""
    recoveries: Compared
    exact: bool
    """Whether throughput and fast recoveries are equal at exactly the same round trip."""

    def cells(self) -> list[str]:
        """The row on the page."""
        cells = [SENDERS[self.sender].label, "2" if self.delayed else "1", str(self.ri or "none")]
        for c, form in ((self.throughput, "{:.3f}"), (self.recoveries, "{:.0f}")):
            ends = [form.format(end) for end in c.own]
            cells += [" to ".join(dict.fromkeys(ends)), form.format(c.model), c.place.verdict.value]
        return [*cells, "yes" if self.exact else ""]


HEAD = (
    "sender",
    "segments for an ACK",
    "RI",
    "throughput, Mb/s: ours",
    "model",
    "verdict",
    "fast recoveries: ours",
    "model",
    "verdict",
    "equal at 70 ms",
)


def read(folder: Path, name: str) -> list[dict[str, str]]:
    """Read the rows of a reference file.

    Raises:
        OSError: the file is missing.
    """
    with (folder / "reference" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def compare(work: Work) -> tuple[list[Row], list[Ran]]:
    """Run the model's points and their neighbours in RI, with inflation; README.md explains why not without.

    Raises:
        OSError, ScenarioError, ValueError: see ``curves.run``.
    """
    rows = [r for r in read(work.folder, "model.csv") if r["inflate"] == "1"]
    at = sorted({int(r["ri"]) for r in rows} - {NONE})
    ris = sorted({near for ri in at for near in (ri - 1, ri, ri + 1)})
    every = delays(ROUND_TRIPS)
    families = {
        (name, delayed): Family(sender, ris, every, (*FRAMED, *UNTIL_S, *(DELAYED if delayed else ())))
        for name, sender in SENDERS.items()
        for delayed in (False, True)
    }
    curves, ran = run(work.lab, "comparison with the model of ns-3's old rules", work.folder, list(families.values()))
    return list(_rows(rows, dict(zip(families, curves, strict=True)))), ran


def _rows(rows: Sequence[Mapping[str, str]], curves: Mapping[tuple[str, bool], Curve]) -> Iterator[Row]:
    for r in rows:
        ri, key = int(r["ri"]), (r["cc"], r["delack"] == "2")
        curve = curves[key]
        if ri == NONE:
            own = curve.without * 8 / SENDING_S / 1e6
            app = Compared(float(r["app_mbps"]), (own.min(), own.max()), (own.min(), own.max()))
            yield Row(*key, ri, app, Compared(float(r["fr"]), (0, 0), (0, 0)), _same(own[0], app.model))
            continue
        near = curve.lines([ri - 1, ri, ri + 1])
        rate, count = curve.payload * 8 / SENDING_S / 1e6, curve.recoveries
        line = curve.at(ri)
        both = [
            Compared(float(r[name]), (t[line].min(), t[line].max()), (t[near].min(), t[near].max()), reach)
            for name, t, reach in (("app_mbps", rate, 0.0), ("fr", count, EVENT))
        ]
        exact = _same(rate[line, 0], both[0].model) and bool(count[line, 0] == both[1].model)
        yield Row(*key, ri, both[0], both[1], exact)


def _same(ours: float, theirs: float) -> bool:
    """Whether two values are equal to the recorded precision."""
    return abs(ours - theirs) < ROUNDING


def summary(rows: Sequence[Row]) -> Reference:
    """Summarise the agreement, and list all points."""
    sentences = [
        _sentence(f"Throughput (near: within {100 * TOLERANCE:g} %)", [row.throughput.place for row in rows]),
        _sentence("Fast recoveries (near: one apart)", [row.recoveries.place for row in rows]),
        f"{sum(row.exact for row in rows)} points are equal to the last digit at exactly 70 ms",
    ]
    good = all(c.place is not Place.OUTSIDE for row in rows for c in (row.throughput, row.recoveries))
    title = "Compared with a model of the recovery rules of ns-3 up to 3.23"
    return Reference(sentences, good, Table(title, HEAD, [row.cells() for row in rows]))


def _sentence(what: str, places: Sequence[Place]) -> str:
    how = ", ".join(f"{n} {place.value}" for place in Place if (n := places.count(place)))
    return f"{what}: {how}, of {len(places)} points"


def beside_ns3(work: Work, rows: Sequence[Row]) -> tuple[Reference, list[Ran]]:
    """Compare with ns-3 3.44: without reordering it must be equal; otherwise it has rules that our engine lacks.

    Raises:
        OSError, ScenarioError, ValueError: see ``trial.run``.
    """
    ours = {(row.sender, row.ri): row for row in rows if not row.delayed}
    idle = point(MODELS_NEWRENO, NONE, None, (*FRAMED, *UNTIL_D))
    ran = trial.run(work.lab, "beside ns-3", work.folder, [idle], ONE)[idle]
    cells, same, apart = [], [], []
    for r in read(work.folder, "ns3.csv"):
        name = {"TcpNewReno": "newreno", "PaperCubic": "cubic"}[r["proto"]]
        row, theirs = ours[name, int(r["ri"])], float(r["app_mbps"])
        low, high = row.throughput.own
        free = int(r["moves"]) == 0
        equal = low - ROUNDING <= theirs <= high + ROUNDING and int(r["fast_recoveries"]) == row.recoveries.own[1]
        if free:
            same.append(equal)
        else:
            apart.append(max(low - theirs, theirs - high, 0) / theirs)
        verdict = (Verdict.WITHIN if equal else Verdict.OUTSIDE).value if free else "other rules"
        counts = f"{row.recoveries.own[0]:.0f} to {row.recoveries.own[1]:.0f}"
        cells.append(
            [r["proto"], r["ri"], f"{low:.3f} to {high:.3f}", f"{theirs:.3f}", counts, r["fast_recoveries"], verdict]
        )
    sentences = [
        f"Where nothing is reordered: {sum(same)} of {len(same)} points equal",
        f"There R2 gets {megabits(arrived(ran.runs[0]) - SYN):.6f} Mb/s, ns-3's 9.543686 with SYN and its ACK",
        f"Elsewhere 3.44 has other rules (README.md), and is up to {100 * max(apart):.0f} % away",
    ]
    head = ("ns-3's", "RI", "throughput, Mb/s: ours", "ns-3", "fast recoveries: ours", "ns-3", "verdict")
    return Reference(sentences, all(same), Table("Compared with ns-3 3.44", head, cells)), [ran]


def without_inflation(folder: Path) -> Table:
    """The model's values for a recovery without inflation, which are not judged; README.md explains why.

    Raises:
        OSError: the file is missing.
    """
    rows = {(r["cc"], int(r["ri"]), r["inflate"]): r for r in read(folder, "model.csv") if r["delack"] == "1"}
    whole = float(rows["newreno", NONE, "1"]["app_mbps"])
    ris = sorted({ri for _, ri, _ in rows} - {NONE})
    keys = [(cc, inflate) for cc in ("newreno", "cubic") for inflate in ("1", "0")]

    def cell(cc: str, ri: int, inflate: str) -> str:
        r = rows[cc, ri, inflate]
        return f"{float(r['app_mbps']) / whole:.2f} ({r['fr']})"

    head = ["RI", *(f"{SENDERS[cc].label}, {'' if inflate == '1' else 'no '}inflation" for cc, inflate in keys)]
    title = "The model with and without inflation: normalised throughput (fast recoveries)"
    return Table(title, head, [[str(ri), *(cell(cc, ri, inflate) for cc, inflate in keys)] for ri in ris])
