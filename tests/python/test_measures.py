"""Measures of runs in Python, in the command's tables and in sweeps."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

import ackclock as ak
from conftest import Command

SCENARIO = """
[run]
duration = "20 s"
measures = { bins = "5 s" }
[[link]]
from = "S"
to = "R"
rate = "10 Mbps"
delay = "2 ms"
[[link]]
from = "R"
to = "D"
rate = "4 Mbps"
delay = "20 ms"
queue = "40 packets"
elements = [{ kind = "swap", mode = "slots", count = 4, gap = { exponential = "0.2 s" } }]
back = { elements = [] }
[[flow]]
name = "up-1"
from = "S"
to = "D"
stack = "newreno"
[[flow]]
name = "up-2"
from = "S"
to = "D"
stack = "cubic"
app = { kind = "bulk", start = "2 s" }
"""


def rank(values: Sequence[float], share: float) -> float:
    """The percentile by the nearest-rank method."""
    return sorted(values)[max(math.ceil(len(values) * share), 1) - 1]


def test_one_way_delays_are_those_of_the_recorded_events() -> None:
    swapless = re.sub("elements = .*\nback = .*\n", "", SCENARIO)
    result = ak.run(swapless.replace('to = "D"\nstack', 'to = "D"\nwindow = "15 packets"\nstack'))
    assert result.frame["retransmissions"].sum() == 0, "so that a sequence number is one packet"
    for at, flow in enumerate(result.measures.flows.iter_rows(named=True)):
        data = result.events.filter((pl.col("flow") == at) & (pl.col("len") > 0)).select("time_ns", "seq", "event")
        sent, arrived = (data.filter(pl.col("event") == event) for event in ("sent", "delivered"))
        both = arrived.join(sent, on="seq", suffix="_sent")
        delays = ((both["time_ns"] - both["time_ns_sent"]) / 1e9).to_list()
        assert flow["delay_count"] == len(delays) > 1000
        for name, share in (("min", 0.0), ("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0)):
            assert flow[f"delay_{name}_s"] == pytest.approx(rank(delays, share), rel=1 / 256)


def test_totals_are_those_of_the_flows() -> None:
    result = ak.run(SCENARIO, seeds=2)
    groups, flows = result.measures.groups, result.frame
    every = groups.filter(pl.col("by") == "all")
    assert every["seed"].to_list() == [1, 2]
    acked = flows.group_by("seed", maintain_order=True).agg(pl.col("acked_bytes").sum())["acked_bytes"]
    assert every["acked_bytes"].to_list() == acked.to_list()
    assert groups.filter((pl.col("by") == "name") & (pl.col("group") == "up"))["flows"].to_list() == [2, 2]
    for row in every.iter_rows(named=True):
        x, y = flows.filter(pl.col("seed") == row["seed"])["goodput_bytes_per_s"]
        assert row["jain"] == pytest.approx((x + y) ** 2 / (2 * (x * x + y * y)))


def test_tables_are_empty_where_nothing_is_measured_and_the_call_may_ask() -> None:
    plain = SCENARIO.replace('measures = { bins = "5 s" }\n', "")
    assert ak.run(plain).measures.groups.is_empty()
    asked = ak.run(plain, measures=True)
    assert asked.measures.links["link"].to_list() == [0, 1, 2, 3]
    assert asked.measures.flow_bins.is_empty()
    assert asked.frame["trace_hash"].equals(ak.run(plain).frame["trace_hash"])


def test_bins_have_a_row_for_each_flow_and_link() -> None:
    measures = ak.run(SCENARIO).measures
    assert measures.flow_bins.select("flow", "start_s").rows() == [
        (flow, start) for start in (0.0, 5.0, 10.0, 15.0) for flow in ("up-1", "up-2")
    ]
    carried = measures.link_bins.group_by("link", maintain_order=True).agg(pl.col("bytes").sum())["bytes"]
    assert carried.to_list() == measures.links["bytes"].to_list()


def test_the_command_prints_totals_and_links(ackclock: Command, tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(SCENARIO.replace('measures = { bins = "5 s" }\n', ""))
    said = ackclock("run", file, "--measures").stdout
    assert "flows together" in said
    assert "all (newreno+cubic)" in said
    assert "R → D" in said
    assert "flows together" not in ackclock("run", file).stdout


def test_sweeps_have_columns_of_what_is_measured(tmp_path: Path) -> None:
    stop = {"column": "rtt_p95_s", "half_width": "60 %", "at_least": 2, "at_most": 3}
    plan = ak.Plan(SCENARIO, name="m", grid={"link[1].delay": ["20 ms", "30 ms"]}, stop=stop)
    sweep = ak.sweep(plan, store=tmp_path / "store")
    row = sweep.frame.row(0, named=True)
    alone = ak.run(SCENARIO, seed=row["seed"]).measures
    assert row["rtt_p95_s"] == alone.flows["rtt_p95_s"][0]
    assert row["jain"] == alone.groups["jain"][0]
    assert row["total_goodput_bytes_per_s"] == alone.groups["goodput_bytes_per_s"][0]
    assert row["worst_queue_delay_p95_s"] == alone.links["queue_delay_p95_s"].max()
    assert "delay_p95_s_ci95" in sweep.summary.columns
    with pytest.raises(ak.ScenarioError, match=r"run\.measures = true"):
        ak.Plan(SCENARIO.replace('measures = { bins = "5 s" }\n', ""), grid={"stack": ["reno"]}, stop=stop)


def test_the_store_keeps_a_run_with_measures_beside_the_one_without(tmp_path: Path) -> None:
    plan = ak.Plan(SCENARIO, name="m", grid={"run.measures": [False, True]}, seeds=[1])
    sweep = ak.sweep(plan, store=tmp_path / "store")
    assert sweep.frame["rtt_p95_s"].is_null().to_list() == [True, True, False, False]
    assert sweep.frame["trace_hash"].n_unique() == 1
