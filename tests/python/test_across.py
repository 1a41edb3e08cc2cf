"""The page about all stacks on the paths of all papers."""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path

import pytest

import ackclock
from ackclock.papers.folder import read
from ackclock.papers.paper import Work
from ackclock.runs.trial import Effort
from ackclock.statistics import Mean
from across import sections as made_sections
from across import table
from across.compare import Cell, Comparison, conclusions
from across.paths import FAMILIES, PATHS, family, flows, point
from conftest import laboratory

PAPERS = Path(__file__).resolve().parents[2] / "papers"
SEEDS = read(PAPERS / "across").full.seeds


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Work:
    folder = tmp_path_factory.mktemp("across")
    return Work(PAPERS, folder, Effort(2, 12), laboratory(folder / "points"))


def test_every_stack_runs_on_every_path_and_is_in_the_table_and_the_pictures(work: Work) -> None:
    sections = made_sections(work)
    stacks = [stack["name"] for stack in ackclock.stacks()]
    with (work.out / "points.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["path"], row["stack"]) for row in rows] == [(path.key, stack) for path in PATHS for stack in stacks]
    assert all(float(row["goodput_bytes_per_s"]) > 0 and row["seeds"] == "2" for row in rows)
    listed = next(one for section in sections for one in section.tables)
    assert sorted(line[0] for line in listed.rows) == sorted(stacks)
    pictures = [picture for section in sections for picture in section.pictures]
    assert [picture.name for picture in pictures] == ["everywhere", "paths", *(path.key for path in PATHS)]
    assert all(
        picture.svg.is_file() and (PAPERS / name).is_file() for picture in pictures for name in picture.scenarios
    )


def test_stacks_come_with_their_own_parameters_and_the_path_with_the_papers() -> None:
    for path in PATHS:
        task = point(path, "newreno", PAPERS, Effort(SEEDS))
        ran = tomllib.loads(task.text)
        theirs = tomllib.loads((PAPERS / path.scenario).read_text(encoding="utf-8"))
        assert not any("set" in flow for flow in flows(ran))
        assert (ran["run"], task.first, task.count) == ({"duration": f"{path.seconds} s"}, 1, SEEDS)
        assert ran.keys() - {"name"} == theirs.keys() - {"name"}
        assert len(flows(ran)) == len(flows(theirs))


def test_every_stack_has_a_kind_by_its_parts() -> None:
    kinds = {stack["name"]: family(stack) for stack in ackclock.stacks()}
    assert set(kinds.values()) == set(FAMILIES)
    some = ("newreno", "rfc-6675", "dsack", "eifel", "dsack-del", "rr-tcp", "ncr-careful", "tcp-pr", "linux-2025")
    assert [kinds[stack] for stack in some] == [
        *("no SACK", "SACK", "undo", "undo", "adaptive", "adaptive", "adaptive", "time", "time")
    ]


def made_up(goodputs: dict[str, list[float]], needless: float = 1.0) -> Comparison:
    """Stacks with these goodputs on the paths, in order."""
    kinds = dict(zip(goodputs, FAMILIES, strict=False))
    return Comparison(
        {
            (path.key, stack): Cell(Mean(2, value, 0.0), Mean(2, needless, 0.0), Mean(2, 0.0, 0.0), stack)
            for stack, values in goodputs.items()
            for path, value in zip(PATHS, values, strict=True)
        },
        kinds,
    )


def test_conclusions_name_the_stacks_that_the_numbers_do() -> None:
    steady, uneven = [95.0] * len(PATHS), [100.0, 10.0, *[100.0] * (len(PATHS) - 2)]
    first, _, third = conclusions(made_up({"newreno": uneven, "rfc-6675": steady, "linux-2025": [50.0] * len(PATHS)}))
    assert first.startswith(f"rfc-6675 comes within 10 % of the best goodput on all {len(PATHS)} paths")
    assert "is rfc-6675, with 95 % of the best" in first
    assert "50 % of the best goodput on average" not in third, "the second path's best is 95"
    first, second, _ = conclusions(made_up({"newreno": uneven, "linux-2025": [80.0] * len(PATHS)}))
    assert first.startswith(
        f"newreno comes within 10 % of the best goodput on {len(PATHS) - 1} of the {len(PATHS)} paths"
    )
    assert "no SACK 82 % and 1.0 %" in second


def test_the_frontier_has_who_is_beaten_by_nobody_in_both() -> None:
    c = made_up({"newreno": [100.0] * len(PATHS), "rfc-6675": [90.0] * len(PATHS), "linux-2025": [80.0] * len(PATHS)})
    cells = dict(c.cells)
    path = PATHS[0]
    cells[path.key, "linux-2025"] = Cell(Mean(2, 80.0, 0.0), Mean(2, 0.0, 0.0), Mean(2, 0.0, 0.0), "")
    assert Comparison(cells, c.families).frontier(path) == ["linux-2025", "newreno"]


def test_the_tables_first_line_has_the_best_worst_path() -> None:
    c = made_up({"newreno": [100.0, 10.0, *[100.0] * (len(PATHS) - 2)], "rfc-6675": [90.0] * len(PATHS)})
    assert [line[0] for line in table(c).rows] == ["rfc-6675", "newreno"]
