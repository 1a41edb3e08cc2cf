"""The rows of a table from the JSON of runs, unpacked by Polars."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from ackclock.sweep.columns import FLOW_NUMBERS, OF_FLOW, TOTALS, WORST

_KINDS = {int: pl.Int64, float: pl.Float64}


def unpacked(runs: pl.DataFrame, measured: bool) -> pl.DataFrame:
    """Unpack runs into a row for each flow, in order.

    Args:
        runs: a row for each run, with its JSON in the column ``run``; the other columns are repeated for each flow.
        measured: whether the rows have measures; a run without them has nulls.
    """
    said = pl.col("run").str.json_decode(_run(measured))
    whole = runs.with_columns(said).unnest("run").filter(pl.col("flows").list.len() > 0)
    if not measured:
        return whole.explode("flows").unnest("flows").rename({"name": "flow"})
    measures, links = pl.col("measures").struct, pl.col("measures").struct.field("links")
    # For each link one of several; a run without measures has no links.
    worst = [
        links.list.eval(pl.element().struct.field(name.removeprefix("worst_"))).list.max().alias(name) for name in WORST
    ]
    total = measures.field("groups").list.first().struct
    totals = [total.field(name).alias(f"total_{name}") for name in TOTALS]
    beside = whole.with_columns(*totals, *worst, total.field("jain"), measures.field("flows").alias("measured")).drop(
        "measures"
    )
    none = pl.col("flows").list.eval(pl.lit(None, dtype=_struct(OF_FLOW)))
    return (
        beside.with_columns(pl.coalesce("measured", none))
        .explode("flows", "measured")
        .unnest("flows", "measured")
        .rename({"name": "flow"})
    )


def _run(measured: bool) -> pl.Struct:
    """The part of a run's JSON that the table shows."""
    flow = pl.Struct({"stack": pl.String, "name": pl.String, **_fields(FLOW_NUMBERS.items())})
    run: dict[str, Any] = {"duration_s": pl.Float64, "flows": pl.List(flow)}
    if measured:
        groups = _fields((name, int if name.endswith("_count") else float) for name in TOTALS)
        links = _fields((name.removeprefix("worst_"), float) for name in WORST)
        run["measures"] = pl.Struct(
            {
                "flows": pl.List(_struct(OF_FLOW)),
                "groups": pl.List(pl.Struct({**groups, "jain": pl.Float64})),
                "links": pl.List(pl.Struct(links)),
            }
        )
    return pl.Struct({**run, "identity": pl.String, "trace_hash": pl.String})


def _struct(numbers: dict[str, type[int] | type[float]]) -> pl.Struct:
    return pl.Struct(_fields(numbers.items()))


def _fields(numbers: Iterable[tuple[str, type[int] | type[float]]]) -> dict[str, Any]:
    return {name: _KINDS[kind] for name, kind in numbers}
