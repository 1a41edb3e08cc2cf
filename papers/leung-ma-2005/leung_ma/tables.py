"""The numbers behind the figures and Tables 2 and 3."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ackclock.papers.paper import Table

from .findings import Made
from .measures import average_gains, mean_rate
from .points import (
    AVG,
    AVG_DEV,
    DEL,
    EWMA,
    FA,
    FIGURES,
    FS,
    INC,
    LOSSES,
    METHODS,
    SHARES,
    Single,
    Split,
)
from .setup import costs
from .view import COUNTS, Read, View

PUBLISHED = {
    "DSACK": ("3.078", "3.423"),
    "INC": ("1.146", "1.569"),
    "AVG": ("0.935", "1.535"),
    "DEL": ("0.993", "1.327"),
    "EWMA": ("2.212", "2.382"),
    "AVG-DEV": ("0.348", "0.427"),
    "FA": ("0.257", "0.392"),
}
"""Table 2, without and with loss."""
COMPARED = (DEL, INC, AVG, EWMA)


def numbers(made: Made, folder: Path) -> Iterator[Table]:
    """Yield all tables.

    Raises:
        OSError: a file of the paper's folder is missing.
    """
    v = made.view()
    yield from _single(v)
    yield from _two_paths(v)
    yield _table_2(v)
    yield _table_3(folder)


def _single(v: View) -> Iterator[Table]:
    head = ("method", *(f"f = {f:.1f}" for f in FS))
    for n, (name, figure) in enumerate(FIGURES.items(), 3):
        places = [Single(f, *figure) for f in FS]
        rows = [[m.label, *(f"{v.throughput(m, p):.1f}" for p in places)] for m in METHODS]
        yield Table(f"Throughput, kB/s, {name} (Figure {n})", head, rows)
        rows = [[m.label, *(f"{v.rate(m, p):.3f}" for p in places)] for m in METHODS]
        yield Table(f"Unnecessary retransmission rate, %, {name} (Figure {n + 3})", head, rows)


def _two_paths(v: View) -> Iterator[Table]:
    head = ("method", *(f"{share} %" for share in SHARES))
    for n, loss in enumerate(LOSSES, 10):
        places = [Split(share, loss) for share in SHARES]
        rows = [[m.label, *(f"{v.throughput(m, p):.1f}" for p in places)] for m in METHODS]
        yield Table(f"Throughput, kB/s, against the packets over R3, {_loss(loss)} (Figure {n})", head, rows)
    rows = []
    for m in COMPARED:
        each = [average_gains(v, loss, m) for loss in LOSSES]
        rows.append([m.label, *(f"{x:.1f} %" for pair in each for x in pair)])
    kinds = [f"{what}, {_loss(loss)}" for loss in LOSSES for what in ("mean of the gains", "gain of the means")]
    yield Table("AVG-DEV's gain in throughput over two paths, by both averages", ("over", *kinds), rows)


def _loss(loss: float) -> str:
    return f"{100 * loss:g} % loss" if loss else "no loss"


def _table_2(v: View) -> Table:
    head = ["method"]
    for loss in LOSSES:
        head += [f"published, {_loss(loss)}", "ours", "ours, all needless ones"]
    every = View(v.runs, Read(COUNTS["each-segment"]))
    rows = []
    for m in METHODS:
        row = [m.label]
        for loss, published in zip(LOSSES, PUBLISHED[m.label], strict=True):
            row += [published, f"{mean_rate(v, m, loss):.3f}", f"{mean_rate(every, m, loss):.3f}"]
        rows.append(row)
    return Table("Table 2: unnecessary retransmission rate, %, mean over the shares 10 to 90 %", head, rows)


def _table_3(folder: Path) -> Table:
    rows = costs(folder)
    published = {AVG_DEV: ("< 200 bytes", "0.52 s"), FA: (">= 8000 bytes", "1.58 s")}
    cells = [[m.label, *published[m], *(rows[m.stack][k] for k in COSTS)] for m in (AVG_DEV, FA)]
    head = ("method", "published: storage", "time in recv", "ours: state, bytes", "instructions an ACK", "and an event")
    return Table("Table 3: storage and time", head, cells)


COSTS = ("state_bytes", "instructions_per_ack", "instructions_per_event")
