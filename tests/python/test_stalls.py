"""Why transfers of a run stood still: the command, the table and JSON say the same sentences."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import polars as pl
import pytest

import ackclock as ak
from conftest import Command

HANDOVER = Path(__file__).parents[2] / "scenarios/handover.toml"


def test_the_command_the_table_and_json_say_the_same(ackclock: Command) -> None:
    options = (HANDOVER, "--stack", "eifel", "--seeds", "2", "--stalls")
    printed = ackclock("run", *options).stdout
    found = json.loads(ackclock("run", *options, "--json").stdout)
    result = ak.run(HANDOVER, stack="eifel", seeds=2, stalls=True)
    assert result.to_dict() == found
    rows = result.stalls
    assert rows["seed"].unique().sort().to_list() == [1, 2]
    assert set(rows["cause"]) == {"needless timeout"}
    for row, stall in zip(rows.rows(named=True), (s for run in found["runs"] for s in run["stalls"]), strict=True):
        assert row["evidence"] == " ".join(sentence["text"] for sentence in stall["sentences"])
        assert {**stall, "seed": row["seed"]} == {**row, "sentences": stall["sentences"]}
        assert f"{row['title']} (flow-1, eifel, seed {row['seed']})" in printed
        assert all(sentence["text"] in printed for sentence in stall["sentences"])


def test_stalls_are_the_same_for_a_pickled_result_and_beside_a_trace(tmp_path: Path) -> None:
    plain = ak.run(HANDOVER, stack="eifel", seed=1, stalls=True)
    traced = ak.run(HANDOVER, stack="eifel", seed=1, stalls=True, trace=tmp_path / "x.parquet")
    assert pl.DataFrame(plain.arrow("stalls")).equals(traced.stalls)
    assert pickle.loads(pickle.dumps(plain)).stalls.equals(plain.stalls)


def test_stalls_that_were_not_requested_are_refused_in_a_sentence() -> None:
    with pytest.raises(RuntimeError, match="the stalls were not requested"):
        ak.run(HANDOVER, stack="eifel", seed=1).stalls  # noqa: B018 - the attribute is the test
