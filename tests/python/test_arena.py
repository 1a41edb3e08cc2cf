"""The arena: its set of paths, its board, and entries of one's own."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import polars as pl
import pytest

import ackclock as ak
from ackclock.arena.board import Board
from ackclock.arena.entries import about, kept, paths, question, shared
from ackclock.arena.factorial import Cell, Factorial
from ackclock.arena.scores import COLUMNS, Score
from conftest import Command

TWO = ["two-random-20", "demoted-8"]
RENO = {"congestion": "aimd", "congestion.cut_from": "flight"}


def _all(half: str) -> dict[str, Path]:
    return paths(half) | shared(half)


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Board:
    return ak.arena(paths=TWO, seeds=2, store=tmp_path_factory.mktemp("store"))


def test_the_halves_have_different_paths_and_every_path_is_a_scenario_that_runs_for_at_most_200_s() -> None:
    design, judgement = (_all(half) for half in ("design", "judgement"))
    assert (len(design), len(judgement)) == (50, 34)
    assert not set(design) & set(judgement)
    for name, file in (design | judgement).items():
        scenario = tomllib.loads(file.read_text(encoding="utf-8"))
        assert scenario["name"] == name
        assert about(file).endswith(".")
        seconds = float(scenario["run"]["duration"].removesuffix(" s"))
        assert 0 < seconds <= 200
    read = [question([], half, None, True, 2) for half in ("design", "judgement")]
    assert [len(one.paths) for one in read] == [48, 31]
    assert [one.seeds.first for one in read] == [1, 3001]


def test_no_two_paths_are_the_same_network() -> None:
    texts = [file.read_text(encoding="utf-8") for half in ("design", "judgement") for file in _all(half).values()]
    bodies = [text.partition("[run]")[2] for text in texts]
    assert len(set(bodies)) == len(bodies) == 84


def test_the_field_differs_in_detector_and_order_of_repair_alone() -> None:
    path = paths("design")["demoted-8"]
    field = kept()["stack"]
    shown = [tomllib.loads(ak.show(path, stack=one["stack"], set=one.get("set", {}))) for one in field]
    stacks = [scenario["flow"][0]["set"] for scenario in shown]
    assert len({str(stack.pop("detect")) for stack in stacks}) == len(field) == 6
    assert {stack["recovery"].pop("order") for stack in stacks} == {"marks", "rfc6675"}
    assert all(stack == stacks[0] for stack in stacks)


def test_a_share_is_the_mean_goodput_over_that_of_the_best_on_the_path(board: Board) -> None:
    for part in board.answer.paths:
        means = {stack: sum(float(v or 0) for v in values) / 2 for stack, values in part.values["goodput"].items()}
        for stack, mean in means.items():
            assert board.share(part, stack) == pytest.approx(mean / max(means.values()))


def test_the_board_is_in_the_order_of_the_mean_share(board: Board) -> None:
    found = {one.stack: one for one in board.scores}
    assert [one.mean for one in board.scores] == sorted((one.mean for one in board.scores), reverse=True)
    for stack, one in found.items():
        shares = {part.name: board.share(part, stack) for part in board.answer.paths}
        assert one.mean == pytest.approx(sum(shares.values()) / 2)
        assert (one.least, one.least_on) == min((share, name) for name, share in shares.items())
        assert one.nearly_best == sum(share >= 0.99 for share in shares.values())
    # Three duplicates are the wrong rule on both paths, and RACK resends needlessly where heads are moved.
    assert board.scores[-1].stack == "three"
    assert found["late"].needless < found["rack-tlp"].needless / 2
    assert found["rack-tlp"].beside is None


def test_the_tail_is_relative_to_the_baseline_where_all_transfers_end(tmp_path: Path) -> None:
    found = ak.arena(paths=["short-buffer", "demoted-8"], seeds=2, store=tmp_path)
    scores: dict[str, Score] = {one.stack: one for one in found.scores}
    assert scores["rack-tlp"].tail == 1
    part = next(one for one in found.answer.paths if one.name == "short-buffer")
    times = {stack: sum(float(v or 0) for v in values) for stack, values in part.values["completion_p99"].items()}
    assert scores["tcp-pr"].tail == pytest.approx(times["tcp-pr"] / times["rack-tlp"])


def test_the_files_and_the_json_of_the_command(tmp_path: Path, ackclock: Command) -> None:
    chosen = [word for name in TWO for word in ("--path", name)]
    run = ackclock("arena", *chosen, "--seeds", "2", "--out", str(tmp_path / "out"), "--json", "--store", str(tmp_path))
    found = json.loads(run.stdout)
    assert (found["arena"], found["half"], found["baseline"], found["seeds"]) == (3, "design", "rack-tlp", 2)
    assert {row["path"] for row in found["paths"]} == set(TWO)
    assert all(list(row) == list(COLUMNS) for row in found["board"])
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert names == {"board.csv", "arena.svg", "arena.json", "values.parquet"}


def test_the_causes_add_up_to_all_needless_retransmissions(board: Board) -> None:
    for one in board.scores:
        causes = one.needless_fast, one.needless_recovery, one.needless_probe, one.needless_timeout
        assert sum(causes) == pytest.approx(one.needless)
    assert next(one for one in board.scores if one.stack == "three").needless_fast > 0


def test_harm_is_the_goodput_of_others_relative_to_that_beside_their_own_kind(tmp_path: Path) -> None:
    found = ak.arena(
        [("late", {"name": "reno-itself", **RENO})], paths=["demoted-8", "others-swaps"], seeds=2, store=tmp_path
    )
    beside = found.others["reno-itself"].each
    assert set(beside) == {("others-swaps", kind) for kind in ("cubic", "reno", "rack")}
    # CUBIC takes more from NewReno than NewReno from itself.
    assert beside["others-swaps", "reno"] > found.others["rack-tlp"].each["others-swaps", "reno"]
    assert found.others["rack-tlp"].baseline is None
    assert {row["kind"] for row in found.harm} == {"cubic", "reno", "rack"}


def test_the_factorial_has_every_detector_with_every_response_and_its_parts_are_shares(
    tmp_path: Path, ackclock: Command
) -> None:
    run = ackclock(
        "arena", "--factorial", "--path", "demoted-8", "--seeds", "2", "--out", str(tmp_path), "--store", str(tmp_path)
    )
    assert run.stdout.startswith("Arena 3, design, factorial: 216 cells, 1 paths")
    table = pl.read_csv(tmp_path / "factorial.csv")
    assert (table.height, table.select("detector", *kept()["factorial"]).unique().height) == (216, 216)
    assert table["mean"].max() == 1.0
    # Nothing is lost there: whatever the response, late beats three duplicates, which take moved heads for losses.
    by_response = table.pivot(on="detector", index=list(kept()["factorial"]), values="mean")
    assert (by_response["late"] > by_response["three"]).all()


def test_a_factor_that_alone_decides_explains_all_of_the_variance() -> None:
    cells = [Cell((d, u), (share,), 0.0, 0.0) for d, share in (("a", 0.5), ("b", 1.0)) for u in ("x", "y")]
    found = Factorial("design", ("detector", "undo"), cells)
    assert (found.part("detector"), found.part("undo")) == (1.0, 0.0)
    assert found.means("detector") == {"a": 0.5, "b": 1.0}
    assert [one.levels[0] for one in found.under(found.response)] == ["b", "a"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--half", "third"), 'the arena: key `half`: found "third", allowed: one of design, judgement'),
        (("--seeds", "1"), "the arena: key `seeds`: found 1, allowed: 2 to 1,000"),
        (("--path", "drop-tail-12"), 'the arena: key `paths`: found "drop-tail-12", allowed: paths of the half design'),
    ],
)
def test_wrong_words_are_refused_with_one_line(ackclock: Command, words: tuple[str, ...], message: str) -> None:
    run = ackclock("arena", *words)
    assert run.returncode == 2
    assert run.stderr.startswith(f"ackclock: {message}")
    assert run.stderr.count("\n") == 1
