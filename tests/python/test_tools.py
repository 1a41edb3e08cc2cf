"""What the bench and its companions make of numbers."""

from __future__ import annotations

import tomllib

from instructions import Kept, asked, moved, read, written

KEPT = Kept(
    compiler="rustc 1",
    at_most={"1": 2000, "stacks": 2500},
    above={"slow": "it tries hard"},
    cases={"1": 1507.0},
    stacks={"fast": 2000.0, "slow": 2700.0},
)


def test_kept_counts_read_as_they_were_written() -> None:
    assert read(written(KEPT)) == KEPT
    assert tomllib.loads(written(KEPT))["above"] == {"slow": "it tries hard"}


def test_a_count_that_moved_by_more_than_two_percent_is_named_with_both_numbers() -> None:
    assert list(moved("case", KEPT.cases, {"1": 1536.0})) == []
    assert list(moved("case", KEPT.cases, {"1": 1560.0})) == [
        "case 1: 1,507 kept, 1,560 now (+3.5 %); if that is meant: tools/instructions.py --write"
    ]
    assert len(list(moved("case", KEPT.cases, {"1": 1470.0}))) == 1


def test_counts_that_are_not_kept_and_kept_ones_that_are_not_counted_are_named() -> None:
    said = list(moved("stack", KEPT.stacks, {"fast": 2000.0, "new": 1999.0}))
    assert [line.split(":")[0] for line in said] == ["stack new", "stack slow"]


def test_a_stack_over_what_is_asked_must_be_listed_and_one_that_is_listed_must_be_over() -> None:
    assert list(asked(KEPT, {"1": 1999.0}, {"fast": 2500.0, "slow": 2501.0})) == []
    assert [line.split(":")[0] for line in asked(KEPT, {"1": 2001.0}, {"fast": 2501.0, "slow": 2500.0})] == [
        "case 1",
        "stack fast",
        "stack slow",
    ]
    assert list(asked(KEPT, {}, {"fast": 1.0})) == ["stack slow: in [above], but there is none"]
