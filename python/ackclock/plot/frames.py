"""Input of plots: a Polars frame, or any other table that can be exported as Arrow."""

from __future__ import annotations

from typing import Protocol

import polars as pl


class ArrowTable(Protocol):
    """A table with the Arrow PyCapsule interface, such as Polars, pyarrow, DuckDB, pandas and ``Result.arrow`` have."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the table as a stream of record batches."""


def polars(table: ArrowTable) -> pl.DataFrame:
    """Return the table as a Polars frame."""
    return table if isinstance(table, pl.DataFrame) else pl.DataFrame(table)


def need(frame: pl.DataFrame, *columns: str) -> None:
    """Check that the columns exist.

    Raises:
        KeyError: a column is missing.
    """
    for column in columns:
        if column not in frame.columns:
            raise KeyError(f"the frame has no column {column!r}; it has {', '.join(frame.columns)}")
