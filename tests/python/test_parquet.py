"""Traces in Parquet, whose pages Ackclock encodes itself: other readers get every value that was written.

A Rust example writes random tables as Parquet and, by other code, as CSV. ``ACKCLOCK_FUZZ`` sets how many (default 60),
``ACKCLOCK_FUZZ_FROM`` the number of the first.
"""

from __future__ import annotations

import csv
import math
import os
import shutil
import struct
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).resolve().parents[2]
COUNT = int(os.environ.get("ACKCLOCK_FUZZ", "60"))
FIRST = int(os.environ.get("ACKCLOCK_FUZZ_FROM", "0"))
PIECE = 500
"""Tables on the disk at a time."""
BUILD = ("cargo", "build", "--workspace", "--locked", "--example", "random_tables")
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
CELL: Mapping[str, Callable[[str], object]] = {
    "int64": int,
    "int32": int,
    "double": lambda text: struct.pack("<d", float(text)),
    "bool": lambda text: {"true": True, "false": False}[text],
    "string": str,
}


def bits(values: Sequence[Any]) -> list[object]:
    """Values that are equal only if their bits are: NaN equals itself, and -0.0 is not 0.0."""
    return [struct.pack("<d", math.nan if math.isnan(v) else v) if isinstance(v, float) else v for v in values]


def expected(table: Path, kinds: Mapping[str, str]) -> dict[str, list[object]]:
    """The columns of a table in CSV."""
    with table.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == list(kinds)
    columns = [(at, name, CELL[kind]) for at, (name, kind) in enumerate(kinds.items())]
    return {name: [cell(row[at]) if row[at] else None for row in rows] for at, name, cell in columns}


def kinds_of(table: Path) -> dict[str, str]:
    """The type of each column; a word counts as a string."""
    schema = pq.read_schema(table)
    return {one.name: "string" if str(one.type).startswith("dictionary") else str(one.type) for one in schema}


def readers(table: Path) -> dict[str, dict[str, list[object]]]:
    """The columns of a table in Parquet, as each reader has them."""
    polars, arrow = pl.read_parquet(table), pq.read_table(table)
    with duckdb.connect() as db:
        answer = db.execute("select * from read_parquet(?)", [str(table)])
        names, rows = [column[0] for column in answer.description or ()], answer.fetchall()
    return {
        "PyArrow": {name: bits(arrow.column(name).to_pylist()) for name in arrow.column_names},
        "Polars": {name: bits(polars[name].to_list()) for name in polars.columns},
        "DuckDB": {name: bits([row[at] for row in rows]) for at, name in enumerate(names)},
    }


def since(table: Path, time: int) -> int:
    """The number of rows from this time on, by a reader that skips row groups by their first and last time."""
    with duckdb.connect() as db:
        [count] = (
            db.execute("select count(*) from read_parquet(?) where time_ns >= ?", [str(table), time]).fetchone() or ()
        )
    return int(count)


@pytest.mark.skipif(shutil.which("cargo") is None, reason="the tables are written by an example in Rust")
def test_every_reader_gets_every_value_that_was_written(tmp_path: Path) -> None:
    subprocess.run(BUILD, cwd=ROOT, check=True, capture_output=True)
    example, values, groups = TARGET / "debug/examples/random_tables", 0, 0
    for first in range(FIRST, FIRST + COUNT, PIECE):
        folder, count = tmp_path / str(first), min(PIECE, FIRST + COUNT - first)
        subprocess.run([example, folder, str(first), str(count)], check=True)
        for number in range(first, first + count):
            table = folder / f"{number}.parquet"
            written = expected(table.with_suffix(".csv"), kinds_of(table))
            for reader, columns in readers(table).items():
                different = [name for name in written if columns.get(name) != written[name]]
                assert (list(columns), different) == (list(written), []), f"table {number}, {reader}"
            about = pq.read_metadata(table)
            assert (about.metadata or {})[b"ackclock.seed"] == str(number).encode()
            assert (about.metadata or {})[b"ackclock.stacks"].startswith('é\0"\n'.encode())
            times = written["time_ns"]
            if times:
                middle = times[len(times) // 2]
                assert isinstance(middle, int)
                assert since(table, middle) == len([t for t in times if isinstance(t, int) and t >= middle])
            groups += about.num_row_groups
            values += sum(cell is not None for column in written.values() for cell in column)
        shutil.rmtree(folder)
    assert groups > COUNT
    assert values > 1000 * COUNT
