"""Set-up of the runs for Wang & Shin, read back from their scenarios."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from ackclock.papers.paper import Work
from ackclock.runs.trial import Ran, Trial

from . import model
from .points import COMPARED, RR, droptail, red
from .transfer import RENO_AMONG_RENO

Document = dict[str, Any]


def parameters(work: Work, ran: Mapping[Trial, Ran]) -> dict[str, str]:
    """The value of each parameter claim in the runs, joined by "or" where they differ.

    Raises:
        OSError, ValueError: a scenario is missing or invalid.
    """
    table_3 = [work.read(droptail(scheme)) for scheme in COMPARED]
    figure_6 = [work.document(red(scheme)) for scheme in COMPARED]
    table_5 = work.document(RENO_AMONG_RENO)
    starts = _common(" ".join(f"{start:g}" for start in _starts(ran[red(scheme)])) for scheme in COMPARED)
    seconds = _common(f"{run['duration_s']:g} s" for scheme in COMPARED for run in ran[red(scheme)].runs)
    *spaced, _ = _starts(ran[RENO_AMONG_RENO])
    gaps = {round(b - a, 3) for a, b in itertools.pairwise(spaced)}
    return {
        "S004-01": _common(_network(one, one.document(work.folder)) for one in table_3),
        "S004-02": _common(_red(document) for document in figure_6),
        "S004-18": f"{model.bound(1):.4f}",
        "S004-34": (
            f"{_sizes(work)}, {_common(str(_bottleneck(d)['queue']) for d in figure_6)}, "
            f"{_common(str(len(r.runs[0]['flows'])) for r in (ran[red(s)] for s in COMPARED))} flows, {starts} s, "
            f"{seconds}"
        ),
        "S004-35": (
            f"{len(ran[RENO_AMONG_RENO].runs[0]['flows'])} flows, {_common(f'{gap:g}' for gap in gaps)} s, "
            f"{_bottleneck(table_5)['queue']['limit']}, {_target(table_5)}"
        ),
    }


def _common(values: Iterable[str]) -> str:
    return " or ".join(sorted(set(values)))


def _bottleneck(document: Document) -> Document:
    link: Document = document["dumbbell"]["bottleneck"]
    return link


def _network(one: Trial, document: Document) -> str:
    link, access = _bottleneck(document), document["dumbbell"]["access"]
    own = dict(one.set).get("limits.cwnd_cap_segs")
    windows = _common(f"{own} packets" if own else flow["window"] for flow in document["dumbbell"]["flow"])
    side_ms = 2 * int(access["delay"].removesuffix(" us")) / 1000
    return f"{link['queue']['limit']}, {windows}, {link['rate']}, {link['delay']}, {side_ms:g} ms, {access['rate']}"


def _red(document: Document) -> str:
    element = _bottleneck(document)["elements"][0]
    return f"{element['min']}, {element['max']}, {element['max_p']:g}, {element['weight']:g}"


def _starts(ran: Ran) -> list[float]:
    """Start times of the flows without their random part, rounded to tenths of a second."""
    return [math.floor(10 * flow["start_s"] + 1e-6) / 10 for flow in ran.runs[0]["flows"]]


def _sizes(work: Work) -> str:
    """Sizes of data packets and ACKs on the wire."""
    events = work.events(red(RR)).filter(pl.col("event") == "sent")
    sizes = [
        _common(f"{wire} B" for wire in events.filter(where)["wire"].unique())
        for where in (pl.col("len") > 0, pl.col("len") == 0)
    ]
    return ", ".join(sizes)


def _target(document: Document) -> str:
    flow = document["dumbbell"]["flow"][1]
    size = int(flow["app"]["size"].removesuffix(" packets")) * int(flow["segment"].removesuffix(" B"))
    return f"{size / 1000:g} kB, {int(flow['app']['start'].removesuffix(' ms')) / 1000:g} s"
