"""Tuning: the search, its front and choices, their value on held-out seeds, and its errors."""

from __future__ import annotations

import json
import math
import random
import runpy
import statistics
import tomllib
from collections.abc import Callable, Generator, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import ackclock as ak
from ackclock import _native
from ackclock.cli.main import app
from ackclock.progress import Progress
from ackclock.runs import local
from ackclock.runs.network import Seeds
from ackclock.runs.task import Done, Task, run_task
from ackclock.tuning.best import CHOICES, Change, named, pareto
from ackclock.tuning.objective import OnPath, Score, front, knee, score
from ackclock.tuning.plan import read
from ackclock.tuning.study import Trial
from conftest import SHORT, Command

SWAPS = SHORT.replace(
    'elements = [{ kind = "bernoulli", p = 0.01 }]',
    'elements = [{ kind = "swap", mode = "slots", count = 8, gap = { exponential = "300 ms" } }]',
)
PLAN = """
name = "small"
stack = "dsack-ewma"
trials = 14
seeds = { first = 1, count = 2 }

[parameters]
"detect.threshold.alpha" = { from = 0.1, to = 1.0 }
"detect.threshold.x" = { from = 0.001, to = 1.0, spacing = "log" }
"rto.min" = { from = "200 ms", to = "1000 ms" }

[[path]]
name = "swaps"
scenario = "swaps.toml"

[[path]]
name = "more swaps"
scenario = "swaps.toml"
set."link[0].elements[0].count" = 15
set."set.rto.tick" = "10 ms"

[held_out]
seeds = { first = 11, count = 4 }

[[held_out.path]]
name = "loss"
scenario = "short.toml"
"""


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small plan with its scenarios, in a folder that is the working directory."""
    (tmp_path / "swaps.toml").write_text(SWAPS, encoding="utf-8")
    (tmp_path / "short.toml").write_text(SHORT, encoding="utf-8")
    path = tmp_path / "plan.toml"
    path.write_text(PLAN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return path


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """The tasks that are run after this point."""
    tasks: list[Task] = []

    def spy(task: Task, progress: Callable[[float], object] | None = None) -> Done:
        tasks.append(task)
        return run_task(task, progress)

    monkeypatch.setattr(local, "run_task", spy)
    return tasks


def means(stack: str, scenario: str, options: dict[str, str], seeds: range) -> tuple[list[float], list[float]]:
    """Goodput and share of needless retransmissions for each seed, by ``ackclock.run``."""
    runs = ak.run(scenario, stack=stack, set=options, seed=seeds[0], seeds=len(seeds)).frame
    shares = runs["needless_retransmissions"] / runs["data_packets_sent"]
    return runs["goodput_bytes_per_s"].to_list(), shares.to_list()


def test_the_same_plan_gives_the_same_trials_and_another_search_seed_others(plan: Path) -> None:
    one, other = (ak.tune(plan, store=f"store-{n}", threads=n) for n in (1, 2))
    assert one.json == other.json
    assert one.trials.height == 14
    assert ak.tune(plan, seed=2, trials=4).trials.drop("trial").rows()[1:] != one.trials.drop("trial").rows()[1:4]


def test_both_searches_try_as_many_settings_as_asked_within_their_ranges(plan: Path) -> None:
    for search in ("tpe", "nsga-ii"):
        made = ak.tune({**tomllib.loads(PLAN), "search": search}).trials
        tried = made.filter(pl.col("trial") > 0)
        assert tried["detect.threshold.x"].is_between(0.001, 1).all()
        assert tried["detect.threshold.x"].n_unique() > 10
        assert all(0.2 <= float(text.removesuffix(" ms")) / 1000 <= 1 for text in tried["rto.min"])


def test_the_defaults_are_trial_0_and_every_score_is_what_its_runs_say(plan: Path) -> None:
    made = ak.tune(plan, trials=3)
    (plan.parent / "more.toml").write_text(SWAPS.replace("count = 8", "count = 15"), encoding="utf-8")
    paths: list[tuple[str, dict[str, str]]] = [("swaps.toml", {}), ("more.toml", {"rto.tick": "10 ms"})]
    base = [means("dsack-ewma", scenario, more, range(1, 3)) for scenario, more in paths]
    for row in made.trials.iter_rows(named=True):
        tried = {p.path: str(row[p.path]) for p in made.plan.parameters if row[p.path] is not None}
        assert bool(tried) is (row["trial"] > 0)
        ours = [means("dsack-ewma", scenario, more | tried, range(1, 3)) for scenario, more in paths]
        ratios = [sum(a) / sum(b) for (a, _), (b, _) in zip(ours, base, strict=True)]
        assert row["goodput"] == pytest.approx(math.prod(ratios) ** 0.5)
        assert row["needless"] == pytest.approx(statistics.mean(x for _, shares in ours for x in shares))
    assert made.trials["goodput"][0] == 1


def test_the_front_is_what_comparing_every_pair_finds() -> None:
    draw = random.Random(1)
    for _ in range(200):
        scores = [Score(draw.randint(0, 6) / 6, draw.randint(0, 6) / 6) for _ in range(draw.randint(1, 30))]
        best = [i for i, s in enumerate(scores) if not any(o.dominates(s) for o in scores) and s not in scores[:i]]
        assert front(scores) == sorted(best, key=lambda i: scores[i].needless)


def test_the_knee_is_farthest_above_the_line_between_the_ends_of_the_front() -> None:
    assert knee([Score(1.0, 0.0), Score(1.05, 0.01), Score(1.09, 0.02), Score(1.1, 0.1)]) == 2
    assert knee([Score(1.0, 0.0), Score(1.1, 0.1)]) == 0
    assert knee([Score(1.0, 0.0)]) == 0


def trial(number: int, goodput: float | None, needless: float = 0.0) -> Trial:
    """A trial with a score, or one that was refused."""
    return Trial(number, {}, (), None, None if goodput is None else Score(goodput, needless))


def test_choices_keep_one_objective_at_least_at_the_defaults() -> None:
    trials = [trial(0, 1.0, 0.05), trial(1, 1.2, 0.08), trial(2, None), trial(3, 1.1, 0.05), trial(4, 1.0, 0.01)]
    trials += [trial(5, 0.9, 0.0), trial(6, 1.1, 0.04)]
    assert {choice: t.number for choice, t in named(trials).items()} == dict(zip(CHOICES, (6, 4, 4), strict=True))
    assert [t.number for t in pareto(trials)] == [5, 4, 6, 1]
    assert {t.number for t in named([trial(0, 1.0, 0.05), trial(1, 0.9, 0.06)]).values()} == {0}


def test_changes_have_the_intervals_of_students_t_on_paired_seeds() -> None:
    # t(2 degrees of freedom, 97.5 %) = 4.302653; the deviation of 1, 2, 3 is 1.
    half = 4.302653 / math.sqrt(3)
    shares = Change.of_shares([0.01, 0.02, 0.03])
    assert (shares.mean, shares.low95, shares.high95) == pytest.approx((0.02, 0.02 - half / 100, 0.02 + half / 100))
    ratios = Change.of_ratios([math.exp(0.1), math.exp(0.2), math.exp(0.3)])
    ends = (math.exp(0.2) - 1, math.exp(0.2 - half / 10) - 1, math.exp(0.2 + half / 10) - 1)
    assert (ratios.mean, ratios.low95, ratios.high95) == pytest.approx(ends)
    assert Change.of_ratios([1.25, 0.8]).mean == pytest.approx(0)
    assert Change.of_ratios([1.5]) == Change(0.5, None, None)
    assert Change.of_ratios([1.5, 0.0]) == Change(-1.0, None, None)


def test_a_score_is_a_geometric_mean_over_paths_and_a_mean_share() -> None:
    base = [OnPath((100.0, 300.0), (0.1, 0.1)), OnPath((10.0,), (0.0,))]
    ours = [OnPath((1500.0, 100.0), (0.2, 0.4)), OnPath((5.0,), (0.1,))]
    assert score(ours, base) == pytest.approx((math.sqrt(4 * 0.5), 0.2))
    assert score([OnPath((0.0,), (0.0,)), ours[1]], base).goodput == 0


def test_held_out_rows_are_paired_differences_on_seeds_and_paths_that_the_search_has_not_seen(plan: Path) -> None:
    parameters = {"detect.threshold.segments": {"from": 3, "to": 40, "whole": True}}
    made = ak.tune({**tomllib.loads(PLAN), "stack": "dsack", "parameters": parameters})
    choice = made.best["fewest-needless"]
    assert choice.trial > 0
    rows = made.held_out.filter(pl.col("choice") == "fewest-needless")
    # Resetting a single parameter gives the defaults.
    assert rows["reset"].null_count() == rows.height
    assert rows["path"].to_list() == ["swaps", "more swaps", None, "loss", None]
    assert rows["searched"].to_list() == [True, True, True, False, False]
    row = rows.row(0, named=True)
    base = means("dsack", "swaps.toml", {}, range(11, 15))
    ours = means("dsack", "swaps.toml", choice.set, range(11, 15))
    logs = [math.log(a / b) for a, b in zip(ours[0], base[0], strict=True)]
    half = 3.182446 * statistics.stdev(logs) / 2
    assert row["goodput_change"] == pytest.approx(math.expm1(statistics.mean(logs)))
    assert row["goodput_change_high95"] == pytest.approx(math.expm1(statistics.mean(logs) + half))
    shares = [a - b for a, b in zip(ours[1], base[1], strict=True)]
    assert row["needless_change"] == pytest.approx(statistics.mean(shares))
    assert row["needless_change_low95"] == pytest.approx(
        statistics.mean(shares) - 3.182446 * statistics.stdev(shares) / 2
    )
    first, second, both = (math.log1p(rows["goodput_change"][i]) for i in range(3))
    assert both == pytest.approx((first + second) / 2)


def test_every_parameter_of_the_first_choice_is_set_back_alone(plan: Path) -> None:
    parameters = {
        "detect.threshold.segments": {"from": 3, "to": 40, "whole": True},
        "rto.max": {"choice": ["20 s", "60 s"]},
        "rto.min": {"choice": ["400 ms", "1 s"]},
    }
    made = ak.tune({**tomllib.loads(PLAN), "stack": "dsack", "parameters": parameters})
    choice = made.best["most-goodput"]
    assert choice.set
    rows = made.held_out.filter(pl.col("reset").is_not_null())
    assert set(rows["choice"]) == {"most-goodput"}
    assert rows["path"].null_count() == rows.height
    for row in rows.filter(~pl.col("searched")).iter_rows(named=True):
        rest = {path: value for path, value in choice.set.items() if path != row["reset"]}
        ours, base = (means("dsack", "short.toml", tried, range(11, 15)) for tried in (rest, {}))
        assert row["needless"] == pytest.approx(statistics.mean(ours[1]))
        logs = [math.log(a / b) for a, b in zip(ours[0], base[0], strict=True)]
        assert row["goodput_change"] == pytest.approx(math.expm1(statistics.mean(logs)), abs=1e-12)
    assert set(rows["reset"]) == set(parameters)


def test_a_repeated_tuning_runs_nothing_and_a_longer_one_only_the_rest(plan: Path, ran: list[Task]) -> None:
    first = ak.tune(plan, trials=6)
    assert sum(task.count for task in ran) <= 6 * 2 * 2 + (1 + 3 + 3) * 3 * 4
    ran.clear()
    assert ak.tune(plan, trials=6).json == first.json
    assert not ran
    longer = ak.tune(plan, trials=6, seed=1, store="elsewhere")
    assert longer.json == first.json


class Counted(local.Local):
    """Threads of this program, with a count of the runs that they made."""

    made = 0

    def run(self, tasks: Iterable[Task]) -> Generator[Sequence[tuple[Task, Done]]]:
        """Count the results."""
        for pieces in super().run(tasks):
            self.made += sum(piece.count for piece, _ in pieces)
            yield pieces


def test_another_executor_makes_the_runs_and_the_result_is_the_same(plan: Path) -> None:
    other = Counted(1)
    assert ak.tune(plan, trials=3, on=other, store="other").json == ak.tune(plan, trials=3).json
    assert other.made >= 3 * 2 * 2
    with pytest.raises(ak.ScenarioError, match="--on"):
        ak.tune(plan, on="nowhere")


def test_an_interrupted_tuning_goes_on_where_it_was(plan: Path, ran: list[Task]) -> None:
    def stop(progress: Progress) -> None:
        if progress.done > 0.3 * progress.runs:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ak.tune(plan, progress=stop)
    before = {(task.text, task.set, seed) for task in ran for seed in range(task.first, task.first + task.count)}
    assert before
    ran.clear()
    made = ak.tune(plan)
    again = {(task.text, task.set, seed) for task in ran for seed in range(task.first, task.first + task.count)}
    # Only tasks without a result at the time of the stop are repeated.
    assert len(before & again) < len(before) / 2
    assert made.json == ak.tune(plan, store="fresh").json


def test_a_notebook_shows_every_choice_beside_the_defaults(plan: Path) -> None:
    shown = ak.tune(plan, trials=2)._repr_html_()
    assert "<caption>small: 2 trials of dsack-ewma on 2 paths</caption>" in shown
    assert "<td>detect.threshold.x</td><td>0.0625</td>" in shown
    assert all(f"<th>{choice}</th>" in shown for choice in CHOICES)


def test_the_plot_has_every_trial_the_front_as_a_line_and_the_defaults(plan: Path) -> None:
    made = ak.tune(plan)
    whole, near = made.plot(), made.plot(near=True)
    drawn = {str(line.get_label()): np.asarray(line.get_data()).T for line in whole.get_lines()}
    assert len(drawn["trials"]) == 14
    ways = [(100 * row["needless"], 100 * (row["goodput"] - 1)) for row in made.front.iter_rows(named=True)]
    np.testing.assert_allclose(drawn["front"], ways)
    np.testing.assert_allclose(drawn["defaults"], [(100 * made.trials["needless"][0], 0)])
    for axes, points in ((whole, [*ways, *drawn["defaults"]]), (near, ways)):
        (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
        assert all(left < x < right and low < y < high for x, y in points)
    assert near.get_xlim()[1] - near.get_xlim()[0] < whole.get_xlim()[1] - whole.get_xlim()[0]


def test_values_that_the_engine_does_not_take_together_are_refused_trials(plan: Path) -> None:
    both = {"rto.min": {"choice": ["200 ms", "3 s"]}, "rto.max": {"choice": ["2 s", "60 s"]}}
    made = ak.tune({**tomllib.loads(PLAN), "parameters": both})
    refused = made.trials.filter(pl.col("refused").is_not_null())
    assert set(zip(refused["rto.min"], refused["rto.max"], strict=True)) == {("3 s", "2 s")}
    assert refused["goodput"].null_count() == refused.height > 0
    assert not refused["front"].any()
    assert made.trials.filter(pl.col("refused").is_null()).height > 1


def test_the_defaults_are_those_of_the_plans_paths_and_a_trial_goes_before_them(plan: Path) -> None:
    assert read(plan).defaults == [
        {"detect.threshold.alpha": 1.0, "detect.threshold.x": 0.0625, "rto.min": "1 s"},
        {"detect.threshold.alpha": 1.0, "detect.threshold.x": 0.0625, "rto.min": "1 s"},
    ]
    given = tomllib.loads(PLAN)
    given["set"] = {"set.rto.min": "400 ms"}
    assert read(given).default_point() == {
        "detect.threshold.alpha": 1.0,
        "detect.threshold.x": 0.0625,
        "rto.min": 400.0,
    }
    path, tried = read(given).paths[0], (("rto.min", "300 ms"),)
    alone = Task(path.file, path.text, "dsack-ewma", tried, 1, 1)
    assert path.task("dsack-ewma", tried, Seeds(1, 1)).identities() == alone.identities()
    given["path"][1]["set"]["set.rto.min"] = "500 ms"
    assert read(given).default_point() is None


def test_paths_may_stand_in_a_file_of_their_own(plan: Path) -> None:
    head, paths = PLAN.split("[[path]]", 1)
    (plan.parent / "paths.toml").write_text("[[path]]" + paths, encoding="utf-8")
    plan.write_text('paths = "paths.toml"\n' + head, encoding="utf-8")
    checked = read(plan)
    assert [path.name for path in (*checked.paths, *checked.held_out)] == ["swaps", "more swaps", "loss"]
    assert checked.held_out_seeds.first == 11


def test_a_plan_made_in_python_may_hold_scenarios_paths_and_texts(plan: Path) -> None:
    given = [ak.Scenario.read("swaps.toml"), plan.parent / "swaps.toml", SWAPS]
    paths = [{"name": f"{n}", "scenario": scenario} for n, scenario in enumerate(given)]
    checked = read({"stack": "dsack-ewma", "parameters": tomllib.loads(PLAN)["parameters"], "path": paths})
    assert len({tuple(path.task("dsack-ewma", (), Seeds(1, 2)).identities()) for path in checked.paths}) == 1
    assert (checked.name, checked.held_out, checked.held_out_seeds) == ("tuning", (), Seeds(4, 30))


def test_parameters_of_an_algorithm_in_python_are_tuned_as_those_of_a_built_in_one(plan: Path) -> None:
    source = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "avg_dev.py"
    given = {
        "stack": "avg-dev",
        "trials": 3,
        "path": [{"scenario": "swaps.toml"}],
        "held_out": {"seeds": {"first": 11, "count": 2}},
        "parameters": {"detect.threshold.alpha": {"from": 0.1, "to": 1.0}},
    }
    threshold = {"kind": "python", "source": f"{source}:AvgDev"}
    ours = ak.tune({**given, "set": {"set.detect.threshold": threshold}}, allow_python=True)
    built_in = ak.tune(given)
    assert ours.trials.select("goodput", "needless").rows() == built_in.trials.select("goodput", "needless").rows()
    assert ours.trials["goodput"].n_unique() > 1
    cls: Any = runpy.run_path(str(source))["AvgDev"]
    assert ak.tune({**given, "set": {"set.detect.threshold": cls}}).trials.rows() == ours.trials.rows()


BAD = {
    "unknown key": ("trials = 14", "trails = 14", 4, "trails", "`trials`"),
    "no stack": ('stack = "dsack-ewma"', "", None, "stack", ""),
    "another stack": ('"dsack-ewma"', '"dsack-ewna"', 3, "stack", "dsack-ewma"),
    "no trials": ("trials = 14", "trials = 0", 4, "trials", ""),
    "parameter misspelt": ("threshold.alpha", "threshold.alhpa", 8, 'parameters."detect.threshold.alhpa"', "alpha"),
    "of another stack": ("threshold.alpha", "threshold.ratio", 8, 'parameters."detect.threshold.ratio"', ""),
    "out of range": ("from = 0.1", "from = -1", 8, 'parameters."detect.threshold.alpha"', ""),
    "empty range": ("from = 0.1, to = 1.0", "from = 1.0, to = 1.0", 8, 'parameters."detect.threshold.alpha".to', ""),
    "log of zero": ("from = 0.001", "from = 0.0", 9, 'parameters."detect.threshold.x".from', ""),
    "spacing": ('"log"', '"cubic"', 9, 'parameters."detect.threshold.x".spacing', ""),
    "no quantity": ('"200 ms"', '"soon"', 10, 'parameters."rto.min".from', ""),
    "units differ": ('"1000 ms"', '"1 s"', 10, 'parameters."rto.min".to', ""),
    "choice and range": ("from = 0.1", "choice = [1], from = 0.1", 8, 'parameters."detect.threshold.alpha".from', ""),
    "empty choice": ("from = 0.1, to = 1.0", "choice = []", 8, 'parameters."detect.threshold.alpha".choice', ""),
    "no scenario": ('scenario = "swaps.toml"', 'scenario = "gone.toml"', 14, "path[0].scenario", ""),
    "no such place": ("elements[0].count", "elements[3].count", 19, 'path[1].set."link[0].elements[3].count"', "[0]"),
    "no such value": ('count" = 15', 'count" = -1', 19, 'path[1].set."link[0].elements[0].count"', ""),
    "no such option": ('"10 ms"', '"often"', 20, 'path[1].set."set.rto.tick"', ""),
    "same names": ('"more swaps"', '"swaps"', None, "path[1]", ""),
    "seeds not held out": ("first = 11", "first = 2", 23, "held_out.seeds", ""),
    "bad search": ("trials = 14", 'search = "random"', 4, "search", ""),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_plan_is_refused_in_one_line_that_names_its_place(plan: Path, case: str) -> None:
    before, after, line, key, hint = BAD[case]
    assert before in PLAN
    plan.write_text(PLAN.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(ak.ScenarioError) as caught:
        read(plan)
    assert "\n" not in str(caught.value)
    assert str(plan) in str(caught.value)
    if key is not None:
        assert caught.value.key == key
    if line is not None:
        assert caught.value.line == line
    assert hint in (caught.value.hint or "")


def test_a_plan_without_paths_or_parameters_or_with_a_scenario_for_another_stack_is_refused(plan: Path) -> None:
    given: dict[str, Any] = tomllib.loads(PLAN)
    with pytest.raises(ak.ScenarioError, match=r"plan: key `path`: found nothing, allowed: at least one table"):
        read({key: value for key, value in given.items() if key != "path"})
    with pytest.raises(
        ak.ScenarioError, match=r"plan: key `parameters`: found nothing, allowed: a table with at least"
    ):
        read({key: value for key, value in given.items() if key != "parameters"})
    with pytest.raises(ak.ScenarioError, match="tune: key `trials`: found 0, allowed: a whole number from 1"):
        ak.tune(plan, trials=0)
    (plan.parent / "swaps.toml").write_text(SWAPS + '[flow.set]\n"rto.mni" = "1 s"\n', encoding="utf-8")
    with pytest.raises(ak.ScenarioError, match=r"swaps.toml:\d+: key `flow\[0\].set.*rto.mni"):
        read(plan)


def test_a_path_on_which_nothing_arrives_cannot_be_compared(plan: Path) -> None:
    given = tomllib.loads(PLAN)
    given["path"][0]["set"] = {"link[0].elements": [{"kind": "bernoulli", "p": 1.0}]}
    with pytest.raises(ak.ScenarioError, match="path swaps: found a run in which nothing arrives"):
        ak.tune(given)


def test_the_command_writes_its_files_prints_a_table_and_its_best_can_be_pasted(ackclock: Command, plan: Path) -> None:
    result = ackclock("tune", plan, "--trials", 6, "--out", "out")
    assert result.returncode == 0, result.stderr
    assert "small: 6 trials of dsack-ewma on 2 paths" in result.stdout
    assert "all held-out paths" in result.stdout
    out = plan.parent / "out"
    assert sorted(path.name for path in out.iterdir()) == ["best.toml", "front.svg", "trials.parquet", "tuning.json"]
    written = json.loads((out / "tuning.json").read_text(encoding="utf-8"))
    assert written["results_revision"] == _native.results_revision
    assert (written["search"], len(written["trials"])) == ({"kind": "tpe", "seed": 1, "trials": 6}, 6)
    assert pl.read_parquet(out / "trials.parquet")["trial"].to_list() == list(range(6))
    best = tomllib.loads((out / "best.toml").read_text(encoding="utf-8"))
    assert list(best) == list(CHOICES)
    assert {one["choice"]: one["parameters"] for one in written["best"]} == best
    options = [f"--set={path}={value}" for path, value in best["knee"].items()]
    assert ackclock("run", "swaps.toml", "--stack", "dsack-ewma", *options).returncode == 0
    flow = "\n".join(f"{json.dumps(path)} = {json.dumps(value)}" for path, value in best["knee"].items())
    (plan.parent / "pasted.toml").write_text(
        SWAPS.replace("newreno", "dsack-ewma") + f"[flow.set]\n{flow}\n", encoding="utf-8"
    )
    assert ackclock("run", "pasted.toml").returncode == 0
    again = ackclock("tune", plan, "--trials", 6, "--out", "out", "--json")
    assert json.loads(again.stdout) == written


def test_the_command_refuses_in_one_line_with_its_exit_code(ackclock: Command, plan: Path) -> None:
    plan.write_text(PLAN.replace("trials = 14", "trials = 0"), encoding="utf-8")
    result = ackclock("tune", plan)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"ackclock: {plan}:4: key `trials`: found 0, allowed: a whole number from 1 to 1000000\n"
    missing = ackclock("tune", "gone.toml")
    assert (missing.returncode, missing.stderr.count("\n")) == (2, 1)
    assert not (plan.parent / "tuning").exists()


@pytest.mark.parametrize("package", ["optuna", "matplotlib"])
def test_without_a_package_the_command_says_what_to_install(
    plan: Path, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ackclock.cli.common.find_spec", lambda name: None if name == package else find_spec(name))
    result = CliRunner().invoke(app, ["tune", str(plan)])
    assert result.exit_code == 1
    assert result.stderr == f'ackclock: tune needs {package}, which is not installed: pip install "ackclock[tune]"\n'


def test_a_table_in_a_file_goes_along_with_the_tasks(plan: Path) -> None:
    """Workers elsewhere therefore need no file."""
    trace = SHORT.replace('[{ kind = "bernoulli", p = 0.01 }]', '[{ kind = "deliveries", file = "cell.trace" }]')
    (plan.parent / "cell.toml").write_text(trace, encoding="utf-8")
    for name, text in (("cell", "1\n5\n5\n9\n"), ("other", "2\n3\n")):
        (plan.parent / f"{name}.trace").write_text(text, encoding="utf-8")
    other = {"scenario": "cell.toml", "set": {"link[0].elements[0].file": "other.trace"}}
    tuned = {**tomllib.loads(PLAN), "path": [{"scenario": "cell.toml"}, other]}
    paths = read(tuned).paths
    here = [ak.run(text, stack="newreno", seed=1).to_dict()["runs"][0]["identity"] for text in _texts(trace)]
    for name in ("cell", "other"):
        (plan.parent / f"{name}.trace").unlink()
    assert [path.task("newreno", (), Seeds(1, 1)).identities()[0] for path in paths] == here


def _texts(scenario: str) -> tuple[str, str]:
    return scenario, scenario.replace("cell.trace", "other.trace")
