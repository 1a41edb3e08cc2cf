"""The papers' experiments: scenarios, comparison, figures, files."""

from __future__ import annotations

import csv
import gzip
import math
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import ackclock
from ackclock import files
from ackclock.papers import claims, reading
from ackclock.papers.folder import every
from ackclock.papers.paper import Work
from ackclock.papers.reading import Reading
from ackclock.runs.trial import Effort
from ackclock.statistics import Comparison, Mean, Median, Verdict
from blanton_allman import ns2, schemes
from blanton_allman import points as points_of
from blanton_allman.findings import EXTREMES, UNCHECKED
from blanton_allman.findings import settings as claimed
from blanton_allman.measures import MEASURES, View
from blanton_allman.points import KEY, SCENARIOS, Point, Setting, setting, settings
from blanton_allman.schemes import AVG, DEL, EWMA, INC, Look
from blanton_allman.setup import burst, parameters
from conftest import laboratory

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "papers" / KEY
NS2 = (FOLDER / SCENARIOS["ns2"]).read_text(encoding="utf-8")
UNSWAPPED = re.sub(r"^elements = \[.*\]", "elements = []", NS2, flags=re.MULTILINE)


@pytest.mark.parametrize("file", SCENARIOS.values())
def test_a_scenario_file_differs_from_what_is_run_only_in_swaps_gap_and_seeds(file: str) -> None:
    text = (FOLDER / file).read_text(encoding="utf-8")
    (named,) = (key for key, name in SCENARIOS.items() if name == file)
    before, after = tomllib.loads(text), points_of.trial(setting(named, 20, 0.25)).document(FOLDER)
    swap = after["link"][1]["elements"][0]
    assert (swap["count"], swap["gap"]) == (20, {"exponential": "250 ms"})
    swap["count"], swap["gap"] = 12, {"exponential": "1 s"}
    assert before == after


def test_no_swaps_means_no_element_and_a_text_without_a_place_for_them_is_refused(tmp_path: Path) -> None:
    assert tomllib.loads(UNSWAPPED)["link"][1]["elements"] == []
    swaps = points_of.trial(setting("ns2", 3, 1.0))
    (tmp_path / swaps.file).write_text(UNSWAPPED, encoding="utf-8")
    with pytest.raises(ackclock.ScenarioError, match=r"key `link\[1\]\.elements\[0\]\.count`: found no such place"):
        swaps.document(tmp_path)


def test_without_swaps_a_run_is_ns_2_s_to_the_packet() -> None:
    """ns-2: 249585 acknowledged with the SYN, 249743 sent with it, 83 dropped, 83 resent, 28 fast retransmits."""
    run = ackclock.run(UNSWAPPED, seed=1).to_dict()["runs"][0]
    reference = next(csv.DictReader((FOLDER / "reference" / "ns2.csv").read_text(encoding="utf-8").splitlines()))
    flow = run["flows"][0]
    ours = [flow["acked_bytes"] // 1460 + 1, flow["data_packets_sent"] + 1]
    ours += [flow[key] for key in ("retransmissions", "data_drops", "timeouts", "fast_recoveries")]
    columns = ("acked_pkts", "data_sent", "retransmits", "drops", "timeouts", "fast_retransmits")
    assert ours == [int(reference[column]) for column in columns]
    assert ours == [249585, 249743, 83, 83, 0, 28]


def test_where_single_packets_come_late_every_send_is_ns_2_s(tmp_path: Path) -> None:
    """Reordering, packet for packet: an unpatched ns-2 in which 52 packets were overtaken (reference/late)."""
    late = FOLDER / "reference" / "late"
    with (late / "delays.csv").open(encoding="utf-8") as table:
        delays = [f'{{ nth = {r["arrival"]}, by = "{r["delay_us"]} us" }}' for r in csv.DictReader(table)]
    assert len(delays) == 52
    text = UNSWAPPED.replace('duration = "600 s"', 'duration = "60 s"')
    script = f'elements = [{{ kind = "script", at = "exit", delay = [{", ".join(delays)}] }}]'
    text = text.replace("elements = []", script, 1)
    trace = tmp_path / "run.csv"
    run = ackclock.run(text, seed=1, trace=trace).to_dict()["runs"][0]["flows"][0]
    with trace.open(encoding="utf-8") as table:
        sent = [r for r in csv.DictReader(table) if (r["event"], r["side"]) == ("sent", "sender")]
        carrying = [r for r in sent if r["len"] != "0" or "S" in r["flags"]]
        ours = [(int(r["time_ns"]) / 1e9, (int(r["seq"]) + 1459) // 1460) for r in carrying]
    with gzip.open(late / "sends.csv.gz", "rt", encoding="utf-8") as table:
        theirs = [(float(r["time_s"]), int(r["number"])) for r in csv.DictReader(table)]
    assert [number for _, number in ours] == [number for _, number in theirs]
    assert max(abs(a - b) for (a, _), (b, _) in zip(ours, theirs, strict=True)) < 10e-6
    assert (run["retransmissions"], run["needless_retransmissions"], run["fast_recoveries"]) == (86, 30, 28)


def test_every_point_of_the_figures_is_run_once_and_every_reference_has_its_point() -> None:
    every = settings()
    assert len(every) == len(set(every)) == 2 * (1 + 2 * 12 + 6)
    references = ns2.references(FOLDER)
    assert len(references) == 2 * 13 + 8
    assert {setting("ns2", r.swaps, r.gap_s) for r in references} <= set(every)
    assert {r.throughput.n for r in references if r.sweep == "fig2b"} == {5}


def mean(value: float, half: float) -> Mean:
    return Mean(5, value, half)


@pytest.mark.parametrize(
    ("ours", "reference", "verdict"),
    [
        (mean(103, 0), mean(100, 0), Verdict.WITHIN),
        (mean(104, 0), mean(100, 9), Verdict.OVERLAP),
        (mean(104, 5), mean(100, 9), Verdict.IN_BOTH),
        (mean(104, 1), mean(100, 2), Verdict.OUTSIDE),
        (mean(0, 0), mean(0, 0), Verdict.WITHIN),
        (mean(1, 0), mean(0, 0), Verdict.OUTSIDE),
    ],
)
def test_the_verdict_is_the_best_that_holds(ours: Mean, reference: Mean, verdict: Verdict) -> None:
    assert Comparison(ours, reference, 0.03).verdict is verdict


def test_a_mean_has_student_s_interval() -> None:
    """t(0.975, 4) = 2.776; the standard deviation of 1 … 5 is √2.5."""
    m = Mean.of([1, 2, 3, 4, 5])
    assert (m.n, m.value) == (5, 3)
    assert m.half == pytest.approx(2.7764 * 2.5**0.5 / 5**0.5, abs=1e-4)
    assert Mean.of([7]).half == 0


def test_a_point_says_which_runs_it_is_made_of(short: Path) -> None:
    points = [Point(setting("ns2", 1, 1.0), ackclock.run(short, seed=seed).to_dict()["runs"]) for seed in (1, 1, 2)]
    assert points[0].identity == points[1].identity != points[2].identity
    assert points[0].row() == points[1].row()


def test_a_file_that_could_not_be_written_leaves_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    files.write_csv(path, [{"a": 1, "b": None}])
    assert path.read_text(encoding="utf-8") == "a,b\n1,\n"
    with pytest.raises(TypeError):
        files.write(path, "not bytes")  # type: ignore[arg-type]
    assert [p.name for p in tmp_path.iterdir()] == ["points.csv"]
    assert path.read_text(encoding="utf-8") == "a,b\n1,\n"


def test_papers_stand_in_the_order_of_their_years_and_pages_that_belong_to_none_behind_them() -> None:
    keys = ["hoe-1995", "wang-shin", "blanton-allman-2002", "leung-ma-2005", "fukuda-2018", "across", "late"]
    assert list(every(ROOT / "papers")) == keys
    assert all((ROOT / "papers" / key / "claims.csv").is_file() for key in keys[:-2])


CLAIMS = {claim.id: claim for claim in claims.read(FOLDER / "claims.csv")}
World = Callable[[Setting], tuple[float, float, float]]
"""Throughput, needless retransmissions and their spread over the seeds, as a share."""


def synthetic(world: World, drops: int) -> dict[Setting, Point]:
    """Points with five runs each, whose median run has the world's value."""
    points = {}
    for s in {**dict.fromkeys(settings()), **dict.fromkeys(schemes.settings())}:
        throughput, needless, spread = world(s)
        flows = [
            {
                "throughput_bytes_per_s": throughput * (1 + z / 1e4),
                "needless_retransmissions": needless * (1 + spread * z),
                "data_drops": drops,
                "timeouts": 0,
            }
            for z in (-1, -0.5, 0, 0.5, 1)
        ]
        points[s] = Point(s, [{"flows": [flow], "duration_s": 600.0} for flow in flows])
    return points


def as_published(s: Setting) -> tuple[float, float, float]:
    """The results that the paper describes."""
    some, gap = 1 - math.exp(-s.swaps / 6), s.gap_s or 1.0
    stock, alone = 6e5 * (1 - 0.08 * some * gap**-0.4), 6e5 * (1 - 0.01 * some)
    needless = 100 * some * gap**-0.5
    if s.scheme == EWMA:
        return alone * 0.998, 3.2 * needless, 0.3
    if s.scheme.stack == EWMA.stack:
        x = dict(s.scheme.set)["detect.threshold.x"]
        return alone, {"1": 6.6, "0.25": 4.5, "0.0625": 3.2}[x] * needless, 0.2
    share = {INC: (0.9, 0.1), AVG: (0.5, 0.9), DEL: (0.3, 0.9)}.get(s.scheme)
    if share:
        return alone * 1.002, share[0] * needless, share[1]
    return (stock, needless, 0.2) if s.scheme.stack == "sack-ff96" else (alone, 6 * needless, 0.1)


def flat(_: Setting) -> tuple[float, float, float]:
    """No setting has any effect."""
    return 6e5, 1.0, 0.0


def wild(s: Setting) -> tuple[float, float, float]:
    """Undo has no effect on throughput, adaptive thresholds reduce it, EWMA is best, the others are worst."""
    throughput, _, _ = as_published(Setting(s.scenario, s.swaps, s.gap_s))
    if s.scheme.stack == EWMA.stack:
        return throughput * 1.02, 10 * float(dict(s.scheme.set)["detect.threshold.alpha"]), 0.0
    return (throughput * 0.97, 500.0, 0.0) if s.scheme in {INC, AVG, DEL} else (throughput, 100.0, 0.0)


def held(points: dict[Setting, Point]) -> set[str]:
    """The claims that hold."""
    return {key for key, measure in MEASURES.items() if CLAIMS[key].accepts(measure(View(points)))}


def test_every_claim_on_chance_holds_in_the_paper_s_world_and_fails_in_another() -> None:
    assert set(MEASURES) - held(synthetic(as_published, 83)) == set()
    still = {"S000-21", "S000-22", "S000-23", "S000-26", "S000-34", "S000-35"}
    assert held(synthetic(flat, 0)) == still
    assert held(synthetic(wild, 83)) & still == set()


def test_every_claim_has_a_measure_or_says_why_not(runs_of_a_second: dict[Setting, Point]) -> None:
    drawn = set(MEASURES) | set(UNCHECKED) | set(parameters(runs_of_a_second))
    assert drawn | set(EXTREMES) | {"S000-15", "S000-16", "S000-18"} == set(CLAIMS)


@pytest.fixture
def runs_of_a_second(tmp_path: Path) -> dict[Setting, Point]:
    """One run for each point of the stock sender, and of increase by 1 in the paper's reading."""
    some = [s for s in settings() if s.scenario == "paper"] + [schemes.at(INC, 12)]
    return points_of.run(work(tmp_path), some)


CHOICES = reading.read(FOLDER)


def work(tmp_path: Path, otherwise: dict[str, str] | None = None) -> Work:
    return Work(FOLDER, tmp_path, Effort(1, 1), laboratory(tmp_path), Reading(CHOICES, otherwise or {}))


def test_a_parameter_is_read_from_what_ran(runs_of_a_second: dict[Setting, Point]) -> None:
    points = runs_of_a_second
    read = parameters(points)
    wrong = {key for key, text in read.items() if not CLAIMS[key].accepts(text)}
    assert (wrong, read["S000-39"]) == ({"S000-39"}, "1 s, 1, 12, 1 s and 8 s")
    one = next(iter(points.values()))
    one.document["link"][1]["rate"] = "6 Mbps"
    one.document["flow"][0]["receiver"] = {"ack": "every"}
    changed = parameters(points)
    assert changed["S000-01"] == "5 Mbps, 50 ms or 6 Mbps, 50 ms"
    assert changed["S000-05"] == "500 ms, 200 ms or 500 ms, no heartbeat but every"


def test_the_burst_is_what_the_filling_ack_releases(tmp_path: Path) -> None:
    here = work(tmp_path)
    assert [burst(here, rule) for rule in ("nothing", "limited-transmit", "extended")] == [10, 8, 5]


@pytest.mark.parametrize(
    ("choice", "option"), [(choice.key, option.key) for choice in CHOICES for option in choice.others]
)
def test_every_option_changes_a_run_of_the_claims_or_how_they_are_measured(
    choice: str, option: str, tmp_path: Path
) -> None:
    taken, other = work(tmp_path), work(tmp_path, {choice: option})

    def tasks(here: Work) -> set[object]:
        return {here.read(points_of.trial(s)).task(FOLDER, here.effort) for s in claimed(here)}

    assert tasks(taken) != tasks(other) or Look.of(taken.reading) != Look.of(other.reading)


def test_a_reading_leaves_the_set_up_of_ns_2_alone(tmp_path: Path) -> None:
    beside = [points_of.trial(s) for s in settings() if s.scenario == "ns2"]
    for choice in CHOICES:
        for option in choice.others:
            here = work(tmp_path, {choice.key: option.key})
            assert [here.read(trial) for trial in beside] == beside


def test_where_an_option_reaches_is_where_its_sentence_says(tmp_path: Path) -> None:
    def stacks(choice: str, option: str) -> set[str]:
        here = work(tmp_path, {choice: option})
        return {s.scheme.stack for s in claimed(here) if here.read(points_of.trial(s)) != points_of.trial(s)}

    assert stacks("mistake", "DSACK") == {"dsack-inc"}
    assert stacks("cap", "stored") == {"dsack-inc", "dsack-avg", "dsack-ewma"}
    assert stacks("delay", "last duplicate") == stacks("ceiling", "before the cut") == {"dsack-del"}
    assert stacks("counts", "mean") == set()


def test_the_axes_and_figure_9_are_looked_at_as_they_are_read() -> None:
    points = synthetic(as_published, 83)
    shorter = View(points, look=Look(most_swaps=20))
    assert (shorter.some, shorter.heavy) == ((1, 2, 4, 8, 12, 20), (12, 20))
    assert shorter.sweep_a == (0, 1, 2, 3, 4, 6, 8, 10, 12, 16, 20)
    assert View(points, look=Look(fig9_swaps=30)).count(INC) == View(points).median(INC, 30) != View(points).count(INC)


def test_an_interval_covers_the_value_and_narrows_with_the_runs() -> None:
    def width(values: list[float]) -> float:
        ((low, high),) = claims.resampled(lambda draw: (sum(values[i] for i in draw) / len(draw),), len(values))
        assert low < sum(values) / len(values) < high
        return high - low

    assert width([1.0, 2.0, 3.0, 4.0] * 25) < width([1.0, 2.0, 3.0, 4.0]) / 3


def test_a_median_has_quartiles_and_a_median_deviation() -> None:
    m = Median.of([1, 2, 3, 4, 100])
    assert (m.n, m.value, m.low, m.high, m.deviation) == (5, 3, 2, 4, 1)
    assert Median.of([7]) == Median(1, 7, 7, 7, 0)
