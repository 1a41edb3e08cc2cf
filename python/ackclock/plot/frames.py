"""What plots take: a Polars frame, or whatever else can leave as Arrow."""

from __future__ import annotations

from typing import Protocol

import polars as pl


class ArrowTable(Protocol):
    """A table with the Arrow PyCapsule interface, as Polars, pyarrow, DuckDB, pandas and ``Result.arrow`` have it."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as a stream of record batches."""


def polars(table: ArrowTable) -> pl.DataFrame:
    """The table as a Polars frame."""
    return table if isinstance(table, pl.DataFrame) else pl.DataFrame(table)


def need(frame: pl.DataFrame, *columns: str) -> None:
    """See that the columns are there.

    Raises:
        KeyError: one is not.
    """
    for column in columns:
        if column not in frame.columns:
            raise KeyError(f"the frame has no column {column!r}; it has {', '.join(frame.columns)}")
