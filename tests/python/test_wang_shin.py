"""Wang & Shin: scenarios, measures taken from traces, ns-2's runs."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from ackclock.papers import causes, claims, reading
from ackclock.papers.paper import Work
from ackclock.papers.reading import Reading
from ackclock.papers.rules import Part
from ackclock.runs import trial
from ackclock.runs.laboratory import Laboratory
from ackclock.runs.trial import Effort, Trial
from conftest import laboratory
from wang_shin import first_recovery, forced, ns2, setup, transfer
from wang_shin import model as figure_7
from wang_shin.findings import _drawn
from wang_shin.forced import Grid
from wang_shin.measures import DRAWS, LOSS_ORDER, MEASURES, PUBLISHED_ORDER
from wang_shin.notes import NOTES
from wang_shin.points import (
    COMPARED,
    KEY,
    LOSSES,
    NEW_RENO,
    RENO,
    RR,
    SACK,
    TAHOE,
    TO_THE_LETTER,
    droptail,
    fairness,
    model,
    patterns,
    red,
)
from wang_shin.points import forced as forced_losses
from wang_shin.repair import Repair, Round, repairs
from wang_shin.states import ARROWS, RULES

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "papers" / KEY
LISTED = claims.read(FOLDER / "claims.csv")
CHOICES = reading.read(FOLDER)


@pytest.fixture
def lab(tmp_path: Path) -> Laboratory:
    """A laboratory that stores nothing."""
    return laboratory(tmp_path)


@pytest.fixture
def work(tmp_path: Path, lab: Laboratory) -> Work:
    return Work(FOLDER, tmp_path, Effort(1), lab, Reading(CHOICES))


def test_every_claim_has_its_number() -> None:
    parameters = {"S004-01", "S004-02", "S004-18", "S004-34", "S004-35"}
    assert {claim.id for claim in LISTED} == parameters | set(MEASURES)
    assert set(NOTES) <= set(MEASURES)
    assert {claim.id for claim in LISTED if any(rule.draw for rule in claim.rules)} == set(DRAWS)


def test_what_ran_is_what_the_paper_states(work: Work) -> None:
    trials = [red(scheme) for scheme in COMPARED] + [transfer.RENO_AMONG_RENO]
    texts = setup.parameters(work, work.run("set-up", trials))
    found = [claims.judge(claim, texts[claim.id]) for claim in LISTED if claim.id in texts]
    assert [(f.claim.id, f.measured) for f in found if f.verdict is not claims.Verdict.HOLDS] == []
    assert len(found) == 5


def test_lost_patterns_leave_packets_that_tell_of_the_losses() -> None:
    for losses, cases in zip(LOSSES, (34, 33), strict=True):
        every = patterns(losses)
        assert len(every) == cases
        assert all(len(lost) == losses and lost[-1] < hit - 1 for hit, lost in every)


def test_figure_3_has_a_retreat_and_three_rounds_of_probe(work: Work) -> None:
    repair = forced.first(work, RR, *forced.FIGURE_3, 30)
    # Each partial ACK ends a round; the last of four leaves recovery.
    assert [one.dups for one in repair.rounds] == [6, 3, 3, 4]
    assert [one.new for one in repair.rounds] == [3, 3, 4, 5]
    assert (repair.left_to, repair.released, repair.exit_cwnd) == ("open", 1, 6)


def test_to_the_letter_ndup_is_actnum_and_as_built_what_was_sent(work: Work) -> None:
    case = (20, (0, 1, 4, 5, 9, 12), 1000)
    letter, built = (forced.first(work, scheme, *case) for scheme in (TO_THE_LETTER, RR))
    assert forced.ndup_unequal_to_actnum([letter]) == (0, 5, 0)
    assert [one.dups for one in letter.rounds] == [11, 5, 6, 7, 8, 9]
    assert forced.ndup_unequal_to_sent([built]) == 0
    assert forced.ndup_unequal_to_actnum([built])[0] == 4


def test_unequal_counts_are_counted() -> None:
    repair = Repair(0, 1, 1, exit_cwnd=3, rounds=[Round(6, 3), Round(2, 2), Round(2, 9)])
    # actnum 3, then 2 after the loss, then 3.
    assert forced.ndup_unequal_to_actnum([repair]) == (1, 2, 0)
    assert forced.ndup_unequal_to_sent([repair]) == 1
    repair.exit_cwnd = 4
    assert forced.ndup_unequal_to_actnum([repair])[2] == 1


def test_throughput_of_a_repair_is_what_was_acknowledged_over_its_time() -> None:
    assert Repair(1.0, 20_001, 40_001, ended_s=3.0, acked=71_001).kbps == pytest.approx(204)
    assert Repair(1.0, 20_001, 40_001).kbps is None


def test_a_grid_compares_case_by_case() -> None:
    def repair(acked: int) -> Repair:
        return Repair(0.0, 1, 2, ended_s=1.0, acked=acked + 1)

    grid = Grid({(RR, 3, 30): [repair(1000), repair(3000)], (SACK, 3, 30): [repair(2000), repair(1000)]})
    assert grid.ratio(RR, SACK, 3, 30) == pytest.approx(4 / 3)
    assert grid.wins(RR, SACK, 3, 30) == (1, 2)


def test_sack_repairs_in_less_time_than_robust_recovery_and_tahoe_beats_new_reno_with_six_losses(work: Work) -> None:
    grid = forced.grid(work, COMPARED, 8)
    assert grid.ratio(RR, SACK, 6, 1000) < 1 < grid.ratio(RR, NEW_RENO, 6, 1000)
    assert grid.ratio(TAHOE, NEW_RENO, 6, 30) > 1


def test_a_course_is_read_off_a_trace() -> None:
    events = trial.events(red(RR), FOLDER, 1)
    one = first_recovery.first_recovery(events)
    first = repairs(events)[0]
    drops = events.filter((pl.col("flow") == 0) & (pl.col("event") == "dropped"))["time_ns"]
    # Slow start until then: one segment, plus one for each acknowledged segment.
    assert one.cwnd == pytest.approx(1 + first.una // 1000)
    assert one.cwnd is not None
    assert one.cwnd_at_drop is not None
    assert one.cwnd_at_drop < one.cwnd
    assert drops[0] / 1e9 < first.begun_s
    assert one.further_s is not None
    assert one.further_s > first.begun_s
    assert one.exit_s is None
    assert first.left_s is None


def test_new_reno_in_a_course_counts_its_round_trips(work: Work) -> None:
    every = first_recovery.first_recoveries(replace(work, effort=Effort(4)), NEW_RENO)
    assert any(one.halved for one in every)
    assert first_recovery.median([None, 3, None, 5]) == 4


def test_a_window_counts_from_the_end_of_the_start_up_on(lab: Laboratory) -> None:
    whole, beginning = figure_7.trials(SACK, 0.01, "Table 3")
    ran = trial.run(lab, "model", FOLDER, [whole, beginning], Effort(2))
    acked = [ran[t].values("acked_bytes") for t in (beginning, whole)]
    windows = figure_7.Model(ran).windows(SACK, 0.01, "Table 3")
    assert windows == [pytest.approx((b - a) / 1000 / 90 * 0.2) for a, b in zip(*acked, strict=True)]
    assert figure_7.bound(0.01) == pytest.approx(12.2474, abs=1e-4)


def test_cases_of_table_5_have_their_senders_each_with_its_window() -> None:
    flows = fairness(RENO, RR).document(FOLDER)["dumbbell"]["flow"]
    assert [flow["stack"] for flow in flows] == ["robust", "reno"]
    assert [flow["window"] for flow in flows] == ["1000 packets", "30 packets"]
    assert [flow["set"].get("limits") for flow in flows] == [{"cwnd_cap_segs": 30}, None]


def test_no_window_limits_what_robust_recovery_sends_in_a_recovery_unless_it_is_read_so(work: Work) -> None:
    case = (28, (0, 1, 2, 3, 4, 5))
    open_, limited = (forced.first(work, RR, *case, window) for window in (1000, 30))
    heeded = replace(work, reading=Reading(CHOICES, {"limit": "heeded"}))
    assert limited.rounds == open_.rounds
    assert limited.released == 1
    held_back = forced.first(heeded, RR, *case, 30)
    assert sum(one.new for one in held_back.rounds) < sum(one.new for one in open_.rounds)


def test_a_single_published_run_is_held_against_the_range_of_ours() -> None:
    claim = next(claim for claim in LISTED if claim.id == "S004-19")
    near, far = [float(n) for n in range(10, 40)], [float(n) for n in range(10, 30)]
    assert _drawn(claim, (near,), "").parts == (Part.UNDECIDED,)
    assert _drawn(claim, (far,), "").parts == (Part.DIFFERS,)
    assert _drawn(claim, ([32.0, 33.0, 34.0],), "").parts == (Part.HOLDS,)
    assert _drawn(claim, ([],), "").parts == (Part.DIFFERS,)


def a_run_of_each() -> list[Trial]:
    return [
        *(of(scheme) for of in (red, droptail) for scheme in COMPARED),
        model(RR, 0.01, seconds=20),
        fairness(RR, RR, 60),
        forced_losses(TO_THE_LETTER, 28, (0, 1, 2, 3, 4, 5), 30),
    ]


OPTIONS = [(choice.key, option.key) for choice in CHOICES for option in choice.others]


@pytest.mark.parametrize(("choice", "option"), OPTIONS)
def test_each_value_of_a_choice_changes_some_run(work: Work, choice: str, option: str) -> None:
    other = replace(work, reading=Reading(CHOICES, {choice: option}))
    trials = a_run_of_each()
    both = [w.run("", trials, Effort(2)) for w in (work, other)]
    hashes = [[run["trace_hash"] for one in trials for run in ran[one].runs] for ran in both]
    assert hashes[0] != hashes[1]


def test_new_reno_by_ns_2_is_that_of_the_comparison_with_ns_2(work: Work) -> None:
    read_so = replace(work, reading=Reading(CHOICES, {"new-reno": "ns-2"})).read(red(NEW_RENO))
    beside = red(ns2.scheme("newreno0", "era"))
    assert (read_so.stack, sorted(read_so.set)) == (beside.stack, sorted(beside.set))


def test_each_measured_claim_that_differs_or_holds_in_part_has_a_cause_and_no_other() -> None:
    found = json.loads((FOLDER / "claims.json").read_text(encoding="utf-8"))
    open_ = [f["id"] for f in found if f["kind"] == "measured" and f["verdict"] in ("differs", "partly")]
    assert list(causes.read(FOLDER)) == open_


def test_a_change_adds_the_tables_that_lead_to_it_and_no_place_in_a_list() -> None:
    before: trial.Document = {"flow": [{"set": {}}]}
    after = trial.changed(before, (("flow[0].set.recovery.count", "act"),))
    assert (after["flow"][0]["set"], before["flow"][0]["set"]) == ({"recovery": {"count": "act"}}, {})
    for path in ("flow[1].set.count", "flow.first", "flow[0].set.recovery.count.more"):
        with pytest.raises(ValueError, match="found no such place"):
            trial.changed(after, ((path, 1),))
    with pytest.raises(ValueError, match=r"^s\.toml: key `flow\.0\.set`: .*; did you mean `flow\[0\]\.set`\?$"):
        trial.changed(after, (("flow.0.set", 1),), "s.toml")


def test_delays_of_table_5_are_ordered_seed_by_seed(lab: Laboratory) -> None:
    ran = trial.run(lab, "table 5", FOLDER, transfer.trials(), Effort(2))
    view = transfer.Transfer(ran)
    assert all(delay > 5 for case in PUBLISHED_ORDER for delay in view.delays(case))
    for (one, other), steps in zip(itertools.pairwise(LOSS_ORDER), view.steps(LOSS_ORDER, "losses"), strict=True):
        assert steps == [b - a for a, b in zip(view.losses(one), view.losses(other), strict=True)]
    times, n = view.in_order(PUBLISHED_ORDER)
    assert (0 <= times <= n, n) == (True, 2)


def test_without_ties_three_flows_are_ns_2_s_to_the_packet(lab: Laboratory) -> None:
    rows = [row for row in ns2.rows(FOLDER, "droptail") if row["profile"] == ns2.SAME and row["starts"] == "0 0.5 1.0"]
    trials = [ns2._droptail(*(row[key] for key in ns2.STARTS)) for row in rows]
    ran = trial.run(lab, "Table 3", FOLDER, trials, Effort(1))
    assert [ns2._same(row, ran)[1] for row in rows] == [True] * 20


def test_rows_of_the_other_profile_are_shown_and_not_judged() -> None:
    far = ns2.Line(("era", "reno"), (ns2.side_by_side([1.0, 1.1], [5.0, 5.1]),))
    near = ns2.Line(("clean", "reno"), (ns2.side_by_side([1.0, 1.1], [1.0, 1.1]),))
    made = ns2.reference("title", ("profile", "sender"), ("number",), [near, far])
    assert made.good
    assert [row[-1] for row in made.table.rows] == ["within tolerance", "–"]  # noqa: RUF001
    away = ns2.Line(("clean", "reno"), far.compared)
    assert not ns2.reference("title", ("profile", "sender"), ("number",), [away]).good


def test_every_arrow_of_the_state_diagram_has_its_rule() -> None:
    numbers = {number.strip() for *_, label, _ in ARROWS for number in label.split(",")}
    assert numbers == {rule.split()[0] for rule in RULES}
