"""Mutation testing: the rewriting of functions, and whether the lists still fit the code."""

from __future__ import annotations

import csv
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from mutants import COLUMNS, DRAWN, FAULT_COUNT, FAULTS, KEPT, OPEN, SEED, equivalent, kept, lists, place
from mutants_rewrite import Change, Mutant, body_of, rewrite
from mutants_run import CRATES

ROOT = Path(__file__).resolve().parents[2]
TEXT = """
/// A `const fn` in words, and "a { brace".
fn less(a: u32, b: u32) -> bool where u32: Copy {
    let open = '{'; // }
    a < b
}
const fn fixed() -> u32 { 1 }
fn many() -> impl Iterator<Item = u32> { 0..3 }
"""


def mutant(body: tuple[int, int] | None, change: Change) -> Mutant:
    return Mutant("ackclock-tcp", "f.rs", "less", "replace < with <=", change, body)


def test_the_body_of_a_function_is_found_past_strings_comments_and_characters() -> None:
    body = body_of(TEXT, TEXT.index("///"))
    assert body is not None
    assert TEXT[body[0] : body[1]].splitlines()[-2:] == ["    a < b", "}"]


@pytest.mark.parametrize("name", ["const fn fixed", "fn many"])
def test_constant_functions_and_opaque_types_cannot_be_switched(name: str) -> None:
    assert body_of(TEXT, TEXT.index(name)) is None


def test_each_mutant_gets_an_arm_with_its_one_change_and_the_last_arm_is_as_written() -> None:
    body = body_of(TEXT, TEXT.index("fn less"))
    at = TEXT.index("a < b") + 2
    new = rewrite(TEXT, {7: mutant(body, Change(at, at + 1, "<=")), 9: mutant(body, Change(at, at + 1, ">"))})
    lines = new.text.splitlines()
    assert [line.strip() for line in lines if re.search(r"\ba [<>=]+ b\b", line)] == ["a <= b", "a > b", "a < b"]
    assert all(lines[first - 1].startswith(f"{n} => ") for n, (first, _) in new.lines.items())
    assert new.switches == {7: 7, 9: 7}, "both are arms of one switch"
    assert "match crate::active_mutant(7)" in new.text
    assert rewrite(TEXT, {}).text == TEXT


def test_each_kept_mutant_still_fits_the_code_and_its_test_exists() -> None:
    # `kept` refuses a text that is not in its file exactly once.
    found = list(kept())
    assert len(found) >= 20
    for m, rule, test in found:
        assert m.body is not None, rule
        assert m.body[0] < m.change.start
        assert m.change.end <= m.body[1], rule
        name = test.rsplit("::", 1)[-1]
        sources = (ROOT / "crates" / "tcp" / "src").rglob("*.rs")
        assert any(f"fn {name}(" in path.read_text(encoding="utf-8") for path in sources), name


def test_the_table_of_the_page_lists_the_kept_mutants() -> None:
    rows = tomllib.loads(KEPT.read_text(encoding="utf-8"))["survivor"]
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    for row in rows:
        name = row["test"].rsplit("::", 1)[-1]
        assert f"| {row['rule'].split(': ', 1)[1]} | {row['rule'].split(': ', 1)[0]} | `{name}` |" in page


def test_the_order_of_drawing_depends_on_no_other_mutant() -> None:
    keys = [f"f.rs: replace {n} with 0 #1" for n in range(50)]
    ordered = sorted(keys, key=place)
    assert ordered != keys
    assert sorted(keys[:30], key=place) == [key for key in ordered if key in keys[:30]]


SEEDS = (26, 27)
"""The seeds of the judgement lists."""


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text))
    assert tuple(rows[0]) == COLUMNS
    return rows


def key_of(row: dict[str, str]) -> str:
    return f"{row['file']}: {row['change']} #{row['number']}"


def test_every_drawn_mutant_has_an_outcome_and_its_file_exists() -> None:
    for row in rows_of(DRAWN):
        assert row["outcome"] in {"killed", "table", "survived", "unviable", OPEN}, row
        assert (row["by"] == "") == (row["outcome"] in {"survived", "unviable"}), row
        assert row["outcome"] != OPEN or int(row["by"]) > 0, row
        assert Path(ROOT / row["file"]).is_file(), row["file"]


def test_a_mutant_without_an_effect_was_drawn_was_noticed_by_no_test_and_has_a_reason() -> None:
    outcomes = {key_of(row): row["outcome"] for seed in (SEED, *SEEDS) for row in rows_of(lists(seed)[0])}
    for key, why in equivalent().items():
        assert outcomes[key] in {"survived", OPEN}, key
        assert why.endswith("."), key


def test_the_faults_of_the_referee_are_forty_mutants_of_the_engine_that_were_drawn() -> None:
    faults = rows_of(FAULTS)
    assert len(faults) == FAULT_COUNT
    assert {key_of(row) for row in faults} <= {key_of(row) for row in rows_of(DRAWN)} - equivalent().keys()
    assert {row["file"].split("/")[1] for row in faults} == {"tcp"}
    found = sum(row["outcome"] == "found" for row in faults)
    assert f"It finds {found} of {FAULT_COUNT}." in (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_later_list_shares_no_mutant_with_an_earlier_one_and_its_score_is_on_the_page(seed: int) -> None:
    drawn, faults = (rows_of(path) for path in lists(seed))
    ours = {key_of(row) for row in drawn}
    assert len(faults) == FAULT_COUNT
    assert {key_of(row) for row in faults} <= ours
    for earlier in (SEED, *(s for s in SEEDS if s < seed)):
        assert not ours & {key_of(row) for row in rows_of(lists(earlier)[0])}
    found = sum(row["outcome"] == "found" for row in faults)
    assert f"it found {found} of {FAULT_COUNT};" in (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")


def test_the_third_list_has_no_fault_without_an_effect() -> None:
    assert not {key_of(row) for row in rows_of(lists(27)[1])} & equivalent().keys()


def test_the_table_of_the_page_counts_the_drawn_mutants_of_each_crate() -> None:
    page, same = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8"), equivalent()
    for crate in CRATES:
        rows = [row for row in rows_of(DRAWN) if row["file"].split("/")[1] == crate and row["outcome"] != "unviable"]
        counts = Counter("equivalent" if key_of(row) in same else row["outcome"] for row in rows)
        counted = len(rows) - counts["equivalent"]
        share = f"{100 * counts['killed'] / counted:.0f} %"
        left = counts["survived"] + counts["table"]
        cells = (len(rows), counts["equivalent"], counts["killed"], left, counts[OPEN], share)
        assert f"| `{crate}` | {' | '.join(map(str, cells))} |" in page
