"""Tables are exported as Arrow: other libraries accept them, the data are not copied, and they equal the files."""

from __future__ import annotations

import ctypes
import json
import math
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

import ackclock as ak
from ackclock import _native
from conftest import SHORT

BUSY = SHORT.replace('"5 s"', '"20 s"').replace('"5 Mbps"', '"20 Mbps"').replace('"20 packets"', '"100 packets"')
BUSY = BUSY.replace('kind = "bernoulli", p = 0.01', 'kind = "swap", mode = "slots", gap = { constant = "1 s" }')
BUSY += 'window = "200 packets"\n'
NAMES = ("frame", "summary", "links", "background", "reordering")
TEXTS = {"stack", "flow", "identity", "trace_hash", "from", "to", "kind", "direction"}


def addresses(table: pa.Table, column: str) -> list[int]:
    """The memory addresses of a column's values, chunk by chunk."""
    return [chunk.buffers()[1].address for chunk in table[column].chunks]


def test_other_libraries_take_a_table_as_it_is() -> None:
    result = ak.run(SHORT, stack=["tahoe", "reno"])
    table, frame = result.arrow(), result.frame
    assert len(table) == len(frame) == 8
    assert_frame_equal(pl.DataFrame(pa.table(table)), frame)
    relation = duckdb.from_arrow(table)
    rows = relation.aggregate("stack, sum(retransmissions)::BIGINT").order("stack").fetchall()
    assert rows == frame.group_by("stack").agg(pl.col("retransmissions").sum()).sort("stack").rows()
    pandas = pytest.importorskip("pandas")
    assert pandas.DataFrame.from_arrow(table).equals(pandas.DataFrame.from_arrow(frame))
    assert pa.schema(table) == pa.table(table).schema


def test_a_table_is_taken_twice_without_a_copy() -> None:
    result = ak.run(BUSY, seed=1)
    events = result.arrow("events")
    one, other = pa.table(events), pa.table(events)
    assert len(one) > 131_072
    assert len(addresses(one, "time_ns")) == math.ceil(len(one) / 65_536)
    for column in ("time_ns", "cwnd", "wire"):
        assert addresses(one, column) == addresses(other, column)
        taken = [chunk.to_arrow() for chunk in pl.DataFrame(events)[column].get_chunks()]
        assert [chunk.buffers()[1].address for chunk in taken] == addresses(one, column), column
    # The memory outlives the table.
    first = one["time_ns"][-1].as_py()
    del events, other
    assert ctypes.c_int64.from_address(addresses(one, "time_ns")[-1] + 8 * ((len(one) - 1) % 65_536)).value == first


def test_events_in_memory_are_those_of_a_trace_file(tmp_path: Path) -> None:
    trace = tmp_path / "t.parquet"
    for text in (BUSY, SHORT.replace("newreno", "dsack-avg")):
        file = ak.run(text, seed=1, trace=trace)
        memory = pa.table(ak.run(text, seed=1).arrow("events"))
        kept = pq.read_table(trace)
        about = {k: v for k, v in pq.read_metadata(trace).metadata.items() if k.startswith(b"ackclock.")}
        assert memory.schema.equals(kept.schema.with_metadata(None), check_metadata=False)
        assert [f.metadata for f in memory.schema] == [
            {k: v for k, v in f.metadata.items() if not k.startswith(b"PARQUET:")} for f in kept.schema
        ]
        assert memory.schema.metadata == about
        assert [f.nullable for f in memory.schema] == [f.nullable for f in kept.schema]
        assert_frame_equal(pl.DataFrame(memory), file.events)


def test_numbers_and_types_are_those_of_the_json() -> None:
    text = (Path(__file__).parents[2] / "scenarios/bundle.toml").read_text(encoding="utf-8").replace('"60 s"', '"2 s"')
    text += '[[background]]\nkind = "source"\nfrom = "S"\nto = "D"\nrate = "1 Mbps"\n'
    result = ak.run(text, stack=["newreno", "rfc-6675"], seeds=2)
    runs = json.loads(result.json)["runs"]
    for name, of in (("links", "links"), ("background", "background"), ("frame", "flows")):
        reported = [row for run in runs for row in run[of]]
        frame = getattr(result, name)
        for key in set(reported[0]) - {"name", "reordering", "ack_reordering"}:
            assert frame[key].to_list() == [row[key] for row in reported], (name, key)
    reported = [flow[way] for run in runs for flow in run["flows"] for way in ("reordering", "ack_reordering")]
    for key in set(reported[0]) - {"extents", "n_reordered", "reorder_density", "buffer_occupancy_density"}:
        assert result.reordering[key].to_list() == [row[key] for row in reported], key
    flows = json.loads(result.json)["flows"]
    for key in set(flows[0]) - {"name", "stack", "finish_s"}:
        assert result.summary[key].to_list() == [flow[key] and flow[key]["mean"] for flow in flows], key
        assert result.summary[f"{key}_ci95"].to_list() == [
            flow[key] and flow[key]["half_width_95"] for flow in flows
        ], key


@pytest.mark.parametrize("name", NAMES)
def test_a_table_has_its_columns_with_and_without_rows(name: str) -> None:
    frame: pl.DataFrame = getattr(ak.run(SHORT, seed=1), name)
    assert frame.width >= 13
    for column, dtype in frame.schema.items():
        real = column.endswith(("_s", "_mean", "_ratio", "_ci95", "_of_ceiling_max"))
        means = name == "summary" and column not in {"runs", "finished_runs"}
        assert dtype == (pl.String if column in TEXTS else pl.Float64 if real or means else pl.Int64), column


def test_the_numbers_of_events_can_be_stopped() -> None:
    def stop(share: float) -> None:
        raise KeyboardInterrupt(share)

    with pytest.raises(KeyboardInterrupt):
        _native.events("x", BUSY, None, [], 1, stop)
    with pytest.raises(ak.ScenarioError):
        _native.events("x", BUSY, "rneo", [], 1, None)


def test_json_is_made_when_it_is_asked_for() -> None:
    runs = _native.run("x", SHORT, [], [], None, None, None, None, None, None, False, False)
    assert (len(runs), runs.scenario, runs.duration_s, runs.first[0]) == (4, "short", 5.0, 1)
    assert runs.json() == _native.run_json("x", SHORT, [], [], None, None, None, None, None)
