"""Set-up of the runs for Leung & Ma 2005, read back from their scenarios; §IV-D's burst; Table 3."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import ceil
from pathlib import Path
from typing import Any

import polars as pl

import ackclock
from ackclock.runs.trial import Document, Ran, Trial, events

from .points import AVG_DEV, FA, Changes

BURST_SCENARIO = "scenario-burst.toml"
THRESHOLDS = tuple(range(4, 21))
"""The thresholds for which §IV-D's burst is measured."""
TABLE_1 = ("alpha", "beta", "lambda", "gamma", "c1", "c2")


def parameters(single: Iterable[Ran], paths: Iterable[Ran], document_of: Callable[[Trial], Document]) -> dict[str, str]:
    """The value of each parameter claim in the runs of the figures, joined by "or" where runs differ.

    Args:
        single: runs of Figures 3 to 8.
        paths: runs of Figures 10 and 11.
        document_of: returns the scenario of a trial.

    Raises:
        OSError: a scenario is missing.
    """
    one, both = ([(ran, document_of(ran.trial)) for ran in each] for each in (single, paths))
    every = [*one, *both]

    def common(pick: Callable[[Document], str], of: Iterable[tuple[Ran, Document]]) -> str:
        return " or ".join(sorted({pick(document) for _, document in of}))

    tuned = {_table_1(ran.trial) for ran, _ in every if ran.trial.stack == AVG_DEV.stack}
    durations = {f"{run['duration_s']:g} s" for ran, _ in every for run in ran.runs}
    seeds = {str(document["run"]["seeds"]["count"]) for _, document in every}
    # Trials without randomness are run once; the others for each requested seed.
    made = {str(len(ran.runs)) for ran, _ in one}
    intervals = sorted({_redrawn(document)["every"] for _, document in one}, key=_ms)
    return {
        "S001-01": " or ".join(sorted(tuned)),
        "S001-02": f"{common(_delay, one)}; {_range(document for _, document in one)}",
        "S001-03": common(lambda d: "{window}, ".format(**d["flow"][0]) + str(d["flow"][0]["set"]["rto.min"]), every),
        "S001-39": common(lambda d: "{rate}, {delay}".format(**_split(d)["paths"][1]), both),
        "S001-52": ", ".join([*(" or ".join(sorted(x)) for x in (durations, made or seeds)), " and ".join(intervals)]),
    }


def _table_1(trial: Trial) -> str:
    """The six numbers of Table 1, from the stack's defaults or the scenario."""
    stack = next(stack for stack in ackclock.stacks() if stack["name"] == trial.stack)
    threshold = {**stack["detect"]["threshold"], **{path.split(".")[-1]: x for path, x in trial.set}}
    return ", ".join(f"{float(threshold[name]):g}" for name in TABLE_1)


def _ms(text: str) -> float:
    return float(text.removesuffix(" ms"))


def _redrawn(document: Document) -> Document:
    return _element(document, "redrawn-delay")


def _split(document: Document) -> Document:
    return _element(document, "split")


def _element(document: Document, kind: str) -> Document:
    listed = [e for link in document["link"] for e in link.get("elements", []) if e["kind"] == kind]
    (element,) = listed
    found: Document = element
    return found


def _delay(document: Document) -> str:
    """Mean and deviation for f = 1; f is derived from the way back."""
    f = _f(document)
    redrawn = _redrawn(document)
    return f"{_ms(redrawn['mean']) / f:g} f ms, {_ms(redrawn['deviation']) / f:.2f} f ms"


def _f(document: Document) -> float:
    """The delay factor f: the way back has the mean delay, unless it varies as well."""
    back = [link["back"]["delay"] for link in document["link"] if "delay" in link.get("back", {})]
    return _ms(back[0] if back else _redrawn(document)["mean"]) / 200


def _range(documents: Iterable[Document]) -> str:
    fs = [_f(document) for document in documents]
    return f"f from {min(fs):.1f} to {max(fs):.1f}"


def burst(folder: Path, threshold: int, disorder: str = "extended") -> int:
    """Segments released at once by the filling ACK after one duplicate fewer than the threshold.

    Raises:
        OSError: the scenario is missing in ``folder``.
        ValueError: the scenario does not produce this number of duplicates.
    """
    duplicates = threshold - 1
    late: Changes = (("link[0].elements[0].delay[0].by", f"{1.2 * duplicates + 0.6:.1f} ms"),)
    sets = (("detect.threshold.floor_segs", str(threshold)), ("disorder", disorder))
    return released(events(Trial(BURST_SCENARIO, late, set=sets), folder), duplicates)


def released(frame: pl.DataFrame, duplicates: int) -> int:
    """The same, from a trace's events.

    Raises:
        ValueError: no ACK arrived this often.
    """
    mine = frame.filter(pl.col("side") == "sender")
    acks = mine.filter(pl.col("event") == "delivered").select("time_ns", "ack").rows()
    repeated, times = Counter(ack for _, ack in acks).most_common(1)[0]
    if times != duplicates + 1:
        raise ValueError(f"{BURST_SCENARIO}: an ACK came {times} times, needed: {duplicates + 1}")
    filled = next(time for time, ack in acks if ack > repeated)
    return mine.filter((pl.col("event") == "sent") & (pl.col("time_ns") == filled)).height


def longest(bursts: Mapping[int, int]) -> float:
    """The largest excess of a burst over half of its threshold, rounded up."""
    return float(max(burst - ceil(threshold / 2) for threshold, burst in bursts.items()))


def costs(folder: Path) -> dict[str, dict[str, Any]]:
    """The line of ``reference/cost.csv`` for each stack of Table 3.

    Raises:
        OSError: the file is missing.
        ValueError: one of the two stacks is missing or occurs twice.
    """
    with (folder / "reference" / "cost.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["stack"] in (AVG_DEV.stack, FA.stack)]
    if sorted(row["stack"] for row in rows) != sorted((AVG_DEV.stack, FA.stack)):
        raise ValueError(f"{folder}/reference/cost.csv: one line each is needed for {AVG_DEV.stack} and {FA.stack}")
    return {row["stack"]: dict(row) for row in rows}


def state(folder: Path) -> list[str]:
    """The names of the variables that AVG-DEV's threshold keeps (``reference/state.csv``).

    Raises:
        OSError: the file is missing.
    """
    with (folder / "reference" / "state.csv").open(encoding="utf-8", newline="") as file:
        return [row["variable"] for row in csv.DictReader(file)]
