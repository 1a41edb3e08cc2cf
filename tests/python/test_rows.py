"""Rows of tables from the JSON of runs."""

from __future__ import annotations

import json
import random
from typing import Any

import polars as pl
import pytest

from ackclock import _native
from ackclock.sweep.columns import FLOW_NUMBERS
from ackclock.sweep.rows import unpacked


def run(*flows: dict[str, Any], **more: object) -> str:
    """The JSON of a run."""
    whole = {"identity": "i", "trace_hash": "h", "duration_s": 5.0, **more}
    return json.dumps(
        {**whole, "flows": [{"stack": "reno", "name": "0", **flow} for flow in flows]}, ensure_ascii=False
    )


def rows(*runs: str) -> pl.DataFrame:
    """The rows of runs."""
    return pl.DataFrame(_native.rows_of_runs(list(runs)))


def test_each_number_of_a_flow_has_a_column_of_its_type_and_is_null_if_it_is_missing() -> None:
    kinds = {int: pl.Int64, float: pl.Float64}
    before, after = ["run", "stack", "flow", "duration_s"], ["identity", "trace_hash"]
    found = rows(run({}, dict.fromkeys(FLOW_NUMBERS)), run({name: of(7) for name, of in FLOW_NUMBERS.items()}))
    assert found.columns == [*before, *FLOW_NUMBERS, *after]
    assert {name: found.schema[name] for name in FLOW_NUMBERS} == {n: kinds[of] for n, of in FLOW_NUMBERS.items()}
    assert found.select(list(FLOW_NUMBERS)).rows() == [(None,) * 25, (None,) * 25, (7,) * 25]
    assert found["run"].to_list() == [0, 0, 1]


def test_a_float_keeps_every_digit() -> None:
    draw = random.Random(1)
    values = [draw.random() * 10.0 ** draw.randrange(-300, 300) for _ in range(2000)]
    assert rows(*(run({"finish_s": value}) for value in values))["finish_s"].to_list() == values


def test_names_may_have_any_character() -> None:
    name = 'a "quoted" \\ näme\n'
    assert rows(run({"name": name}))["flow"].to_list() == [name]


@pytest.mark.parametrize("text", ["", "{}", '{"identity": 1}', run({"finish_s": "soon"}), run({"timeouts": 0.5})])
def test_a_text_that_is_no_run_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not the JSON of a run: "):
        rows(run({}), text)


def test_what_is_known_about_a_run_is_repeated_for_each_flow() -> None:
    about = pl.DataFrame({"seed": [3, 4, 5]})
    found = unpacked(about, [run({}, {}), run(), run({"name": "x"})], measured=False)
    assert found["seed"].to_list() == [3, 3, 5]
    assert found["flow"].to_list() == ["0", "0", "x"]
