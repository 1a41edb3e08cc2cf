"""The rows of a table from the JSON of runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from ackclock import _native
from ackclock.sweep.columns import OF_FLOW, TOTALS, WORST

_KINDS = {int: pl.Int64, float: pl.Float64}


def unpacked(about: pl.DataFrame, runs: list[str], measured: bool) -> pl.DataFrame:
    """Unpack runs into a row for each flow, in order.

    Args:
        about: a row for each run, which is repeated for each flow.
        runs: the JSON of each run.
        measured: whether the rows have measures; a run without them has nulls.

    Raises:
        ValueError: a text is not the JSON of a run.
    """
    rows = pl.DataFrame(_native.rows_of_runs(runs))
    beside = about[rows["run"]]
    found = beside.hstack(rows.drop("run"))
    return found.hstack(_measures(runs, rows["run"])) if measured else found


def _measures(runs: list[str], places: pl.Series) -> pl.DataFrame:
    """The measures of the flows of runs.

    Args:
        runs: the JSON of each run.
        places: for each flow the position of its run.
    """
    said = pl.Series("run", runs, pl.String).to_frame().select(pl.col("run").str.json_decode(_run())).unnest("run")
    measures, links = pl.col("measures").struct, pl.col("measures").struct.field("links")
    # For each link one of several; a run without measures has no links.
    worst = [
        links.list.eval(pl.element().struct.field(name.removeprefix("worst_"))).list.max().alias(name) for name in WORST
    ]
    total = measures.field("groups").list.first().struct
    totals = [total.field(name).alias(f"total_{name}") for name in TOTALS]
    whole = said.select(measures.field("flows").alias("measured"), *totals, *worst, total.field("jain"))
    at = pl.int_range(pl.len()).over("run")
    own = pl.col("measured").list.get(at, null_on_oob=True)
    return whole[places].with_columns(places).with_columns(own).drop("run").unnest("measured")


def _run() -> pl.Struct:
    """The part of a run's JSON that has its measures."""
    groups = _fields((name, int if name.endswith("_count") else float) for name in TOTALS)
    links = _fields((name.removeprefix("worst_"), float) for name in WORST)
    measures = {
        "flows": pl.List(_struct(OF_FLOW)),
        "groups": pl.List(pl.Struct({**groups, "jain": pl.Float64})),
        "links": pl.List(pl.Struct(links)),
    }
    return pl.Struct({"measures": pl.Struct(measures)})


def _struct(numbers: dict[str, type[int] | type[float]]) -> pl.Struct:
    return pl.Struct(_fields(numbers.items()))


def _fields(numbers: Iterable[tuple[str, type[int] | type[float]]]) -> dict[str, Any]:
    return {name: _KINDS[kind] for name, kind in numbers}
