"""Fukuda et al. 2018: its scenarios, measures and references."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fukuda
from ackclock import statistics
from ackclock.papers import causes, claims, reading
from ackclock.papers.folder import read
from ackclock.papers.paper import Work
from ackclock.papers.reading import Reading
from ackclock.runs import trial
from ackclock.runs.trial import Effort
from conftest import laboratory
from fukuda import curves, reference, setup
from fukuda.curves import CUBIC, KEY, NEWRENO, NONE, RIS, SENDERS, Curve, Family, point
from fukuda.measures import MEASURES, View
from fukuda.reference import Compared, Place
from fukuda.window_trace import WindowTrace, window_trace

FOLDER = Path(__file__).resolve().parents[2] / "papers" / KEY
ROUND_TRIPS = read(FOLDER).full.seeds
CLAIMS = {claim.id: claim for claim in claims.read(FOLDER / "claims.csv")}
CHOICES = reading.read(FOLDER)


def at(folder: Path, tmp_path: Path) -> Work:
    return Work(folder, tmp_path, Effort(2), laboratory(tmp_path / "points"), Reading(CHOICES))


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return at(FOLDER, tmp_path)


def test_every_claim_is_measured_or_read_back_once(work: Work) -> None:
    texts = setup.parameters([Family(NEWRENO, RIS, curves.delays(1))], work)
    apart = {"S003-17", "S003-21"}
    assert sorted([*MEASURES, *texts, *apart]) == sorted(CLAIMS)
    assert all(CLAIMS[key].accepts(text) for key, text in texts.items())


def test_parameters_follow_what_ran(work: Work) -> None:
    slow = Family(NEWRENO, (4, 50), curves.delays(1), (("link[1].rate", "5 Mbps"), ("link[0].delay", "20 ms")))
    texts = setup.parameters([slow], work)
    assert texts["S003-03"] == "2.4 ms"
    assert texts["S003-05"] == "4 to 50, 9.6 to 120 ms"
    assert "75 ms" not in texts["S003-22"]
    assert "; 80 ms; 1500 B; 0.2 to 10.2 s" in texts["S003-22"]


def test_round_trips_differ_by_less_than_a_packet() -> None:
    every = [float(delay.removesuffix(" us")) for delay in curves.delays(ROUND_TRIPS)]
    assert every[0] == curves.DELAY_US
    assert len(set(every)) == ROUND_TRIPS
    assert max(abs(2 * (delay - curves.DELAY_US)) for delay in every) < 1200


def test_a_later_start_shifts_all_alike(work: Work) -> None:
    trials = [
        point(CUBIC, 20, None, (("flow[0].app.start", f"{ms} ms"), ("run.duration", f"{10000 + ms} ms")))
        for ms in (200, 203)
    ]
    ran = trial.run(work.lab, "", FOLDER, trials, curves.ONE)
    flows = [ran[one].runs[0]["flows"][0] for one in trials]
    assert flows[0]["acked_bytes"] == flows[1]["acked_bytes"]
    assert flows[0]["retransmissions"] == flows[1]["retransmissions"] > 0


def test_packets_leave_in_the_order_of_figure_2(work: Work, tmp_path: Path) -> None:
    assert CLAIMS["S003-21"].accepts(setup.order_of_figure_2(work))
    text = (FOLDER / setup.FIGURE_2.file).read_text(encoding="utf-8")
    (tmp_path / setup.FIGURE_2.file).write_text(text.replace("interval = 4", "interval = 5"), encoding="utf-8")
    assert setup.order_of_figure_2(at(tmp_path, tmp_path)) == "11, 12, 13, 14, 15, 10, 16, 17, 18, 19, 20"


def test_the_factor_of_cubic_is_read_from_its_stack(work: Work) -> None:
    assert setup.factor(work, point(CUBIC, 8)) == 819 / 1024
    other = replace(CUBIC, set=(("congestion.beta_1024", "717"),))
    assert setup.factor(work, point(other, 8)) == 717 / 1024


def test_two_moved_packets_are_a_round_apart(work: Work) -> None:
    """RI packets and the moved one: 5 packets of 1.2 ms."""
    assert setup.spacing_s(work, point(NEWRENO, 4)) == pytest.approx(0.006, abs=1e-9)


def test_no_other_window_reorders_at_every_ri_below_100_and_not_at_100(work: Work) -> None:
    def moved(ri: int, window: int) -> int:
        one = point(NEWRENO, ri, None, (("flow[0].window", f"{window} packets"),))
        run = trial.run(work.lab, "", FOLDER, [one], curves.ONE)[one].runs[0]
        return int(run["flows"][0]["reordering"]["reordered"])

    assert work.document(point(NEWRENO, 8))["flow"][0]["window"] == "159 packets"
    assert moved(99, 159) > 0
    assert moved(100, 159) == 0
    assert moved(99, 158) == 0
    assert moved(100, 160) > 0


def test_the_two_senders_differ_in_their_parameters_alone() -> None:
    def both(sender: curves.Sender) -> trial.Document:
        return point(sender, 8).document(FOLDER)

    newreno, cubic = both(NEWRENO), both(CUBIC)
    own = {"congestion": "cubic-2008", "recovery": {**newreno["flow"][0]["set"]["recovery"], "inflate": False}}
    newreno["flow"][0]["set"] |= own
    newreno["name"] += ", Cubic"
    assert newreno == cubic


MODEL = {(r["cc"], int(r["ri"]), r["delack"]): r for r in reference.read(FOLDER, "model.csv") if r["inflate"] == "1"}


@pytest.mark.parametrize(
    ("cc", "ri", "delack"),
    [("newreno", ri, "1") for ri in (0, 50, 70, 90, 100)]
    + [("newreno", ri, "2") for ri in (0, 50, 100)]
    + [("cubic", 15, "2"), ("cubic", 0, "1"), ("cubic", 100, "2")],
)
def test_a_run_is_the_model_s_to_the_packet(work: Work, cc: str, ri: int, delack: str) -> None:
    changes = (*reference.FRAMED, *reference.UNTIL_S, *(reference.DELAYED if delack == "2" else ()))
    one = point(reference.SENDERS[cc], ri, None, changes)
    run = trial.run(work.lab, "", FOLDER, [one], curves.ONE)[one].runs[0]
    flow, theirs = run["flows"][0], MODEL[cc, ri, delack]
    assert flow["acked_bytes"] * 8 / 1e7 == pytest.approx(float(theirs["app_mbps"]), abs=5e-7)
    keys = ("fast_recoveries", "timeouts", "retransmissions")
    assert [flow[key] for key in keys] == [int(theirs[key]) for key in ("fr", "rto", "retx")]


@pytest.mark.parametrize(
    ("model", "place"),
    [
        (5.0, Place.OWN),
        (6.0, Place.OWN),
        (6.5, Place.NEIGHBOURS),
        (7.2, Place.NEAR),
        (7.22, Place.OUTSIDE),
        (3.89, Place.NEAR),
        (3.87, Place.OUTSIDE),
    ],
)
def test_a_reference_point_has_the_best_place(model: float, place: Place) -> None:
    assert Compared(model, (5.0, 6.0), (4.0, 7.0)).place is place


def test_only_what_is_in_its_own_envelope_counts_as_reproduced() -> None:
    assert [place.verdict.reproduced for place in Place] == [True, False, False, False]
    assert [place.verdict.good for place in Place] == [True, True, True, False]


def test_a_count_is_near_if_one_apart() -> None:
    assert Compared(3, (5, 6), (4, 7), reference.EVENT).place is Place.NEAR
    assert Compared(2, (5, 6), (4, 7), reference.EVENT).place is Place.OUTSIDE


def made_up(
    newreno: np.ndarray, cubic: np.ndarray, recoveries: np.ndarray, steps: WindowTrace, smooth: WindowTrace
) -> View:
    """A view of two round trips with these values at RI 4 to 100."""

    def curve(sender: curves.Sender, share: np.ndarray) -> Curve:
        twice = np.column_stack([share, share])
        counts = np.column_stack([recoveries, recoveries])
        return Curve(Family(sender, RIS, curves.delays(2)), twice, np.ones(2), twice, twice, counts, 0)

    traces = {(s, ri): [steps if s == CUBIC else smooth] * 2 for s in SENDERS for ri in (8, 80)}
    return View(
        {NEWRENO: curve(NEWRENO, newreno), CUBIC: curve(CUBIC, cubic)},
        traces,
        {key: [7953.0, 7953.0] for key in SENDERS},
        range(2),
    )


def papers_world() -> View:
    """A view in which everything is as the paper says, so that each claim's number is right."""
    ri = np.array(RIS, dtype=float)
    newreno = np.where(ri < 100, 0.5 + 0.004 * (ri - 4) + 0.02 * (ri % 2), 1.0)
    cubic = np.where(ri < 100, newreno - 0.15, 1.0)
    cubic[RIS.index(30)] = newreno[RIS.index(30)] + 0.01
    for share in (newreno, cubic):
        share[RIS.index(50)] -= 0.1
    cuts = [(0.5 + 0.1 * i, 40.0, 2.0) for i in range(19)]
    at = [0.2, *(t for cut in cuts for t in (cut[0], cut[0] + 0.05)), 4.0, 6.0]
    cwnd = [40.0, *(w for _ in cuts for w in (2.0, 40.0)), 41.0, 50.0]
    steps = WindowTrace(at, cwnd, [], cuts, [2.4], [], [])
    sent = [(2.5 + 0.1 * i, 1000 * (i + 1)) for i in range(70)]
    acked = [(t + 0.1, to) for t, to in sent]
    grown = [10.0 + i for i in range(1, 71)]
    smooth = WindowTrace(
        [0.2, 0.5, 2.2, *(t for t, _ in acked)], [20.0, 40.0, 10.0, *grown], [], [(2.2, 20.0, 10.0)], [2.5], sent, acked
    )
    return made_up(newreno, cubic, np.maximum(0, 100 - ri), steps, smooth)


def test_every_claim_holds_where_the_paper_is_right() -> None:
    view = papers_world()
    for key, number in MEASURES.items():
        assert CLAIMS[key].accepts(number(view)), (key, number(view))


def test_no_claim_holds_where_nothing_is_as_the_paper_says() -> None:
    flat = np.ones(len(RIS))
    still = WindowTrace(
        [0.2, 0.5, 9.0], [50.0, 90.0, 300.0], [], [(0.5, 200.0, 90.0), (2.1, 90.0, 89.0)], [2.2], [], []
    )
    sent, acked = [(2.3 + i, 1000 * (i + 1)) for i in range(7)], [(3.3 + i, 1000 * (i + 1)) for i in range(7)]
    still = replace(still, sent=sent, acked=acked)
    view = made_up(flat, flat + 0.1, np.zeros(len(RIS)), still, still)
    view = replace(view, arrivals={key: [7000.0, 7000.0] for key in SENDERS})
    holds = [key for key, measure in MEASURES.items() if CLAIMS[key].accepts(measure(view))]
    assert holds == []


def test_a_draw_takes_the_same_round_trips_of_all() -> None:
    view = papers_world()
    first = view.curves[CUBIC]
    spoilt = replace(first, normalised=first.normalised * [1.0, 0.5])
    both = replace(view, curves={**view.curves, CUBIC: spoilt})
    one = MEASURES["S003-07"]
    (a,), (b,), (mean,) = (one(replace(both, draw=draw)) for draw in ([0], [1], [0, 1]))
    assert mean == pytest.approx((a + b) / 2)
    assert b > a + 10


def test_ranks_are_shared_by_equal_values() -> None:
    assert statistics.ranks([5, 1, 5]) == [2.5, 1, 2.5]
    draw = random.Random(1)
    for count in range(60):
        values = [draw.choice([-0.0, 0.0, 1.5, 7.0, math.inf, draw.random()]) for _ in range(count)]
        assert statistics.ranks(values) == pl.Series(values, dtype=pl.Float64).rank().to_list()
    assert statistics.rank_correlation([1, 2, 3], [9, 4, 1]) == pytest.approx(-1)
    assert statistics.rank_correlation([1, 2, 3, 4], [1, 1, 2, 2]) == pytest.approx(0.894427)
    assert statistics.rank_correlation([1, 2, 3], [1, 1, 1]) == 0


def test_cubic_cuts_by_equation_1_in_whole_segments(work: Work) -> None:
    again = replace(CUBIC, set=(("detect.guard", "off"), ("recovery.inflate", "true")))
    for sender in (CUBIC, again):
        cuts = window_trace(work, point(sender, 8)).cuts
        assert all(after == max(int(before * 819 / 1024), 2) for _, before, after in cuts)
    assert len(cuts) > 10
    assert cuts[-1][2] == 2


def test_a_course_begins_with_the_first_segment_and_stands_between_its_changes(work: Work) -> None:
    one = window_trace(work, point(NEWRENO, 80))
    # A handshake of 70 ms after 0.2 s, and the transmission time of the packets.
    assert one.at[0] == pytest.approx(0.27, abs=1e-3)
    assert one.cwnd[0] == 2
    assert one.value((one.at[5] + one.at[6]) / 2) == one.cwnd[5]
    assert len(one.recovered) == len(one.cuts) == 2
    assert one.smallest(0.3, 10.2) == 2
    assert max(value for _, value in one.inflated) > max(one.cwnd[10:]) - 1


OPTIONS = [(choice.key, option.key) for choice in CHOICES for option in choice.others]


@pytest.mark.parametrize(("choice", "option"), OPTIONS)
def test_each_value_of_a_choice_changes_some_run_of_its_scenarios_alone(work: Work, choice: str, option: str) -> None:
    other = Reading(CHOICES, {choice: option})
    edits = next(o.edits for c in CHOICES for o in c.options if (c.key, o.key) == (choice, option))
    trials = [point(sender, ri) for sender in SENDERS for ri in (8, 30, 60, NONE)]
    as_taken, otherwise = work.run("", trials, curves.ONE), replace(work, reading=other).run("", trials, curves.ONE)
    changed = {t.file for t in trials if as_taken[t].runs[0]["trace_hash"] != otherwise[t].runs[0]["trace_hash"]}
    assert changed == {file for edit in edits for file in edit.files}


def test_what_throughput_counts_is_a_choice_of_what_is_measured(work: Work) -> None:
    def largest_fall(counted: str) -> float:
        read_so = replace(work, effort=Effort(1), reading=Reading(CHOICES, {"counted": counted}))
        found = next(f for f in fukuda.judged(read_so) if f.claim.id == "S003-07")
        assert isinstance(found.measured, tuple)
        return found.measured[0]

    assert largest_fall("payload") > largest_fall("packets")


def test_without_reordering_a_mover_s_change_has_no_place(work: Work) -> None:
    document = replace(work, reading=Reading(CHOICES, {"limit": "device-100"})).document(point(NEWRENO, NONE))
    assert document["link"][1]["elements"] == ()
    assert document["flow"][0]["window"] == "20000 packets"


def test_each_measured_claim_that_differs_or_holds_in_part_has_a_cause_and_no_other() -> None:
    found = json.loads((FOLDER / "claims.json").read_text(encoding="utf-8"))
    open_ = [f["id"] for f in found if f["kind"] == "measured" and f["verdict"] in ("differs", "partly")]
    assert list(causes.read(FOLDER)) == open_


def test_all_of_it_is_made_twice_to_the_same_bytes(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "ROUND_TRIPS", 1)
    made = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        outcome = fukuda.reproduce(replace(work, out=tmp_path / name))
        made.append({path.name: path.read_bytes() for path in sorted((tmp_path / name).iterdir())})
    assert made[0] == made[1]
    assert [f.claim.id for f in outcome.findings] == list(CLAIMS)
    assert [p.name for p in outcome.pictures] == [f"fig{n}" for n in range(3, 12)]
    assert len(outcome.references) == 2
    assert len(made[0]["points.csv"].splitlines()) == 1 + 2 * len(RIS)
