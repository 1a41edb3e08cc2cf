"""Leung & Ma 2005: claims, set-up, choices, measures, and short runs of its paths."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import ackclock
from ackclock.papers import claims, reading
from ackclock.papers.reading import Reading
from ackclock.runs.trial import Effort, Ran, Trial, run
from ackclock.statistics import Comparison, Mean
from conftest import laboratory
from leung_ma import ns2
from leung_ma.findings import UNCHECKED, Made, findings
from leung_ma.measures import (
    FIG3,
    MEASURES,
    average_gains,
    gains,
    order,
    to_best,
)
from leung_ma.points import (
    AVG,
    AVG_DEV,
    DEL,
    EWMA,
    FA,
    FS,
    KEY,
    METHODS,
    SHARES,
    Method,
    Place,
    Single,
    Split,
    trial,
    tuned,
)
from leung_ma.setup import burst, costs, longest, parameters, state
from leung_ma.view import COUNTS, Read, Runs, View

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "papers" / KEY
CLAIMS = {claim.id: claim for claim in claims.read(FOLDER / "claims.csv")}


def flow(throughput: float = 100e3, needless_fast: int = 0, sent: int = 1000, **more: float) -> dict[str, Any]:
    """A run with one flow."""
    numbers = {
        "throughput_bytes_per_s": throughput,
        "needless_fast_retransmissions": needless_fast,
        "needless_retransmissions": 3 * needless_fast,
        "data_packets_sent": sent,
    }
    return {"seed": 1, "identity": "", "duration_s": 1000.0, "flows": [{**numbers, **more}]}


def made_up(numbers: Mapping[tuple[Method, Place], Mapping[str, Any]]) -> Runs:
    """Runs with two seeds each."""
    return Runs({t: Ran(t, [dict(n)] * 2) for (m, p), n in numbers.items() for t in [trial(m, p)]})


def test_every_claim_has_a_judge() -> None:
    # S001-46 is our own number for testing eq. 11, not a claim.
    assert set(CLAIMS) == {f"S001-{n:02}" for n in range(1, 53)} - {"S001-46"}
    read_back = {"S001-01", "S001-02", "S001-03", "S001-39", "S001-52"}
    counted = {f"S001-{n}" for n in (40, 41, 42, 43, 44)}
    assert set(CLAIMS) == read_back | counted | set(UNCHECKED) | set(MEASURES)
    unchecked = {*UNCHECKED, "S001-42"}
    assert all(bool(claim.rule) is (claim.id not in unchecked) for claim in CLAIMS.values())


CHOICES = reading.read(FOLDER)
OTHERWISE = [Reading(CHOICES, {choice.key: option.key}) for choice in CHOICES for option in choice.others]
TRIALS = [trial(m, place) for m in METHODS for place in (Single(1.0, 100, 0.002), Split(30, 0.003))]


@pytest.mark.parametrize("otherwise", OTHERWISE, ids=lambda one: one.name)
def test_every_choice_made_otherwise_makes_other_runs_or_is_one_of_what_is_measured(otherwise: Reading) -> None:
    tasks = [otherwise.of(each, FOLDER).task(FOLDER, Effort(1, 1)) for each in TRIALS]
    taken = [each.task(FOLDER, Effort(1, 1)) for each in TRIALS]
    same = [one.identities() == other.identities() for one, other in zip(tasks, taken, strict=True)]
    measured = Read.of(otherwise) != Read.of(Reading(CHOICES))
    assert all(same) is measured


def test_no_two_readings_are_the_same_runs() -> None:
    each = [tuple(one.of(t, FOLDER) for t in TRIALS) for one in OTHERWISE if Read.of(one) == Read()]
    assert len(set(each)) == len(each)


def test_every_trial_is_a_scenario() -> None:
    listed: list[Trial] = [*TRIALS, *(trial(m, Single(3.8)) for m in tuned()), ns2.Point(1.0, 50, 0.002, "del").trial]
    for each in listed:
        assert len(each.task(FOLDER, Effort(1, 1)).identities()) == 1
    assert len({m.set for m in tuned()}) == 9


def test_the_set_up_is_read_back_from_what_ran() -> None:
    def ran(each: list[Trial], duration: float = 1000.0, runs: int = 15) -> list[Ran]:
        return [Ran(t, [{"duration_s": duration, "flows": []}] * runs) for t in each]

    def document(each: Trial) -> dict[str, Any]:
        return each.document(FOLDER)

    single = [trial(m, Single(f, every)) for m in METHODS for f in FS for every in (50, 100)]
    paths = [trial(m, Split(share)) for m in METHODS for share in SHARES]
    texts = parameters(ran(single), ran(paths), document)
    assert all(CLAIMS[name].accepts(text) for name, text in texts.items())
    assert len(texts) == 5
    changed = Trial(single[0].file, (*single[0].changes, ("flow[0].window", "50 packets")), AVG_DEV.stack)
    other = parameters(ran([*single, changed, trial(tuned()[-1], Single(1.0))], 100.0), ran(paths), document)
    assert other["S001-03"] == "100 packets, 1 s or 50 packets, 1 s"
    assert other["S001-01"] == "0.3, 0.3, 0.3, 0.7, 0.5, 0.25 or 0.4, 0.4, 0.4, 0.7, 0.5, 0.25"
    assert other["S001-52"] == "100 s or 1000 s, 15, 50 ms and 100 ms"


def test_the_state_that_is_counted_is_that_of_the_implementation() -> None:
    source = (ROOT / "crates/tcp/src/detect/threshold/avg_dev.rs").read_text(encoding="utf-8")
    found = re.search(r"pub struct AvgDev \{(.*?)\n\}", source, re.DOTALL)
    assert found is not None
    fields = re.findall(r"^    (\w+):", found[1], re.MULTILINE)
    assert fields == ["spec", *state(FOLDER)]


def test_costs_need_a_line_for_each_stack(tmp_path: Path) -> None:
    (tmp_path / "reference").mkdir()
    head = "stack,threshold,state_bytes,instructions_per_event,acks,instructions,instructions_per_ack\n"
    file = tmp_path / "reference" / "cost.csv"
    file.write_text(head + "avg-dev,AVG-DEV,112,300,10,1000,100\nrr-tcp,FA,8344,900,10,3000,300\n")
    assert costs(tmp_path)["rr-tcp"]["state_bytes"] == "8344"
    judged = {f.claim.id: f for f in _cost_findings(tmp_path)}
    assert [judged[f"S001-{n}"].measured for n in (40, 41, 42, 43)] == [(112.0,), (8344.0,), None, (6.0,)]
    assert "takes 100 instructions with AVG-DEV and 300 with FA" in judged["S001-42"].note
    assert "an event takes 3.00 times as many" in judged["S001-42"].note
    file.write_text(head + "avg-dev,AVG-DEV,112,300,10,1000,100\n")
    with pytest.raises(ValueError, match="rr-tcp"):
        costs(tmp_path)


def _cost_findings(folder: Path) -> list[claims.Finding]:
    """The findings of a folder with only Table 3's claims."""
    lines = (FOLDER / "claims.csv").read_text(encoding="utf-8").splitlines()
    table = [lines[0], *(line for line in lines if line[:7] in {f"S001-{n}" for n in range(40, 44)})]
    (folder / "claims.csv").write_text("\n".join(table) + "\n", encoding="utf-8")
    (folder / "reference" / "state.csv").write_text((FOLDER / "reference" / "state.csv").read_text(encoding="utf-8"))
    return findings(Made(Runs({}), 1, Runs({}), 1, {}), folder)


def test_gains_and_ratios_of_made_up_runs() -> None:
    places = [Single(f) for f in FS]
    numbers: dict[tuple[Method, Place], dict[str, Any]] = {}
    for i, place in enumerate(places):
        numbers |= {(m, place): flow(100e3, 50) for m in METHODS}
        numbers[AVG_DEV, place] = flow(150e3, 5)
        numbers[AVG, place] = flow((100 + 10 * i) * 1e3, 10)
    v = View(made_up(numbers))
    over_avg = fmean(100 * (150 / (100 + 10 * i) - 1) for i in range(len(FS)))
    assert MEASURES["S001-04"](v) == pytest.approx((50, 50, over_avg))
    assert not CLAIMS["S001-04"].accepts(MEASURES["S001-04"](v))
    assert MEASURES["S001-06"](v) == pytest.approx((1.5,))
    assert MEASURES["S001-14"](v) == pytest.approx((10,))
    assert [values for _, values in to_best(v, FIG3)] == [pytest.approx([0.5] * len(FS))]
    every = View(v.runs, Read(COUNTS["each-segment"]))
    assert every.rate(AVG_DEV, places[0]) == pytest.approx(3 * v.rate(AVG_DEV, places[0])) == pytest.approx(1.5)
    assert dict(gains(v, FIG3, (DEL,))) == {"DEL": pytest.approx([50] * len(FS))}


def test_table_2_and_figure_10_of_made_up_runs() -> None:
    numbers: dict[tuple[Method, Place], dict[str, Any]] = {}
    for share in SHARES:
        for loss in (0.0, 0.003):
            for rank, m in enumerate((FA, AVG_DEV, AVG, DEL, METHODS[1], EWMA, METHODS[0])):
                numbers[m, Split(share, loss)] = flow(100e3, 1 + rank)
    numbers[AVG_DEV, Split(50)] = flow(1000e3, 2)
    numbers[DEL, Split(20)] = flow(10e3, 4)
    v = View(made_up(numbers))
    assert MEASURES["S001-19"](v) == pytest.approx((0.7,))
    assert CLAIMS["S001-33"].accepts(MEASURES["S001-33"](v))
    # With loss, DEL must be below AVG, but it is not.
    assert MEASURES["S001-34"](v)[2] == pytest.approx(4 / 3)
    assert not CLAIMS["S001-34"].accepts(MEASURES["S001-34"](v))
    over_each, of_means = average_gains(v, 0.0, DEL)
    assert (over_each, of_means) == pytest.approx(((900 + 900) / 9, 100 * (1800 / 810 - 1)))
    assert MEASURES["S001-35"](v)[0] == pytest.approx(of_means)
    assert MEASURES["S001-35"](View(v.runs, Read(of_means=False)))[0] == pytest.approx(over_each)
    assert MEASURES["S001-37"](v) == pytest.approx((0, 0, 0, 0))
    assert MEASURES["S001-51"](v) == pytest.approx((2, 2))


def test_an_order_is_each_over_the_next() -> None:
    chain = order(FA, AVG, EWMA)
    assert chain([("FA", [1.0]), ("AVG", [2.0]), ("DEL", [3.0]), ("EWMA", [8.0])]) == (0.5, 0.25)


def test_the_longest_burst_is_half_of_the_threshold_and_without_new_data_on_duplicates_all_of_it() -> None:
    bursts = {n: burst(FOLDER, n) for n in (5, 10)}
    assert longest(bursts) <= 0
    assert (bursts[10], burst(FOLDER, 10, "nothing")) == (5, 10)
    assert longest({4: 3, 10: 5}) == 1


def test_short_runs_have_the_order_of_figures_3_and_6(tmp_path: Path) -> None:
    trials = [trial(m, Single(1.0)) for m in METHODS]
    ran = run(laboratory(tmp_path), "test", FOLDER, trials, Effort(2, 300))
    v = View(Runs(ran))
    assert v.throughput(AVG_DEV, Single(1.0)) > 1.3 * v.throughput(EWMA, Single(1.0))
    assert v.rate(AVG_DEV, Single(1.0)) < 0.3 * v.rate(EWMA, Single(1.0))
    flows = [r["flows"][0] for one in ran.values() for r in one.runs]
    # Nothing is lost, so every retransmission is needless, and so is every fast retransmit.
    assert all(f["data_drops"] == 0 and f["needless_retransmissions"] == f["retransmissions"] for f in flows)
    assert all(0 <= f["fast_recoveries"] - f["needless_fast_retransmissions"] <= 1 for f in flows)


def test_without_loss_nothing_on_two_paths_is_random_and_one_path_alone_does_not_reorder(tmp_path: Path) -> None:
    trials = [trial(m, Split(share)) for m in (AVG_DEV, FA) for share in (0, 40, 100)]
    ran = run(laboratory(tmp_path), "test", FOLDER, trials, Effort(2, 60))
    for each in ran.values():
        first, second = (one["flows"][0] for one in each.runs)
        assert first == second
    for share in (0, 100):
        alone = [ran[trial(m, Split(share))].runs[0]["flows"][0]["acked_bytes"] for m in (AVG_DEV, FA)]
        assert alone[0] == alone[1] > 0


def test_a_needless_retransmission_s_own_ack_counts_as_ns_2_counts_it(tmp_path: Path) -> None:
    """Here ns-2.35 has a third more fast recoveries than a sender that does not count a DSACK as a duplicate."""
    point = ns2.Point(1.0, 50, 0.0, "every")
    plain = Trial(point.trial.file, point.trial.changes, set=(("dup_rule", "new-sack-info"),))
    ran = run(laboratory(tmp_path), "test", FOLDER, [point.trial, plain], Effort(6))
    theirs = ns2.references(FOLDER)[point]
    ours = ran[point.trial].mean("fast_recoveries")
    assert abs(ours.value - theirs["recoveries"].value) < ours.half + theirs["recoveries"].half
    assert ran[plain].mean("fast_recoveries").value < 0.85 * theirs["recoveries"].value


def test_ns_2_s_table_has_the_runs_that_its_readme_says() -> None:
    with (FOLDER / "reference" / "ns2.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1008
    found = ns2.references(FOLDER)
    assert {(p.ack, means["throughput"].n) for p, means in found.items()} == {("every", 60), ("del", 3)}


def test_a_point_far_from_ns_2_s_fails_and_points_of_few_runs_are_judged_together() -> None:
    def compared(ours: float, runs: int) -> ns2.Compared:
        c = Comparison(Mean(60, ours, 1.0), Mean(runs, 100.0, 1.0), ns2.TOLERANCE)
        return ns2.Compared(ns2.Point(1.0, 50, 0.0, "every"), c, c, c)

    near, far, few = compared(102, 15), compared(90, 15), compared(90, 3)
    assert ns2.summary([near, few]).good
    assert not ns2.summary([near, far]).good
    assert len(ns2.summary([near, few]).table.rows) == 1
    assert "throughput -10.0 %" in ns2.summary([near, few]).summary[-1]
    assert len(ns2.summary([near]).summary) == 3


def test_scenarios_say_for_every_value_where_it_is_stated() -> None:
    for file in FOLDER.glob("scenario-*.toml"):
        text = file.read_text(encoding="utf-8")
        result = ackclock.run(re.sub(r'^duration = "[^"]*"', 'duration = "1 s"', text, flags=re.MULTILINE), seed=1)
        assert result.frame["data_packets_sent"][0] > 0
        assert "unsaid" in text or file.name == "scenario-burst.toml"
