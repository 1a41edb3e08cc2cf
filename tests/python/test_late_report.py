"""The report on Late: its bounds are judged by the boards alone."""

from __future__ import annotations

import pytest

import ackclock as ak
from ackclock.arena.entries import kept
from late_report import OWN, VARIANTS
from late_report.bounds import bounds, weak, whole

PATHS = ["requests-jitter", "random-loss", "others-swaps"]


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> ak.Board:
    return ak.arena(paths=PATHS, seeds=2, store=tmp_path_factory.mktemp("store"))


def test_the_report_judges_the_entry_of_the_field() -> None:
    own = next(one for one in kept()["stack"] if one["name"] == "late")
    assert own.get("set", {}) == OWN == VARIANTS["late"]


def test_each_bound_is_judged_by_the_scores(board: ak.Board) -> None:
    late, rack = (next(one for one in board.scores if one.stack == name) for name in ("late", "rack-tlp"))
    found = [one.met for one in bounds(board)]
    assert len(found) == 7
    assert found[0] == (late.nearly_best >= 1.8)
    assert found[1] == (late.least >= 0.97)
    assert found[2] == (late.needless <= rack.needless / 2)
    assert found[4] == (late.timeouts <= rack.timeouts)
    # CUBIC gets more out of random losses if each loss is declared later, so that fewer cuts follow.
    assert not found[1]


def test_the_frontier_lists_the_paths_where_a_bound_is_missed(board: ak.Board) -> None:
    names = [row[0] for row in weak(board).rows]
    assert "random-loss" in names
    assert weak(board).rows[names.index("random-loss")][2] == "tcp-pr"


def test_a_whole_stack_is_judged_against_the_best_of_all(board: ak.Board) -> None:
    mean, least = whole(board)
    best = max(board.scores, key=lambda one: one.mean)
    assert mean.met == (best.stack == "late")
    assert least.met == (max(board.scores, key=lambda one: one.least).stack == "late")
