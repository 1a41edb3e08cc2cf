"""The result of a run: its tables, their columns, and that nothing is loaded before it is needed."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import ackclock as ak
from ackclock import _native
from conftest import SHORT, Command

TWO = SHORT + '[[flow]]\nname = "other"\nfrom = "S"\nto = "D"\nstack = "reno"\n'
HALF = "_ci95"


def test_runs_have_a_row_for_each_stack_seed_and_flow_with_every_counter() -> None:
    result = ak.run(TWO, stack=["tahoe", "dsack-avg"], seeds=3)
    runs = result.frame
    assert runs.select("stack", "seed", "flow").rows() == [
        (stack, seed, flow) for stack in ("tahoe", "dsack-avg") for seed in (1, 2, 3) for flow in ("only", "other")
    ]
    reported = [flow for run in result.to_dict()["runs"] for flow in run["flows"]]
    for key in set(reported[0]) - {"name", "stack"}:
        assert runs[key].to_list() == [flow[key] for flow in reported], key
    assert set(runs["duration_s"]) == {5.0}
    assert runs["trace_hash"].n_unique() == 6


def test_the_summary_has_means_and_intervals_of_the_runs() -> None:
    result = ak.run(TWO, stack=["tahoe", "reno"], seeds=4)
    assert result.summary.shape[0] == 4
    assert result.summary["runs"].to_list() == [4] * 4
    for row in result.summary.iter_rows(named=True):
        mine = result.frame.filter((pl.col("stack") == row["stack"]) & (pl.col("flow") == row["flow"]))
        for key in ("throughput_bytes_per_s", "retransmissions", "timeouts"):
            assert (row[key], row[key + HALF]) == _native.interval(mine[key].cast(pl.Float64).to_list())
    one = ak.run(SHORT, seed=1).summary
    assert one["throughput_bytes_per_s" + HALF].to_list() == [None]


def test_links_have_a_row_for_each_direction() -> None:
    links = ak.run(TWO, seeds=2).links
    assert links.select("stack", "seed", "link", "from", "to").rows() == [
        ("newreno+reno", seed, link, *ends) for seed in (1, 2) for link, ends in enumerate((("S", "D"), ("D", "S")))
    ]
    assert links["loss_drops"].sum() > 0


def test_the_types_of_columns_do_not_depend_on_what_is_missing() -> None:
    endless, ends = (ak.run(text, seed=1) for text in (SHORT, SHORT + 'app = { kind = "fixed", size = "50 kB" }\n'))
    assert (endless.frame["finish_s"].to_list(), ends.frame["finish_s"].null_count()) == ([None], 0)
    assert (endless.summary["finished_runs"].item(), ends.summary["finished_runs"].item()) == (0, 1)
    for name in ("frame", "summary", "links"):
        one, other = getattr(endless, name), getattr(ends, name)
        assert one.schema == other.schema
        assert len(pl.concat([one, other])) == len(one) + len(other)
    with_timeouts = ak.run(SHORT, stack="tahoe", set={"rto.min": "1 ms"}, seed=1)
    assert with_timeouts.frame.schema == endless.frame.schema


def test_events_are_the_trace_of_the_first_run_with_and_without_a_file(tmp_path: Path) -> None:
    trace = tmp_path / "t.parquet"
    traced = ak.run(SHORT, stack=["tahoe", "reno"], seeds=2, trace=trace)
    events = traced.events
    assert_frame_equal(events, pl.read_parquet(trace))
    first = traced.to_dict()["runs"][0]["flows"][0]
    sent = events.filter((pl.col("event") == "sent") & (pl.col("len") > 0))
    assert len(sent) == first["data_packets_sent"]
    assert sent["needless"].sum() == first["needless_retransmissions"]
    assert len(events.filter(pl.col("event") == "threshold")) >= 1
    assert_frame_equal(ak.run(SHORT, stack=["tahoe", "reno"], seeds=2).events, events)
    # A file of another run is not mistaken for this one's.
    again = ak.run(SHORT, stack="tahoe", seed=1, trace=trace)
    ak.run(SHORT, stack="reno", seed=9, trace=trace)
    assert_frame_equal(again.events, events)


def test_events_of_a_scenario_that_was_changed_meanwhile_are_refused(short: Path) -> None:
    result = ak.run(short)
    short.write_text(SHORT.replace("20 ms", "30 ms"), encoding="utf-8")
    with pytest.raises(RuntimeError, match="the scenario was changed after it was run"):
        _ = result.events


def test_against_gives_the_differences_seed_by_seed() -> None:
    result = ak.compare(SHORT, ["reno", "rfc-6675"], seeds=4)
    row = result.against("reno").row(0, named=True)
    assert (row["stack"], row["baseline"], row["flow"], row["runs"]) == ("rfc-6675", "reno", "only", 4)
    by_seed = result.frame.pivot("stack", index="seed", values="acked_bytes")
    pairs = [float(a - b) for a, b in by_seed.select("rfc-6675", "reno").rows()]
    assert (row["acked_bytes"], row["acked_bytes" + HALF]) == _native.interval(pairs)
    assert row["finish_s"] is None
    with pytest.raises(KeyError):
        result.against("tahoe")


@pytest.mark.parametrize("stacks", [["reno"], [], "reno"])
def test_a_comparison_needs_two_stacks(stacks: list[str]) -> None:
    with pytest.raises(ak.ScenarioError, match="allowed: two or more stack names"):
        ak.compare(SHORT, stacks)


def test_a_notebook_shows_the_means_and_escapes_names() -> None:
    named = SHORT.replace('"short"', '"<b>"').replace('"only"', '"a & b"')
    html = ak.run(named, stack=["tahoe", "reno"])._repr_html_()
    assert "&lt;b&gt;: 5 s simulated, 8 runs" in html
    assert html.count("<tr>") == 3
    assert "<td>a &amp; b</td><td>tahoe</td>" in html
    assert " ± " in html
    assert repr(ak.run(SHORT, seed=1)) == "<ackclock.Result: short, 5 s simulated, 1 run>"


def test_new_makes_the_starter_and_leaves_a_file_alone(tmp_path: Path) -> None:
    path = ak.new(tmp_path / "mine.toml")
    assert ak.run(path, seed=1).frame["acked_bytes"][0] > 0
    with pytest.raises(FileExistsError):
        ak.new(path)


def test_stacks_are_typed_and_complete() -> None:
    for stack in ak.stacks():
        # These two are omitted when they do nothing: the window is kept, and nothing is paced.
        assert set(stack) | {"idle", "pacing"} == set(ak.Stack.__annotations__)
        assert isinstance(stack["recovery"]["kind"], str)
    html = ak.stacks()._repr_html_()
    assert html.count("<tr>") == 1 + len(ak.stacks())
    assert "<td>newreno</td><td>" in html


def test_background_traffic_and_reordering_have_tables_of_their_own() -> None:
    text = (Path(__file__).parents[2] / "scenarios/bundle.toml").read_text(encoding="utf-8").replace('"60 s"', '"3 s"')
    source = '[[background]]\nkind = "source"\nfrom = "S"\nto = "D"\nrate = "1 Mbps"\n'
    result = ak.run(text + source, stack=["newreno", "rfc-6675"], seeds=2)
    background, reordering = result.background, result.reordering
    assert background.select("stack", "seed", "background", "kind").rows() == [
        (stack, seed, 0, "source") for stack in ("newreno", "rfc-6675") for seed in (1, 2)
    ]
    assert (background["packets_sent"] > 300).all()
    assert reordering["direction"].to_list() == ["data", "acks"] * 4
    by = reordering["direction"] == "data"
    assert (reordering.filter(by)["reordered"] > 0).all()
    assert reordering.filter(~by)["reordered_ratio"].to_list() == [0.0] * 4
    assert "reordering" not in result.frame.columns
    assert len(result.against("newreno")) == 1
    quiet = ak.run(text.replace("reordering = true", ""))
    assert (len(quiet.reordering), len(quiet.background)) == (0, 0)


def test_the_densities_of_reordering_are_those_of_the_json_and_add_up() -> None:
    text = (Path(__file__).parents[2] / "scenarios/bundle.toml").read_text(encoding="utf-8").replace('"60 s"', '"3 s"')
    result = ak.run(text, stack=["newreno"], seeds=2)
    by = result.densities.partition_by("seed", "direction", "density", as_dict=True)
    assert len(by) == 8
    for run in result.to_dict()["runs"]:
        (flow,) = run["flows"]
        for direction, reported in (("data", flow["reordering"]), ("acks", flow["ack_reordering"])):
            for density in ("reorder", "buffer_occupancy"):
                rows = by[run["seed"], direction, density]
                assert {str(n): s for n, s in rows.select("packets", "share").rows()} == reported[f"{density}_density"]
                assert abs(sum(rows["share"].to_list()) - 1) < 1e-9
        assert min(map(int, flow["reordering"]["reorder_density"])) < 0 < flow["reordering"]["reordered"]
        assert flow["ack_reordering"]["reorder_density"] == {"0": 1.0}
    assert ak.run(text.replace("reordering = true", "")).densities.is_empty()


def test_transfers_in_a_row_are_one_flow_with_the_times_that_they_took() -> None:
    rows = SHORT.replace("[[flow]]", '[[flow]]\napp = { kind = "transfers", size = "3 packets", count = 5 }', 1)
    result = ak.run(rows, seeds=2)
    flows = [flow for run in result.to_dict()["runs"] for flow in run["flows"]]
    times = [flow["transfer_times_s"] for flow in flows]
    assert [len(took) for took in times] == [5, 5]
    assert result.frame["transfers"].to_list() == [5, 5]
    assert result.frame["transfer_median_s"].to_list() == [sorted(took)[2] for took in times]
    assert result.frame["transfer_p95_s"].to_list() == [max(took) for took in times]
    (mean,) = result.summary["transfer_median_s"]
    assert mean == pytest.approx(sum(sorted(took)[2] for took in times) / 2)
    assert ak.run(SHORT, seed=1).frame["transfers"].to_list() == [None]


def test_the_table_of_the_command_has_transfers_only_where_there_are_some(ackclock: Command, tmp_path: Path) -> None:
    rows = SHORT.replace("[[flow]]", '[[flow]]\napp = { kind = "transfers", size = "3 packets", count = 5 }', 1)
    for name, text, there in (("rows", rows, True), ("bulk", SHORT, False)):
        file = tmp_path / f"{name}.toml"
        file.write_text(text)
        assert ("median ms" in ackclock("run", file).stdout) is there
