"""The JSON Schema of scenario files, checked by a third-party validator and compared with the reader's errors."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from ackclock.papers.report import OTHERS
from conftest import Command

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "crates/lab/tests/scenarios"
PLACES = ("crates/lab/tests/scenarios", "papers/*-*", "python/ackclock", "scenarios")
GOOD = sorted(path for place in PLACES for path in ROOT.glob(f"{place}/*.toml") if path.name not in OTHERS)


Complaints = Callable[[str], list[str]]


@pytest.fixture(scope="module")
def complaints() -> Complaints:
    """The validator's errors for a scenario's text."""
    schema = json.loads((ROOT / "docs/scenario.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    return lambda text: [f"{e.json_path}: {e.message}" for e in validator.iter_errors(tomllib.loads(text))]


def bad() -> dict[str, str]:
    """The invalid scenarios that are valid TOML, by title."""
    cases = {}
    for case in (SCENARIOS / "bad.txt").read_text(encoding="utf-8").split("== ")[1:]:
        title, _, text = case.partition("\n")
        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            continue
        cases[title] = text
    return cases


def test_the_command_prints_the_committed_schema(ackclock: Command) -> None:
    assert ackclock("schema").stdout == (ROOT / "docs/scenario.schema.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", GOOD, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_scenario_that_can_be_read_is_valid(complaints: Complaints, path: Path) -> None:
    assert complaints(path.read_text(encoding="utf-8")) == []


def test_a_scenario_with_every_default_spelled_out_is_valid(complaints: Complaints, ackclock: Command) -> None:
    for path in GOOD:
        assert complaints(ackclock("show", str(path)).stdout) == []
    for stack in json.loads(ackclock("stacks", "--json").stdout):
        shown = ackclock("show", str(SCENARIOS / "dumbbell.toml"), "--stack", stack["name"]).stdout
        assert complaints(shown) == [], stack["name"]


def test_most_bad_scenarios_are_invalid(complaints: Complaints) -> None:
    # Only the reader checks sums, comparisons and whole stacks.
    cases = bad()
    refused = [title for title, text in cases.items() if complaints(text)]
    assert len(refused) >= 0.6 * len(cases), sorted(set(cases) - set(refused))


@pytest.mark.parametrize(
    ("written", "instead", "where"),
    [
        ("duration = ", "duraton = ", "$"),
        ('"600 s"', '"600 sec"', "$.run.duration"),
        ('"5 Mbps"', "5", "$.link[1].rate"),
        ('"reno"', '"rneo"', "$.flow[0].stack"),
        ('"rto.tick" = "500 ms"', '"rto.tick" = 500', "$.flow[0].set['rto.tick']"),
        ('"rto.tick" = "500 ms"', '"rto.tik" = "500 ms"', "$.flow[0].set"),
        ('"rto.tick" = "500 ms"', 'recovery = "tahoo"', "$.flow[0].set.recovery"),
        ('"rto.tick" = "500 ms"', "detect.threshold.alpha = true", "$.flow[0].set.detect"),
    ],
)
def test_a_slip_is_found_where_it_stands(complaints: Complaints, written: str, instead: str, where: str) -> None:
    page = (ROOT / "docs/scenario.md").read_text(encoding="utf-8")
    text = page.split("```toml\n")[1].split("```")[0]
    assert complaints(text) == []
    assert written in text
    found = complaints(text.replace(written, instead))
    assert any(complaint.startswith(where) for complaint in found), found


@pytest.mark.parametrize(
    "line",
    [
        'recovery = "tahoe"',
        'recovery = { kind = "newreno", timer = "slow-but-steady" }',
        'rto = { kind = "net2-ticks" }',
        "rto.every_ack = true",
        '"rto.kind" = "net2-ticks"',
        'detect.threshold = "ewma"',
        '"limits.maxburst_segs" = 4',
        "options.sack_blocks = 3",
    ],
)
def test_each_way_to_set_a_parameter_is_valid(complaints: Complaints, line: str) -> None:
    page = (ROOT / "docs/scenario.md").read_text(encoding="utf-8")
    text = page.split("```toml\n")[1].split("```")[0]
    assert complaints(text.replace('"rto.tick" = "500 ms"', line)) == []
