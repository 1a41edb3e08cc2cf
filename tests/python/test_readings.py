"""Readings of a paper's open choices: their effects, which are run, and how they are scored and shown."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

import ackclock as ak
from ackclock.papers import causes, claims, design, folder, reading
from ackclock.papers.claims import Claim, Kind, Verdict
from ackclock.papers.design import PAIR, SEARCH, SINGLE, Scored, Split
from ackclock.papers.reading import Choice, Edit, Option, Reading
from ackclock.runs.trial import Trial
from conftest import SHORT, Command
from reproducing import COMMAND, PAPERS, environment, lay_out, written

READINGS = """\
[[choice]]
key = "loss"
question = "How many packets are lost?"
taken = "some"
[[choice.value]]
key = "some"
text = "§1: some are lost"
[[choice.value]]
key = "most"
text = "§2: most are lost"
[[choice.value.edit]]
changes = { "link[0].elements[0].p" = 0.9 }

[[choice]]
key = "window"
question = "Is the window inflated?"
taken = "yes"
[[choice.value]]
key = "yes"
text = "RFC 5681"
[[choice.value]]
key = "no"
text = "It says nothing."
[[choice.value.edit]]
set = { "recovery.inflate" = false }
"""
DUMBBELL = """
[run]
duration = "5 s"
[[dumbbell.flow]]
stack = "newreno"
[[dumbbell.flow]]
stack = "rfc-6675"
"""


def edited(edit: Edit, trial: Trial, at: Path) -> Trial:
    choice = Choice("c", "?", "a", (Option("a", ""), Option("b", "", (edit,))))
    assert Reading((choice,)).of(trial, at) == trial, "in the reading taken nothing changes"
    return Reading((choice,), {"c": "b"}).of(trial, at)


@pytest.fixture
def scenarios(tmp_path: Path) -> Path:
    (tmp_path / "one.toml").write_text(SHORT, encoding="utf-8")
    (tmp_path / "many.toml").write_text(DUMBBELL, encoding="utf-8")
    return tmp_path


def test_an_edit_reaches_the_runs_of_its_scenarios_and_stacks_alone(scenarios: Path) -> None:
    edit = Edit(stacks=("newreno",), files=("one.toml",), set=(("recovery.inflate", False),))
    assert edited(edit, Trial("one.toml"), scenarios).changes == (("flow[0].set.recovery.inflate", False),)
    assert edited(edit, Trial("one.toml", stack="newreno"), scenarios).set == (("recovery.inflate", "false"),)
    for other in (Trial("one.toml", stack="reno"), Trial("many.toml", stack="newreno")):
        assert edited(edit, other, scenarios) == other


def test_an_edit_reaches_the_flows_of_its_stack_among_others(scenarios: Path) -> None:
    edit = Edit(stacks=("rfc-6675",), set=(("recovery.pipe", "rfc"),))
    assert edited(edit, Trial("many.toml"), scenarios).changes == (("dumbbell.flow[1].set.recovery.pipe", "rfc"),)


def test_a_figures_axis_wins_over_a_reading_and_a_reading_over_the_runs_own_parameters(scenarios: Path) -> None:
    edit = Edit(changes=(("link[0].delay", "9 ms"), ("link[0].rate", "1 Mbps")), set=(("a", 1), ("b", 0.5)))
    trial = Trial("one.toml", (("link[0].delay", "1 ms"),), "newreno", (("a", "0"), ("c", "2")))
    became = edited(edit, trial, scenarios)
    assert became.changes == (("link[0].rate", "1 Mbps"), ("link[0].delay", "1 ms"))
    assert became.set == (("c", "2"), ("a", "1"), ("b", "0.5"))


def test_an_edit_may_take_away_and_run_another_scenario_instead(scenarios: Path) -> None:
    edit = Edit(files=("one.toml",), without=("link[0].delay", "a"), instead="other.toml")
    trial = Trial("one.toml", (("link[0].delay", "1 ms"), ("link[0].rate", "1 Mbps")), "newreno", (("a", "0"),))
    assert edited(edit, trial, scenarios) == Trial("other.toml", (("link[0].rate", "1 Mbps"),), "newreno")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            'taken = "some"',
            'taken = "none"',
            r":4: key `choice\[0\].taken`: found \"none\", allowed: the key of a value",
        ),
        (
            'taken = "some"',
            'taken = "most"',
            r":4: key `choice\[0\].taken`: found \"most\", allowed: the key of a value",
        ),
        ('key = "window"', 'key = "loss"', r"key `choice`: found loss twice, allowed: each key once"),
        ("[[choice.value.edit]]\nset", "[[choice.value.edit]]\nsett", "found an unknown key.*did you mean `set`"),
        ("set = {", 'instead = "b.toml"\nset = {', "found no `files`, allowed: `instead` beside `files`"),
        ('text = "RFC 5681"', "", "found no `text`, allowed: a value with key, text"),
        ("[[choice]]", "[[choices]]", "found an unknown key, allowed: choice"),
    ],
)
def test_a_file_of_choices_that_makes_no_sense_is_refused_with_its_place(
    old: str, new: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "readings.toml").write_text(READINGS.replace(old, new), encoding="utf-8")
    with pytest.raises(ak.ScenarioError, match=says):
        reading.read(tmp_path)


def test_a_cause_has_a_kind_sentences_and_a_command(tmp_path: Path) -> None:
    text = '["S-1"]\nkind = "single run"\ntext = "It is one."\nshown = "ackclock run it"\n'
    (tmp_path / "causes.toml").write_text(text, encoding="utf-8")
    assert causes.read(tmp_path)["S-1"] == causes.Cause("single run", "It is one.", "ackclock run it")
    for old, new, says in (
        ("single run", "bad luck", r':2: key `"?S-1"?.kind`: found "bad luck", allowed: bound by loss, single run'),
        ("shown", "seen", "found an unknown key, allowed: kind, text, shown"),
        ('shown = "ackclock run it"', "", "found no `shown`"),
        ('"It is one."', "'''It is \\\none.'''", ":3: key .*allowed: text without line breaks"),
    ):
        (tmp_path / "causes.toml").write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(ak.ScenarioError, match=says):
            causes.read(tmp_path)


CHOICES = tuple(
    Choice(key, "?", "0", tuple(Option(str(n), "") for n in range(options)))
    for key, options in (("a", 2), ("b", 3), ("c", 2))
)


def test_the_design_has_every_choice_otherwise_alone_and_every_two_together() -> None:
    declared = design.declared(CHOICES)
    assert [why for _, why in declared] == ["taken", *[SINGLE] * 4, *[PAIR] * 5]
    assert len({one.name for one, _ in declared}) == 10
    assert [one.name for one, _ in declared[:3]] == ["as taken", "a=1", "b=1"]


def test_the_halves_are_every_other_measured_claim() -> None:
    kinds = [Kind.MEASURED, Kind.SETUP, Kind.MEASURED, Kind.CALIBRATED, Kind.MEASURED]
    listed = [Claim(str(i), "", "", "", "over 1", "", kind, "") for i, kind in enumerate(kinds)]
    unchecked = Claim("9", "", "", "", "", "", Kind.MEASURED, "")
    assert Split.of([*listed, unchecked]) == Split(("0", "4"), ("2",))


def explored(world: Mapping[str, str], split: Split) -> list[Scored]:
    """The readings of a made-up paper; ``world`` gives the option under which each claim holds."""

    def run(one: Reading, why: str) -> Scored:
        chosen = {f"{key}={option}" for key, option in one.otherwise.items()}
        held = {claim: set(needs.split()) <= chosen for claim, needs in world.items()}
        return Scored(one, why, {claim: Verdict.HOLDS if held[claim] else Verdict.DIFFERS for claim in world})

    expected: list[int] = []
    done = design.explore(CHOICES, split, run, expected.append)
    assert (expected[0], sum(expected)) == (10, len(done))
    return done


def test_a_search_goes_on_from_the_best_pairs_and_never_looks_at_the_half_that_is_held_out() -> None:
    split = Split(("1", "3"), ("2",))
    done = explored({"1": "a=1 b=2", "2": "", "3": "a=1 b=2 c=1"}, split)
    found = [one.reading.name for one in done if one.why == SEARCH]
    assert "a=1, b=2, c=1" in found
    assert design.ranked(done, split)[0].reading.name == "a=1, b=2, c=1"
    other = explored({"1": "a=1 b=2", "2": "b=1", "3": "a=1 b=2 c=1"}, split)
    assert [one.reading.name for one in other] == [one.reading.name for one in done]


def test_what_an_option_changes_is_taken_with_everything_else_alike() -> None:
    done = explored({"1": "a=1", "2": "a=1 b=1"}, Split(("1", "2"), ()))
    found = design.effects(done, ["1", "2"])
    assert sorted(found["a", "1"]) == [1.0, 1.0, 1.0, 1.0, 2.0, 2.0], "two readings of three came of the search"
    assert set(found["c", "1"]) == {0.0}


def made_up(at: Path) -> Path:
    lay_out(at / "papers", "made-up-1999")
    paper = at / "papers" / "made-up-1999"
    (paper / "readings.toml").write_text(READINGS, encoding="utf-8")
    few = (paper / "claims.csv").read_text(encoding="utf-8").replace("over 10", "over 1")
    (paper / "claims.csv").write_text(few, encoding="utf-8")
    return paper


ASKED = ("reproduce", "made-up-1999", "--readings", "--json")


def test_a_paper_is_run_under_every_reading_and_its_page_shows_what_they_change(
    tmp_path: Path, ackclock: Command
) -> None:
    made_up(tmp_path)
    done = ackclock(*ASKED)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    read = json.loads((tmp_path / "results/made-up-1999/readings.json").read_text(encoding="utf-8"))
    assert [(one["otherwise"], one["why"], one["holding"]) for one in read["readings"]] == [
        ({}, "taken", 1),
        ({"loss": "most"}, "single", 2),
        ({"window": "no"}, "single", 1),
        ({"loss": "most", "window": "no"}, "pair", 2),
    ]
    assert [one["verdicts"] for one in read["readings"]] == ["hd-", "hh-", "hd-", "hh-"]
    assert read["claims"] == ["M-1", "M-2", "M-3"]
    assert (read["scored"], read["held_out"]) == (["M-1"], ["M-2"])
    assert (read["effort"]["seeds"], read["full_effort"]["seeds"], len(read["in_full"])) == (2, 4, 4)
    page = (tmp_path / "results/made-up-1999.html").read_text(encoding="utf-8")
    words = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "The text leaves 2 choices open. 4 readings were run" in words
    assert "It holds under 2 of 4 readings of the text. One different choice is enough: loss=most." in words
    assert "1 of 2 options change no score." in words
    assert "§2: most are lost" in words
    results = (tmp_path / "results/made-up-1999/RESULTS.md").read_text(encoding="utf-8")
    assert "## Readings\n\nThe text leaves 2 choices open." in results
    assert "![Which choices matter](readings.svg)" in results


def test_judged_readings_are_kept_and_a_command_that_is_killed_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    for at in (whole, cut):
        made_up(at)
    command = [*COMMAND[:-1], *ASKED, "--quick"]
    subprocess.run(command, cwd=whole, env=environment(), capture_output=True, check=True, timeout=120)
    for after_s in (0.5, 0.9, 1.3, 1.7):
        with subprocess.Popen(command, cwd=cut, env=environment(), stdout=-3, stderr=-3) as killed:
            time.sleep(after_s)
            killed.send_signal(signal.SIGKILL)
    last = subprocess.run(command, cwd=cut, env=environment(), capture_output=True, check=False, timeout=120)
    assert last.returncode == 0, last.stderr
    assert written(cut) == written(whole)


def test_a_plain_run_is_the_reading_as_taken(tmp_path: Path, ackclock: Command) -> None:
    code = made_up(tmp_path) / "paper.py"
    asks = code.read_text(encoding="utf-8").replace('"It has none."', 'work.reading["loss"]')
    code.write_text(asks, encoding="utf-8")
    done = ackclock("reproduce", "made-up-1999", "--quick")
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "results/made-up-1999/claims.json").read_text(encoding="utf-8"))
    assert rows[2]["note"] == "some"


def test_readings_on_a_cluster_are_those_of_this_machine_byte_for_byte(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for at, options in ((here, []), (there, ["--on", "dask:2"])):
        made_up(at)
        command = [*COMMAND[:-1], *ASKED, "--quick", *options]
        done = subprocess.run(
            command, cwd=at, env=environment(), capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
    assert written(there) == written(here)


def test_a_paper_without_the_function_is_refused_with_its_place(tmp_path: Path, ackclock: Command) -> None:
    at = made_up(tmp_path)
    code = (at / "paper.py").read_text(encoding="utf-8").replace("judged(", "weighed(")
    (at / "paper.py").write_text(code, encoding="utf-8")
    done = ackclock(*ASKED, "--quick")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "papers/made-up-1999/paper.py: found no function judged, allowed: judged(work)" in done.stderr


OF_OURS = sorted(file.parent.name for file in PAPERS.glob("*/paper.toml"))


@pytest.mark.parametrize("key", OF_OURS)
def test_every_choice_of_ours_names_what_supports_each_of_its_values(key: str) -> None:
    for choice in reading.read(PAPERS / key):
        assert all(option.text.endswith((".", ")", '"')) for option in choice.options), choice.key
        assert choice.question.endswith("?"), choice.key


@pytest.mark.parametrize("key", OF_OURS)
def test_causes_are_given_for_each_measured_claim_that_differs_and_no_other(key: str) -> None:
    rows = json.loads((PAPERS / key / "claims.json").read_text(encoding="utf-8"))
    differing = [r["id"] for r in rows if r["kind"] == "measured" and r["verdict"] in {"differs", "partly"}]
    assert sorted(causes.read(PAPERS / key)) == differing


@pytest.mark.parametrize("key", OF_OURS)
def test_a_papers_readings_are_those_of_its_choices_and_claims(key: str) -> None:
    row = json.loads((PAPERS / key / "readings.json").read_text(encoding="utf-8"))
    choices = reading.read(PAPERS / key)
    assert choices
    assert [c["key"] for c in row["choices"]] == [choice.key for choice in choices]
    assert len(row["readings"]) >= len(design.declared(choices))
    split = Split.of(claims.read(PAPERS / key / folder.CLAIMS))
    assert (tuple(row["scored"]), tuple(row["held_out"])) == (split.scored, split.held_out)
