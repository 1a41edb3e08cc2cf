"""Traces in Parquet, whose pages Ackclock encodes itself: other readers get every value that was written.

A Rust example writes random tables as Parquet and, by other code, as CSV. ``ACKCLOCK_FUZZ`` sets how many (default 60),
``ACKCLOCK_FUZZ_FROM`` the number of the first.
"""

from __future__ import annotations

import math
import os
import shutil
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).resolve().parents[2]
COUNT = int(os.environ.get("ACKCLOCK_FUZZ", "60"))
FIRST = int(os.environ.get("ACKCLOCK_FUZZ_FROM", "0"))
PIECE = 500
"""Tables on the disk at a time."""
BUILD = ("cargo", "build", "--workspace", "--locked", "--example", "random_tables")
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
CELL: Mapping[str, pa.DataType] = {
    "int64": pa.int64(),
    "int32": pa.int32(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "string": pa.string(),
}


def comparable(table: pa.Table, kinds: Mapping[str, str]) -> dict[str, pa.Array]:
    """The columns, each in one piece. Of floating-point numbers the bits: NaN equals itself, and -0.0 is not 0.0."""
    columns = {}
    for name in table.column_names:
        column = table.column(name).cast(CELL[kinds[name]]).combine_chunks()
        if kinds[name] == "double":
            column = pc.if_else(pc.is_nan(column), math.nan, column).view(pa.int64())
        columns[name] = column
    return columns


def expected(table: Path, kinds: Mapping[str, str]) -> pa.Table:
    """A table in CSV."""
    types = {name: CELL[kind] for name, kind in kinds.items()}
    convert = pacsv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True)
    return pacsv.read_csv(table, convert_options=convert)


def kinds_of(table: Path) -> dict[str, str]:
    """The type of each column; a word counts as a string."""
    schema = pq.read_schema(table)
    return {one.name: "string" if str(one.type).startswith("dictionary") else str(one.type) for one in schema}


def readers(table: Path, db: duckdb.DuckDBPyConnection) -> dict[str, pa.Table]:
    """A table in Parquet, as each reader has it."""
    return {
        "PyArrow": pq.read_table(table),
        "Polars": pl.read_parquet(table).to_arrow(),
        "DuckDB": db.sql("select * from read_parquet(?)", params=[str(table)]).to_arrow_table(),
    }


def since(table: Path, time: int, db: duckdb.DuckDBPyConnection) -> int:
    """The number of rows from this time on, by a reader that skips row groups by their first and last time."""
    query = "select count(*) from read_parquet(?) where time_ns >= ?"
    [[count]] = db.sql(query, params=[str(table), time]).fetchall()
    return int(count)


def check(table: Path, number: int, db: duckdb.DuckDBPyConnection) -> tuple[int, int]:
    """Compare what every reader gets with what was written. Returns the values and the row groups."""
    kinds = kinds_of(table)
    written = comparable(expected(table.with_suffix(".csv"), kinds), kinds)
    assert list(written) == list(kinds)
    for reader, read in readers(table, db).items():
        columns = comparable(read, kinds)
        different = [name for name in written if not written[name].equals(columns[name])]
        assert (list(columns), different) == (list(written), []), f"table {number}, {reader}"
    about = pq.read_metadata(table)
    assert (about.metadata or {})[b"ackclock.seed"] == str(number).encode()
    assert (about.metadata or {})[b"ackclock.stacks"].startswith('é\0"\n'.encode())
    times = written["time_ns"]
    if len(times):
        middle = times[len(times) // 2].as_py()
        assert since(table, middle, db) == (pc.sum(pc.greater_equal(times, middle)).as_py() or 0)
    return sum(len(column) - column.null_count for column in written.values()), about.num_row_groups


def test_values_that_differ_in_one_bit_or_in_being_missing_count_as_different() -> None:
    def column(kind: str, value: object) -> pa.Array:
        return comparable(pa.table({"x": pa.array([value], CELL[kind])}), {"x": kind})["x"]

    for kind, one, other in (("double", 0.0, -0.0), ("double", None, 0.0), ("int64", 0, None), ("string", "", None)):
        assert not column(kind, one).equals(column(kind, other)), (kind, one, other)
    quiet, negative = struct.unpack("<2d", bytes.fromhex("000000000000f87f 000000000000f8ff"))
    assert column("double", quiet).equals(column("double", negative))


@pytest.mark.skipif(shutil.which("cargo") is None, reason="the tables are written by an example in Rust")
def test_every_reader_gets_every_value_that_was_written(tmp_path: Path) -> None:
    subprocess.run(BUILD, cwd=ROOT, check=True, capture_output=True)
    example, values, groups = TARGET / "debug/examples/random_tables", 0, 0
    for first in range(FIRST, FIRST + COUNT, PIECE):
        folder, count = tmp_path / str(first), min(PIECE, FIRST + COUNT - first)
        subprocess.run([example, folder, str(first), str(count)], check=True)
        with duckdb.connect() as db:
            for number in range(first, first + count):
                of_table = check(folder / f"{number}.parquet", number, db)
                values, groups = values + of_table[0], groups + of_table[1]
        shutil.rmtree(folder)
    assert groups > COUNT
    assert values > 1000 * COUNT
