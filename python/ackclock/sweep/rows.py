"""The rows of a table from the JSON of runs."""

from __future__ import annotations

from typing import Any

from ackclock import _native
from ackclock.late import pl
from ackclock.sweep.columns import OF_FLOW, TOTALS, WORST, Kinds


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
    totals = [total.field(name).alias(name if name == "jain" else f"total_{name}") for name in TOTALS]
    whole = said.select(measures.field("flows").alias("measured"), *totals, *worst)
    at = pl.int_range(pl.len()).over("run")
    own = pl.col("measured").list.get(at, null_on_oob=True)
    return whole[places].with_columns(places).with_columns(own).drop("run").unnest("measured")


def _run() -> pl.Struct:
    """The part of a run's JSON that has its measures."""
    links = _fields(dict.fromkeys((name.removeprefix("worst_") for name in WORST), float))
    measures = {
        "flows": pl.List(pl.Struct(_fields(OF_FLOW))),
        "groups": pl.List(pl.Struct(_fields(TOTALS))),
        "links": pl.List(pl.Struct(links)),
    }
    return pl.Struct({"measures": pl.Struct(measures)})


def _fields(numbers: Kinds) -> dict[str, Any]:
    kinds = {int: pl.Int64, float: pl.Float64}
    return {name: kinds[kind] for name, kind in numbers.items()}
