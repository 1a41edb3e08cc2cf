"""Studies: the best sender, its margin, and the uncertainty."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import ackclock as ak
from ackclock import slots
from ackclock.study.measure import MEASURES
from ackclock.study.paired import ERROR, Outcome, compare, difference, settled, together
from ackclock.study.plan import Seeds, read
from conftest import Command

GOODPUT, COMPLETION, NEEDLESS = MEASURES["goodput"], MEASURES["completion"], MEASURES["needless"]
LOSSY = """
[run]
duration = "20 s"
[[link]]
from = "S"
to = "D"
rate = "5 Mbps"
delay = "20 ms"
queue = "40 packets"
elements = [
    { kind = "bernoulli", p = 0.01, only = "data" },
    { kind = "swap", mode = "slots", count = 6, gap = { exponential = "300 ms" } },
]
back = { elements = [] }
[[flow]]
from = "S"
to = "D"
stack = "dsack-avg"
window = "100 packets"
app = { kind = "fixed", size = "500 kB" }
set = { "detect.threshold.count_filling_ack" = false }
"""
STUDY = """
question = "Which sender would make this upload faster?"
measure = "completion"
stacks = ["rfc-6675", "linux-2025", "tahoe"]
seeds = { at_least = 5, at_most = 20 }

[[path]]
name = "short"
scenario = "lossy.toml"

[[path]]
name = "long"
scenario = "lossy.toml"
set = { "link[0].delay" = "60 ms" }
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study's file with its scenario beside it."""
    (tmp_path / "lossy.toml").write_text(LOSSY, encoding="utf-8")
    path = tmp_path / "upload.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def test_a_difference_is_the_mean_of_logarithms_with_students_interval() -> None:
    a, b = [11.0, 12.1, 9.9], [10.0, 11.0, 11.0]
    found = difference("a", "b", a, b, COMPLETION, 0.02, 0.95)
    logs = np.log(np.array(a) / np.array(b))
    half = 4.302653 * logs.std(ddof=1) / math.sqrt(3)
    assert found.change == pytest.approx(math.exp(logs.mean()) - 1)
    assert found.low == pytest.approx(math.exp(logs.mean() - half) - 1, abs=1e-6)
    assert found.high == pytest.approx(math.exp(logs.mean() + half) - 1, abs=1e-6)
    assert found.outcome is Outcome.OPEN
    assert found.turned(COMPLETION).change == pytest.approx(math.exp(-logs.mean()) - 1)


def test_shares_are_compared_by_their_difference_and_fewer_are_better() -> None:
    found = difference("a", "b", [0.01, 0.011, 0.012], [0.0, 0.001, 0.002], NEEDLESS, 0.001, 0.95)
    assert found.change == pytest.approx(0.01)
    assert found.low == pytest.approx(0.01)
    assert found.high == pytest.approx(0.01)
    assert (found.outcome, found.turned(NEEDLESS).outcome) == (Outcome.WORSE, Outcome.BETTER)


def test_an_interval_of_two_seeds_at_a_high_confidence_has_ends_that_are_numbers_both_ways() -> None:
    found = difference("a", "b", [1.0, 2.0], [3.0, 1.0], GOODPUT, 0.02, 1 - 1e-7)
    for one in (found, found.turned(GOODPUT)):
        assert one.low is not None
        assert one.high is not None
        assert math.isfinite(one.low)
        assert math.isfinite(one.high)
        assert one.low < -0.99 < 1e9 < one.high


def test_a_difference_that_does_not_matter_is_none_however_sure() -> None:
    a = [100.0, 200.0, 300.0, 400.0]
    assert difference("a", "b", a, [1.01 * x for x in a], GOODPUT, 0.02, 0.95).outcome is Outcome.SAME
    assert difference("a", "b", a, [1.05 * x for x in a], GOODPUT, 0.02, 0.95).outcome is Outcome.WORSE


def test_where_transfers_do_not_end_the_exact_sign_test_decides() -> None:
    ends, never = [5.0 + k for k in range(10)], [None] * 10
    # 2 · 2^-10 = 0.00195 is the smallest level at which ten out of ten are significant.
    assert difference("a", "b", ends, never, COMPLETION, 0.02, 1 - 0.002).outcome is Outcome.BETTER
    assert difference("a", "b", ends, never, COMPLETION, 0.02, 1 - 0.0019).outcome is Outcome.OPEN
    assert difference("a", "b", never, never, COMPLETION, 0.02, 0.95).outcome is Outcome.OPEN
    places, found = compare({"never": never, "too": never, "ends": ends}, COMPLETION, 0.02, 0.99)
    assert [(p.stack, p.first, p.last, p.missing) for p in places] == [
        ("ends", 1, 1, 0),
        ("never", 2, 3, 10),
        ("too", 2, 3, 10),
    ]
    assert settled({"never": never, "too": never, "ends": ends}, found)
    assert not settled(
        {"never": never, "ends": ends}, [difference("never", "ends", never, ends, COMPLETION, 0, 0.9999)]
    )


def test_places_are_a_range_where_stacks_are_not_told_apart() -> None:
    noise = [0.0, 5.0, -5.0, 3.0, -3.0]
    values = {
        "slow": [50.0 + n for n in noise],
        "one": [100.0 + n for n in noise],
        "other": [100.0 - n for n in noise],
    }
    places, _ = compare(values, GOODPUT, 0.02, 0.99)
    assert {p.stack: (p.first, p.last) for p in places} == {"one": (1, 2), "other": (1, 2), "slow": (3, 3)}


def test_all_paths_together_weigh_the_same_and_a_seed_that_one_lacks_is_left_out() -> None:
    paths: list[dict[str, list[float | None]]] = [{"a": [1.0, 4.0, 9.0]}, {"a": [100.0, 400.0]}, {"a": [10.0, None]}]
    assert list(together(paths, COMPLETION)["a"]) == [pytest.approx(10.0), None]
    shares = together([{"a": [0.0, 0.2]}, {"a": [0.1, 0.4]}], NEEDLESS)
    assert list(shares["a"]) == [pytest.approx(0.05), pytest.approx(0.3)]


def test_one_study_in_twenty_at_most_says_something_wrong_of_equal_stacks_and_real_differences_are_found() -> None:
    draws = np.random.default_rng(20261123)
    looks, studies, stacks, paths = Seeds(1, 10, 80).looks, 400, 4, 3
    pairs = math.comb(stacks, 2) * (paths + 1)
    level, wrong, found = 1 - ERROR / (pairs * len(looks)), 0, 0
    for _ in range(studies):
        # Skewed, and similar for one seed, like real runs. The last stack is 15 % slower.
        base = draws.lognormal(2.0, 0.3, (paths, looks[-1], 1))
        values = base * draws.lognormal(0.0, 0.15, (paths, looks[-1], stacks))
        values[:, :, -1] *= 1.15
        said = [_sequential(path, looks, level) for path in values]
        wrong += any(
            outcome in {Outcome.BETTER, Outcome.WORSE}
            for each in said
            for pair, outcome in each.items()
            if "3" not in pair
        )
        found += all(each[frozenset({"0", "3"})] is Outcome.BETTER for each in said)
    # 5 % of 400 are 20; with a true share of 5 %, more than 33 occur once in 500 times.
    assert wrong <= 33
    assert found >= 0.9 * studies


def _sequential(values: np.ndarray, looks: list[int], level: float) -> dict[frozenset[str], Outcome]:
    """The result of a study for each pair of stacks on one path with given values, from the first by name."""
    for look in looks:
        by_stack = {str(k): values[:look, k].tolist() for k in range(values.shape[1])}
        _, found = compare(by_stack, COMPLETION, 0.0, level)
        if settled(by_stack, found):
            break
    return {frozenset({d.one, d.other}): d.outcome if d.one < d.other else d.outcome.reversed for d in found}


def test_a_study_answers_in_words_tables_and_a_report(study: Path, ackclock: Command, tmp_path: Path) -> None:
    done = ackclock("study", study)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    assert "- On all paths, linux-2025 does best by completion time (" in done.stdout
    assert (
        "linux-2025 does not have detect.threshold.count_filling_ack, which the scenario of short sets." in done.stdout
    )
    folder = tmp_path / "studies" / "upload"
    names = {"report.html", "study.svg", "study.json", "ranking.csv", "ranking.tex", "values.parquet", "path-2.toml"}
    assert {file.name for file in folder.iterdir()} == names
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Which sender would make this upload faster?" in page
    assert f"ackclock study {study}" in page
    best = ackclock("run", folder / "path-2.toml", "--stack", "linux-2025", "--seed", "1", "--json")
    first = json.loads(best.stdout)["runs"][0]["flows"][0]
    assert (folder / "ranking.tex").read_text(encoding="utf-8").count(r"\\") == 1 + 3 * 4
    values = pl.read_parquet(folder / "values.parquet")
    there = values.filter(pl.col("path") == "long", pl.col("stack") == "linux-2025", pl.col("seed") == 1)
    assert there["completion"].item() == first["finish_s"] - first["start_s"]
    assert values.columns == ["path", "stack", "seed", "completion", "goodput", "needless", "timeouts"]
    again = ackclock("study", study, "--json", "--threads", "1")
    assert again.stdout == (folder / "study.json").read_text(encoding="utf-8")
    assert "20 seeds: " not in again.stderr  # every run is stored


def test_the_numbers_of_a_study_are_those_of_the_runs(study: Path, tmp_path: Path) -> None:
    answer = ak.study(study, store=tmp_path / "store")
    by_hand = ak.run(tmp_path / "lossy.toml", stack="rfc-6675", seed=3).frame
    row = answer.values.filter(pl.col("path") == "short", pl.col("stack") == "rfc-6675", pl.col("seed") == 3)
    assert row["completion"].item() == by_hand["finish_s"].item() - by_hand["start_s"].item()
    assert row["goodput"].item() == by_hand["goodput_bytes_per_s"].item()
    assert row["needless"].item() == by_hand["needless_retransmissions"].item() / by_hand["data_packets_sent"].item()
    assert answer.level == 1 - 0.05 / (3 * 3 * 3)


def test_seeds_are_added_only_where_stacks_are_not_told_apart(study: Path, tmp_path: Path) -> None:
    easy = STUDY.replace('"rfc-6675", "linux-2025", "tahoe"', '"tahoe", "linux-2025"')
    study.write_text(easy, encoding="utf-8")
    answer = ak.study(study, store=tmp_path / "store")
    short, long = answer.paths
    assert (short.seeds, long.seeds) == (5, 10)
    assert {d.outcome for part in answer.paths for d in part.differences} == {Outcome.BETTER}
    five = {stack: values[:5] for stack, values in long.values["completion"].items()}
    assert compare(five, COMPLETION, 0.02, answer.level)[1][0].outcome is Outcome.OPEN
    hard = STUDY.replace('"rfc-6675", "linux-2025", "tahoe"', '"linux-2025", "linux-2025,name=twin"')
    study.write_text(hard + "\n", encoding="utf-8")
    twins = ak.study(study, store=tmp_path / "store")
    assert {d.outcome for part in twins.paths for d in part.differences} == {Outcome.SAME}
    assert twins.sentences[0].startswith("On all paths, the stacks differ by less than 2 % in completion time")


def test_delays_and_fairness_are_those_that_the_runs_measure(study: Path, tmp_path: Path) -> None:
    detailed = STUDY.replace(
        'measure = "completion"', 'measure = "delay_p95"\nbeside = ["queue_p95", "jain", "rtt_p50"]'
    )
    study.write_text(detailed, encoding="utf-8")
    answer = ak.study(study, store=tmp_path / "store")
    by_hand = ak.run(tmp_path / "lossy.toml", stack="tahoe", seed=2, measures=True).to_dict()["runs"][0]["measures"]
    row = answer.values.filter(pl.col("path") == "short", pl.col("stack") == "tahoe", pl.col("seed") == 2)
    assert row["delay_p95"].item() == by_hand["groups"][0]["delay_p95_s"]
    assert row["rtt_p50"].item() == by_hand["groups"][0]["rtt_p50_s"]
    assert row["jain"].item() == 1.0
    assert row["queue_p95"].item() == max(link["queue_delay_p95_s"] or 0 for link in by_hand["links"])


def test_a_study_may_be_a_dict_with_scenarios_numpy_values_and_stacks_with_parameters(tmp_path: Path) -> None:
    slow = ("rfc-6675", {"rto.min": "1 s", "name": "patient"})
    asked = {
        "stacks": ["rfc-6675", slow],
        "seeds": np.int64(3),
        "path": [{"name": "lossy", "scenario": ak.Scenario.from_toml(LOSSY)}],
    }
    answer = ak.study(asked, store=tmp_path)
    assert set(answer.ranking["stack"]) == {"rfc-6675", "patient"}
    assert set(answer.ranking["seeds"]) == {3}


def test_a_path_may_be_a_capture_to_which_one_is_fitted(tmp_path: Path) -> None:
    capture = Path(__file__).resolve().parents[1] / "captures" / "kernel" / "cubic-bursts-sender.pcapng.gz"
    asked = {
        "measure": "completion",
        "stacks": ["linux-2025", "tahoe"],
        "seeds": 3,
        "path": [{"capture": str(capture)}],
    }
    answer = ak.study(asked, store=tmp_path)
    fitted = ak.run(ak.capture(capture).fit().scenario, stack="tahoe", seed=1).frame
    mine = answer.values.filter(pl.col("stack") == "tahoe", pl.col("seed") == 1)
    assert mine["completion"].item() == (fitted["finish_s"] - fitted["start_s"]).mean()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"completion"', '"completio"', 'key `measure`: found "completio", allowed: one of goodput, completion,'),
        (
            '"tahoe"]',
            '"rfc-6675"]',
            "key `stacks`: found two stacks with the same name, allowed: a list of two or more",
        ),
        ('"tahoe"]', '"taho"]', 'found "taho", allowed: one of '),
        ("at_most = 20", "at_most = 4", "key `seeds.at_least`: found 5, allowed: a whole number from 2 to 4"),
        ("measure =", "within = 2\nmeasure =", 'key `within`: found 2, allowed: a share, as in "2 %"'),
        ("measure =", 'baseline = "reno"\nmeasure =', 'key `baseline`: found "reno", allowed: one of the stacks '),
        ("scenario =", "capture = ", "allowed: a capture of the sender's side to which a path can be fitted"),
        (
            'name = "long"\n',
            'name = "long"\ncapture = "x"\n',
            "allowed: a table with `scenario`, the path of a scenario, or ",
        ),
        ("question =", "questions =", "key `questions`: found an unknown key, allowed: name, question,"),
    ],
)
def test_a_study_that_makes_no_sense_is_refused_in_one_line(
    study: Path, ackclock: Command, old: str, new: str, said: str
) -> None:
    study.write_text(STUDY.replace(old, new), encoding="utf-8")
    done = ackclock("study", study)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert said in done.stderr


def test_a_measure_that_no_run_of_a_path_has_is_refused(study: Path, ackclock: Command, tmp_path: Path) -> None:
    endless = LOSSY.replace('app = { kind = "fixed", size = "500 kB" }', "")
    (tmp_path / "lossy.toml").write_text(endless, encoding="utf-8")
    done = ackclock("study", study)
    assert done.returncode == 2
    assert (
        'found "completion", which no run on the path short has, allowed: a measure that its runs have' in done.stderr
    )


def test_a_dry_run_says_how_many_runs_a_study_may_take(study: Path, ackclock: Command, tmp_path: Path) -> None:
    done = ackclock("study", study, "--dry-run")
    assert (done.returncode, done.stdout) == (0, "upload: 3 stacks on 2 paths, 30 to 120 runs\n")
    assert not (tmp_path / "ackclock-results").exists()


def test_the_study_that_was_read_has_the_defaults_of_the_guide() -> None:
    asked = read({"stacks": ["reno", "newreno"], "path": [{"scenario": LOSSY}]})
    assert (asked.measure.key, [m.key for m in asked.beside]) == ("goodput", ["needless", "timeouts"])
    assert (asked.baseline, asked.within, asked.seeds, asked.seeds.looks) == (
        "reno",
        0.02,
        Seeds(1, 10, 80),
        [10, 20, 40, 80],
    )


def test_the_answer_is_json_that_says_how_sure_each_statement_is(study: Path, tmp_path: Path) -> None:
    said = json.loads(ak.study(study, store=tmp_path / "store").json)
    assert (said["confidence_together"], said["comparisons"]) == (0.95, 9)
    assert said["confidence_each"] == pytest.approx(1 - 0.05 / 27)
    assert {row["outcome"] for row in said["differences"]} <= {outcome.value for outcome in Outcome}


def test_a_stack_may_have_parameters_of_its_own_wherever_stacks_are_compared(tmp_path: Path) -> None:
    own: dict[str, slots.Value] = {"rto.min": "1 s", "detect.threshold": {"kind": "fixed", "segments": 5}}
    pair = ("rfc-6675", own)
    text = 'rfc-6675,rto.min=1 s,detect.threshold={ kind = "fixed", segments = 5 }'
    both = ak.compare(LOSSY, ["rfc-6675", pair], seeds=2)
    plain = ak.run(LOSSY, stack="rfc-6675", set=own, seeds=2)
    hashes = both.frame.filter(pl.col("stack") == text)["acked_bytes", "retransmissions", "finish_s"]
    assert hashes.rows() == plain.frame["acked_bytes", "retransmissions", "finish_s"].rows()
    assert ak.show(LOSSY, stack=pair) == ak.show(LOSSY, stack=text)
    swept = ak.sweep(ak.Plan(LOSSY, grid={"stack": ["rfc-6675", text]}, seeds=[1, 2]), store=tmp_path)
    assert swept.frame["trace_hash"].to_list() == both.frame["trace_hash"].to_list()
    assert swept.notes == tuple(both.notes)
    assert both.notes[0] == "rfc-6675 does not have detect.threshold.count_filling_ack, which the scenario sets."


def test_a_class_beside_one_stack_runs_on_workers_too(tmp_path: Path) -> None:
    class Forty(ak.DupThresh):
        def segments(self, w: object, cx: object) -> int:
            return 40

    asked = {
        "stacks": ["rfc-6675", ("rfc-6675", {"name": "forty", "detect.threshold": Forty})],
        "seeds": 2,
        "path": [{"name": "lossy", "scenario": LOSSY}],
    }
    answer = ak.study(asked, store=tmp_path)
    fixed = ak.run(LOSSY, stack="rfc-6675,detect.threshold.segments=40", seeds=2).frame
    mine = answer.values.filter(pl.col("stack") == "forty")["goodput"].to_list()
    assert mine == fixed["goodput_bytes_per_s"].to_list()
    assert mine != answer.values.filter(pl.col("stack") == "rfc-6675")["goodput"].to_list()


def test_python_that_a_study_names_runs_only_with_permission(study: Path, ackclock: Command, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    lines = ["import ackclock as ak", f"open({str(ran)!r}, 'w').close()", "class R(ak.DupThresh):"]
    rule = "\n".join([*lines, "    def segments(self, w, cx):", "        return 9", ""])
    (tmp_path / "rule.py").write_text(rule, encoding="utf-8")
    own = 'rfc-6675,name=mine,detect.threshold={ kind = "python", source = "rule.py:R" }'
    study.write_text(STUDY.replace('"tahoe"', f"'{own}'"), encoding="utf-8")
    refused = ackclock("study", study)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
    assert "--allow-python" in refused.stderr
    assert not ran.exists()
    assert ackclock("study", study, "--allow-python").returncode == 0
    assert ran.exists()
