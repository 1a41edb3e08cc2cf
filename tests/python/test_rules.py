"""The written rule that turns a paper's words into verdicts."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path

import pytest

import ackclock
from ackclock.papers import claims, rules
from ackclock.papers.claims import Claim, Kind, Verdict
from ackclock.papers.rules import WORDS, Interval, Part, parse

ROOT = Path(__file__).resolve().parents[2]
HOLDS, UNDECIDED, DIFFERS = Part.HOLDS, Part.UNDECIDED, Part.DIFFERS


def claim(rule: str) -> Claim:
    return Claim("C", "§1", "what", "published", rule, "", Kind.MEASURED, "")


@pytest.mark.parametrize(
    ("rule", "inside", "outside"),
    [
        ("exactly 25", (25.0, 24.6), (25.6, 24.4)),
        ("exactly 9.54455", (9.544553,), (9.5446, 9.54)),
        ("number 3.078", (2.8, 3.38), (2.7, 3.4)),
        ("number 1.15 1.3", (1.04, 1.42), (1.03, 1.44)),
        ("about 65", (52.0, 78.0), (51.9, 78.1)),
        ("about 40 80", (32.0, 96.0), (31.9, 96.1)),
        ("roughly 275", (192.6, 357.4), (192.4, 357.6)),
        ("order 10", (8.0, 5.0, 20.0), (4.9, 20.1)),
        ("same 1", (0.991, 1.009), (0.98, 1.02)),
        ("over 0", (0.001,), (0.0, -0.001)),
        ("under 1", (0.999,), (1.0,)),
        ("at least 4", (4.0, 5.0), (3.99,)),
        ("at most 0", (0.0, -1.0), (0.01,)),
        ("within about 1", (1.2, 0.0), (1.21,)),
        ("slightly over 1", (1.0, 1.1), (0.99, 1.11)),
        ("slightly over 0", (0.0, 10.0), (-0.1, 10.1)),
        ("slightly under 0", (-0.1, -10.0), (0.1, -10.1)),
        ("significantly over 1", (1.1, 3.0), (1.09,)),
        ("significantly under 1", (0.9,), (0.91,)),
        ("significantly over 0", (10.0,), (9.9,)),
        ("drastically under 1", (0.5, 0.1), (0.51,)),
        ("slight", (0.0, 10.0), (10.1,)),
        ("rather slight", (20.0,), (20.1,)),
        ("rising", (0.9, 1.0), (0.89, -1.0)),
        ("falling", (-0.9,), (-0.89,)),
        ("before", (0.98,), (1.02,)),
    ],
)
def test_each_word_of_the_rule_accepts_what_the_table_says_and_no_more(
    rule: str, inside: tuple[float, ...], outside: tuple[float, ...]
) -> None:
    assert [claim(rule).judge((value,)) for value in inside] == [(HOLDS,)] * len(inside)
    assert [claim(rule).judge((value,)) for value in outside] == [(DIFFERS,)] * len(outside)
    assert claim(rule).judge((math.nan,)) == (DIFFERS,)


def test_the_table_in_the_docs_names_every_word() -> None:
    text = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z ]+?)(?: [NAB ]+)?` \| (.*?) \| (.*?) \|$", text, flags=re.MULTILINE)
    assert rows == [(name, word.words, word.accepts) for name, word in WORDS.items()]


@pytest.mark.parametrize(
    ("interval", "part"),
    [
        ((1.1, 1.3), HOLDS),
        ((0.9, 1.3), UNDECIDED),
        ((0.7, 0.9), DIFFERS),
        ((0.7, 1.0), DIFFERS),
        ((1.0, 1.3), UNDECIDED),
    ],
)
def test_an_interval_across_the_bound_decides_nothing(interval: Interval, part: Part) -> None:
    assert claim("over 1").judge((sum(interval) / 2,), (interval,)) == (part,)


def test_an_interval_wider_than_what_is_accepted_decides_nothing() -> None:
    assert claim("about 10").judge((10.0,), ((5.0, 15.0),)) == (UNDECIDED,)


@pytest.mark.parametrize(
    ("median", "spread", "part"),
    [(33.0, (20.0, 50.0), HOLDS), (45.0, (20.0, 60.0), UNDECIDED), (45.0, (34.0, 60.0), DIFFERS)],
)
def test_a_single_published_run_outside_what_ours_do_differs_and_inside_our_median_decides(
    median: float, spread: Interval, part: Part
) -> None:
    assert claim("draw number 33.3").judge((median,), ((median - 1, median + 1),), (spread,)) == (part,)


@pytest.mark.parametrize(("spread", "part"), [((0.5, 2.0), HOLDS), ((-1.0, 2.0), UNDECIDED), ((-2.0, -1.0), DIFFERS)])
def test_the_order_of_single_runs_is_decided_only_where_nearly_all_of_ours_have_it(
    spread: Interval, part: Part
) -> None:
    assert claim("draw over 0").judge((0.1,), (None,), (spread,)) == (part,)


def test_values_that_are_the_same_leave_an_order_undecided() -> None:
    assert claim("before").judge((0.999995,)) == (UNDECIDED,)
    assert claim("before").judge((1.005,)) == (UNDECIDED,)
    assert claim("before").judge((0.985,), ((0.97, 0.995),)) == (UNDECIDED,)


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ((HOLDS, HOLDS), Verdict.HOLDS),
        ((HOLDS, DIFFERS), Verdict.PARTLY),
        ((UNDECIDED, HOLDS, DIFFERS), Verdict.PARTLY),
        ((HOLDS, UNDECIDED), Verdict.UNDECIDED),
        ((UNDECIDED, DIFFERS), Verdict.DIFFERS),
        ((DIFFERS,), Verdict.DIFFERS),
    ],
)
def test_a_claim_holds_if_all_of_its_parts_do(parts: tuple[Part, ...], verdict: Verdict) -> None:
    assert Verdict.of(parts) is verdict


def test_a_finding_says_which_of_its_parts_hold() -> None:
    found = claims.judge(claim("about 50; over 0"), (70.0, 1.0), ((69.0, 71.0), (-0.5, 2.0)))
    assert found.verdict is Verdict.DIFFERS
    assert found.reason == (
        "70 is outside 40 to 60; 1 is above 0 (undecided). The 95 % interval includes the bound: other "
        "seeds may decide differently."
    )
    assert found.row()["parts"] == ["differs", "undecided"]


def test_a_text_is_what_the_scenarios_have_or_not() -> None:
    setup = claim("= 5 ms")
    assert (setup.judge("5 ms"), setup.judge("6 ms")) == ((HOLDS,), (DIFFERS,))
    with pytest.raises(ValueError, match="a text is measured"):
        claim("over 1").judge("5 ms")


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("nearly 5", "found the rule 'nearly', allowed: exactly, number, about"),
        ("< 5", "found the rule '< 5', allowed"),
        ("about", "found 0 numbers behind the rule 'about', allowed: 1 or 2"),
        ("rising 3", "found 1 numbers behind the rule 'rising', allowed: 0"),
        ("slightly over 5", "found 5 behind the rule 'slightly over', allowed: 1 for a ratio, 0 for a difference in %"),
        ("draw about 1 2", "allowed behind `draw`: a rule with one number"),
    ],
)
def test_a_rule_that_is_none_is_refused_with_what_is_allowed(rule: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        parse(rule)


def test_more_values_than_rules_are_refused() -> None:
    with pytest.raises(ValueError, match="2 values for 1 rules"):
        claim("over 1").judge((1.0, 2.0))


def test_a_line_with_a_wrong_rule_or_kind_is_refused_with_its_place(tmp_path: Path) -> None:
    head = "id,where,quantity,published,rule,unit,kind,provenance\n"
    file = tmp_path / "claims.csv"
    for line, says in [
        ("A,§1,x,1,nearly 1,,measured,", rf"{file}:2: key `rule`: found the rule 'nearly', allowed: exactly"),
        ("A,§1,x,1,about 1,,guessed,", rf"{file}:2: key `kind`: found guessed, allowed: measured, set-up, calibrated"),
    ]:
        file.write_text(head + line + "\n", encoding="utf-8")
        with pytest.raises(ackclock.ScenarioError, match=re.escape(says)):
            claims.read(file)


def test_a_spread_leaves_a_twentieth_on_either_side() -> None:
    assert claims.spread([float(n) for n in range(101)]) == (5.0, 95.0)
    assert claims.spread([7.0]) == (7.0, 7.0)


def test_no_word_of_the_rule_has_a_width_of_its_own() -> None:
    """The ranges of "about" and other words depend only on the number, so no claim has a bound made for it."""
    for word in ("number", "about", "roughly", "order", "same"):
        small, large = (rules.WORDS[word].bound(n) for n in (2.0, 200.0))
        assert (large.low, large.high) == pytest.approx((100 * small.low, 100 * small.high))


def test_the_reason_says_why_a_median_that_is_accepted_may_differ() -> None:
    far = claims.judge(claim("draw number 5.3"), (5.6,), (None,), spreads=((5.5, 5.8),))
    near = claims.judge(claim("draw number 5.3"), (5.6,), (None,), spreads=((5.0, 5.8),))
    assert (far.verdict, near.verdict) == (claims.Verdict.DIFFERS, claims.Verdict.HOLDS)
    assert "is outside the range of nine in ten of our runs" in far.reason
    assert "is outside the range" not in near.reason


def test_the_front_pages_counts_are_those_of_the_papers_results() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    total: Counter[tuple[bool, str]] = Counter()
    for folder in sorted((ROOT / "papers").glob("*/claims.json")):
        rows = json.loads(folder.read_text(encoding="utf-8"))
        of = Counter((row["kind"] == "measured", row["verdict"]) for row in rows)
        total += of
        said = " / ".join(str(of[True, verdict]) for verdict in ("holds", "partly", "undecided", "differs"))
        assert re.search(rf"papers/{folder.parent.name}/RESULTS\.md\).* \| {said} \|", text), folder.parent.name
    unchecked = "cannot be checked"
    measured = sum(n for (kind, verdict), n in total.items() if kind and verdict != unchecked)
    others = sum(n for (kind, _), n in total.items() if not kind)
    holding, partly = total[True, "holds"], total[True, "partly"]
    assert f"{holding} of the {measured} claims that a run could refute hold, {partly} in part" in text
    assert f"Of {others} other claims" in text
    assert total[True, unchecked] == 3
    assert f"{total[False, 'holds']}\nhold. Three cannot be checked." in text
