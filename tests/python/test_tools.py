"""The calculations of the bench and its related tools."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import bench
import pytest
import revision
import speed_page
from instructions import Kept, asked, moved, read, written

ROOT = Path(__file__).resolve().parents[2]
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
        "case 1: 1,507 kept, 1,560 now (+3.5 %); if that is intended: tools/instructions.py --write"
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


def row(case: str, **found: float) -> dict[str, Any]:
    return {**dict.fromkeys(bench.KEYS), "case": case, "machine": "a machine, 2 cores", **found}


ROWS = [
    row("1 (sack-ff96)", packets_per_cpu_s=16e6, ratio=12.3, ratio_ns3=250.0, instructions_per_packet=1507.1),
    row("1-swaps (dsack-avg)", packets_per_cpu_s=8.1e6, per_simulated_s=414.6),
    row("bare-1 (bare)", packets_per_cpu_s=20e6),
    row("1-swaps (tahoe)", instructions_per_packet=2071.8),
    row("1-swaps (tcp-pr)", instructions_per_packet=3074.5),
]


def measured(what: str) -> list[str]:
    """The cells of the first line with this figure in the page's first table."""
    lines = (line.split(" | ") for line in speed_page.asked(ROWS))
    return next(cells for cells in lines if cells[1] == what)


def test_the_page_says_of_each_figure_whether_it_is_what_is_asked_or_what_is_aimed_at() -> None:
    assert measured(speed_page.NS2)[2:6] == ["≥ 12", "≥ 16", "12.3", "yes"]
    assert measured(speed_page.INSTRUCTIONS)[2:6] == ["≤ 1,500", "≤ 1,250", "1,507", "no"]
    assert measured(speed_page.BARE)[2:6] == ["", "≥ 80", "80", "aim"]
    assert measured(speed_page.RATE)[4:6] == ["8.1", "aim"]
    assert measured("s")[4:6] == ["", ""]


def test_stacks_are_shown_by_what_they_cost_and_the_dearest_is_judged() -> None:
    assert list(speed_page.by_stack(ROWS)) == ["tahoe", "tcp-pr"]
    assert speed_page.dearest(ROWS) == 3074.5


def test_renewing_the_page_changes_nothing_outside_its_marks_and_twice_is_once() -> None:
    page = f"before\n{speed_page.BEGIN}old\n{speed_page.END}\nafter\n"
    once = speed_page.renewed(page, ROWS)
    assert once.startswith("before\n")
    assert once.endswith("\nafter\n")
    assert "old" not in once
    assert "a machine, 2 cores" in once
    assert speed_page.renewed(once, ROWS) == once
    with pytest.raises(ValueError, match="marks"):
        speed_page.renewed("no marks", ROWS)


def test_a_snapshot_that_lost_a_line_is_recorded_only_with_a_higher_revision(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(revision, "RECORD", tmp_path / "revision.toml")
    monkeypatch.setattr(revision, "changed_lines", {"same.snap": 0, "other.snap": 3}.get)
    assert revision.write(revision.revision(), ["same.snap"]) == 0
    assert tomllib.loads((tmp_path / "revision.toml").read_text())["revision"] == revision.revision()
    assert revision.write(revision.revision(), ["same.snap", "other.snap"]) == 1
    assert "other.snap: 3 lines" in capsys.readouterr().out
    assert revision.write(revision.revision() - 1, ["other.snap"]) == 0


def test_every_fuzz_target_names_one_test_that_exists() -> None:
    for name, target in tomllib.loads((ROOT / "tools/fuzz.toml").read_text(encoding="utf-8")).items():
        match target["test"]:
            case ["page", words]:
                text = (ROOT / "web/src/damaged.test.ts").read_text(encoding="utf-8")
                found = len(re.findall(f'"[^"\\n]*{words}[^"\\n]*"', text))
            case ["python", file, words]:
                text = (ROOT / "tests/python" / file).read_text(encoding="utf-8")
                found = int(all(word in text for word in words.split() if word != "and"))
            case ["rust", file, words]:
                crates = ROOT / "crates"
                files = [*crates.glob(f"*/tests/{file}.rs"), *crates.glob(f"*/tests/{file}/*.rs")]
                text = "".join(one.read_text(encoding="utf-8") for one in files)
                found = text.count(f"fn {words}")
            case _:
                found = 0
        assert found == 1, name


def test_every_file_of_rust_tests_is_a_module_of_its_program() -> None:
    files = [one for main in (ROOT / "crates").glob("*/tests/*/main.rs") for one in main.parent.rglob("*.rs")]
    assert len(files) > 100
    for file in files:
        if file.name != "main.rs":
            program = file.parent / "main.rs"
            owner = program if program.is_file() else file.parent.with_suffix(".rs")
            declared = rf"^(pub(\(crate\))? )?mod {file.stem};"
            assert re.search(declared, owner.read_text(encoding="utf-8"), re.MULTILINE), file
