"""Measurements of runs, as tables. Polars is loaded with the first table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from ackclock.late import pl
from ackclock.tables.columns import columns

Run = Mapping[str, Any]
"""A run as in ``runs`` of ``ackclock run --json``."""
Row = dict[str, Any]


def stacks_of(run: Run) -> str:
    """The stacks of a run's flows, each once, joined by ``+``."""
    return "+".join(dict.fromkeys(flow["stack"] for flow in run["flows"]))


class Measures:
    """The measures of runs. The tables are empty if the scenario does not request measures.

    ``docs/results.md`` explains each column. Every table has ``stack`` (the stacks of a run joined by ``+`` if there
    are several) and ``seed``.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        """Keep the runs."""
        self._runs = [run for run in runs if "measures" in run]

    @cached_property
    def groups(self) -> pl.DataFrame:
        """Totals of all flows, of the flows of each stack, and of each name: a row for each stack, seed and group.

        Columns: ``stack``, ``seed``, ``by`` (``all``, ``stack`` or ``name``), ``group``, ``flows``, and the totals.
        """
        return self._frame("measured_group", "groups")

    @cached_property
    def flows(self) -> pl.DataFrame:
        """A row for each stack, seed and flow: ``stack``, ``flow``, ``seed`` and the flow's numbers."""
        return _frame(["measured_flow"], (_flow(run, row) for run, row in self._of("flows")))

    @cached_property
    def background(self) -> pl.DataFrame:
        """A row for each stack, seed and ``[[background]]`` table; ``background`` is its position."""
        return self._frame("measured_background", "background")

    @cached_property
    def links(self) -> pl.DataFrame:
        """A row for each stack, seed and direction of a link, and for each path of its split."""
        return self._frame("measured_link", "links")

    @cached_property
    def flow_bins(self) -> pl.DataFrame:
        """Values over time, if the scenario requests bins: a row for each stack, seed, bin and flow."""
        rows = (
            _flow(run, {"name": flow["name"], "stack": flow["stack"], **_span(stretch), **row})
            for run in self._runs
            for stretch in run["measures"].get("bins", [])
            for flow, row in zip(run["flows"], stretch["flows"], strict=True)
        )
        return _frame(["flow_bin"], rows)

    @cached_property
    def link_bins(self) -> pl.DataFrame:
        """Values over time, likewise: a row for each stack, seed, bin and link."""
        rows = (
            {"stack": stacks_of(run), "seed": run["seed"], **_place(link), **_span(stretch), **row}
            for run in self._runs
            for stretch in run["measures"].get("bins", [])
            for link, row in zip(run["measures"]["links"], stretch["links"], strict=True)
        )
        return _frame(["link_bin", "measured_link"], rows)

    def _frame(self, kind: str, part: str) -> pl.DataFrame:
        rows = ({"stack": stacks_of(run), "seed": run["seed"], **row} for run, row in self._of(part))
        return _frame([kind], rows)

    def _of(self, part: str) -> Iterator[tuple[Run, Row]]:
        for run in self._runs:
            for row in run["measures"][part]:
                yield run, row

    def __repr__(self) -> str:
        """The number of measured runs."""
        return f"<ackclock.tables.measures.Measures: {len(self._runs)} runs>"


def _flow(run: Run, row: Row) -> Row:
    rest = {key: value for key, value in row.items() if key not in {"name", "stack"}}
    return {"stack": row["stack"], "flow": row["name"], "seed": run["seed"], **rest}


def _span(stretch: Row) -> Row:
    return {"start_s": stretch["start_s"], "end_s": stretch["end_s"]}


def _place(link: Row) -> Row:
    return {key: link[key] for key in ("link", "path", "from", "to")}


def _frame(kinds: Sequence[str], rows: Iterator[Row]) -> pl.DataFrame:
    """A table of rows whose columns are described for one of these kinds of row, or are no numbers."""
    listed = list(rows)
    types: dict[str, Any] = {"seed": pl.Int64}
    for one in (one for kind in kinds for one in columns(kind) if one.number):
        types[one.name] = pl.Int64 if one.number is int else pl.Float64
    known = {name: types[name] for name in (listed[0] if listed else {}) if name in types}
    return pl.DataFrame(listed, schema_overrides=known, infer_schema_length=None)
