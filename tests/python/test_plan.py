"""Plans of sweeps: their points, and the errors for invalid ones."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

import ackclock as ak
from ackclock.document import Value, paths
from ackclock.runs.store.keys import asked_of, key_of, stretches
from ackclock.sweep.points import Points
from conftest import SHORT, Command

HEAD = 'scenario = "short.toml"\n'
GRID = '[grid]\n"link[0].rate" = ["5 Mbps", "10 Mbps"]\n'


def points(plan: ak.Plan) -> list[tuple[Value, ...]]:
    return [point.values for point in Points(plan)]


def read(folder: Path, text: str) -> ak.Plan:
    (folder / "short.toml").write_text(SHORT, encoding="utf-8")
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return ak.Plan.read(folder / "plan.toml")


def made(**tables: Value) -> ak.Plan:
    return ak.Plan(SHORT, **tables)


def refused(folder: Path, text: str) -> ak.ScenarioError:
    """The error for a plan or its points."""
    try:
        plan = read(folder, text)
        Points(plan).check(plan.seeds)
    except ak.ScenarioError as error:
        return error
    raise AssertionError("nothing was refused")


def test_points_are_every_combination_and_the_last_parameter_varies_fastest() -> None:
    plan = made(
        grid={"stack": ["reno", "newreno"], "link[0].delay": ["1 ms", "2 ms"]},
        coupled=[{"link[0].rate": ["5 Mbps", "10 Mbps"], "link[0].queue": ["20 packets", "40 packets"]}],
    )
    assert points(plan)[:3] == [
        ("reno", "1 ms", "5 Mbps", "20 packets"),
        ("reno", "1 ms", "10 Mbps", "40 packets"),
        ("reno", "2 ms", "5 Mbps", "20 packets"),
    ]
    assert len(points(plan)) == len(Points(plan)) == 2 * 2 * 2


def test_coupled_tables_are_crossed_with_each_other() -> None:
    plan = made(coupled=[{"link[0].rate": ["5 Mbps", "10 Mbps"]}, {"link[0].delay": ["1 ms", "2 ms", "3 ms"]}])
    assert len(points(plan)) == 6


@pytest.mark.parametrize(
    ("spread", "values"),
    [
        ({"from": 0, "to": 12, "count": 4}, [0, 4, 8, 12]),
        ({"from": 0, "to": 1, "count": 5}, [0, 0.25, 0.5, 0.75, 1]),
        ({"from": 0.0, "to": 0.3, "count": 4}, [0.0, 0.1, 0.2, 0.3]),
        ({"from": 1, "to": 1000, "count": 4, "spacing": "log"}, [1, 10, 100, 1000]),
        ({"from": "0.5 s", "to": "2 s", "count": 3, "spacing": "log"}, ["0.5 s", "1 s", "2 s"]),
        ({"from": "10 ms", "to": "20 ms", "count": 4}, ["10 ms", "13.333333 ms", "16.666667 ms", "20 ms"]),
        (
            {"from": "10 packets", "to": "20 packets", "count": 4},
            ["10 packets", "13 packets", "17 packets", "20 packets"],
        ),
        ({"from": "1 Mbps", "to": "2 Mbps", "count": 4, "whole": True}, None),
        ({"from": 1, "to": 10, "count": 4, "spacing": "log", "whole": True}, [1, 2, 5, 10]),
    ],
)
def test_ranges_keep_their_unit_and_are_exact(spread: Value, values: list[Value] | None) -> None:
    if values is None:
        with pytest.raises(ak.ScenarioError, match="few enough that rounded values differ"):
            made(grid={"link[0].rate": spread})
        return
    found = [value for (value,) in points(made(grid={"link[0].elements[0].p": spread}))]
    assert found == values
    assert [type(value) for value in found] == [type(value) for value in values]


def test_drawn_values_are_these_on_every_machine() -> None:
    drawn = {
        "link[0].delay": {"uniform": ["10 ms", "100 ms"]},
        "link[0].elements[0].p": {"log_uniform": [0.0001, 0.1]},
        "link[0].queue": {"choice": ["10 packets", "20 packets", "40 packets"]},
        "flow[0].window": {"uniform": ["10 packets", "99 packets"]},
    }
    first, second = points(made(random={"samples": 2, "seed": 7, **drawn}))
    assert first == ("39.598104 ms", 0.00399225218802, "40 packets", "72 packets")
    assert second == ("48.155098 ms", 0.000221545204712, "20 packets", "76 packets")
    by_hand = int.from_bytes(hashlib.sha256(b"7\nlink[0].delay\n1").digest()[:8], "big") / 2**64
    assert float(second[0].removesuffix(" ms")) == pytest.approx(10 + 90 * by_hand, abs=1e-6)


def test_further_samples_and_parameters_leave_those_before_as_they_were() -> None:
    delay = {"uniform": ["10 ms", "100 ms"]}
    few = points(made(random={"samples": 3, "link[0].delay": delay}))
    more = points(
        made(random={"samples": 9, "link[0].rate": {"uniform": ["1 Mbps", "9 Mbps"]}, "link[0].delay": delay})
    )
    assert [delay for (delay,) in few] == [delay for _, delay in more[:3]]
    assert len({delay for _, delay in more}) == 9
    other = points(made(random={"samples": 3, "seed": 2, "link[0].delay": delay}))
    assert not {*few} & {*other}


def test_drawn_values_fill_their_span_evenly() -> None:
    p = [value for (value,) in points(made(random={"samples": 4000, "link[0].elements[0].p": {"uniform": [0.0, 1.0]}}))]
    counts = [sum(at / 10 <= value < (at + 1) / 10 for value in p) for at in range(10)]
    assert sum(counts) == 4000
    # Five standard deviations of a count.
    assert all(abs(count - 400) < 95 for count in counts)


def test_a_point_is_the_scenario_with_its_values() -> None:
    plan = made(
        grid={
            "stack": ["sack-ff96"],
            "set.rto.min": ["300 ms"],
            "link[0].elements[0].p": [0.5],
            "link[0].back.delay": ["7 ms"],
            "run.duration": ["3 s"],
            "link[0].queue": [{"limit": "9 packets", "limit_counts_service": True}],
        },
        seeds=[5],
    )
    (point,) = Points(plan)
    assert (point.task.stack, point.task.set) == ("sack-ff96", (("rto.min", "300 ms"),))
    by_hand = SHORT.replace("0.01", "0.5").replace("back = {", 'back = { delay = "7 ms",').replace('"5 s"', '"3 s"')
    by_hand = by_hand.replace('"20 packets"', '{ limit = "9 packets", limit_counts_service = true }')
    result = ak.run(by_hand, stack="sack-ff96", set={"rto.min": "300 ms"}, seed=5)
    assert point.keys([5]) == [key_of(result.to_dict()["runs"][0]["identity"], asked_of({}))]


def test_whether_reordering_is_reported_is_part_of_a_runs_key() -> None:
    plan = made(grid={"run.reordering": [False, True]}, seeds=[1])
    without, with_it = Points(plan).check([1])
    assert without != with_it


def test_a_table_in_a_file_goes_along_with_the_task(tmp_path: Path) -> None:
    trace = '[{ kind = "deliveries", file = "cell.trace" }]'
    (tmp_path / "cell.trace").write_text("1\n5\n5\n9\n", encoding="utf-8")
    (tmp_path / "other.trace").write_text("2\n3\n", encoding="utf-8")
    scenario = tmp_path / "cell.toml"
    scenario.write_text(SHORT.replace('[{ kind = "bernoulli", p = 0.01 }]', trace), encoding="utf-8")
    here = ak.run(scenario, seed=1).to_dict()["runs"][0]["identity"]
    plan = ak.Plan(scenario, grid={"link[0].elements[0].file": ["cell.trace", "other.trace"]})
    assert Points(plan).check([1])[0] == [key_of(here, asked_of({}))]
    (point,) = Points(ak.Plan(scenario, grid={"stack": ["newreno"]}))
    (tmp_path / "cell.trace").unlink()
    assert point.keys([1]) == [key_of(here, asked_of({}))]
    (gone,) = Points(ak.Plan(scenario, grid={"stack": ["newreno"]}))
    with pytest.raises(ak.ScenarioError, match="no readable file"):
        gone.keys([1])


def test_seeds_are_the_plans_or_the_scenarios() -> None:
    grid = {"stack": ["reno"]}
    assert made(grid=grid).seeds == [1, 2, 3, 4]
    assert made(grid=grid, seeds={"first": 3, "count": 2}).seeds == [3, 4]
    assert made(grid=grid, seeds=[9, 2, 3]).seeds == [9, 2, 3]
    assert made(grid=grid, stop={"column": "timeouts", "half_width": 1}, seeds={"first": 7}).seeds == [7]
    assert stretches([9, 2, 3, 4, 7]) == [(9, 1), (2, 3), (7, 1)]


def test_a_plan_of_a_file_and_one_made_in_python_have_the_same_points(tmp_path: Path) -> None:
    text = HEAD + 'seeds = { count = 2 }\n[grid]\nstack = ["reno", "tahoe"]\n"link[0].elements[0].p" = [0, 0.1]\n'
    plan = read(tmp_path, text)
    same = ak.Plan(
        tmp_path / "short.toml",
        seeds={"count": 2},
        grid={"stack": ("reno", "tahoe"), "link[0].elements[0].p": [0, 0.1]},
    )
    assert Points(plan).check([1, 2]) == Points(same).check([1, 2])
    assert (plan.name, same.name) == ("plan", "short")
    assert ak.Plan.parse(same.to_toml()).seeds == same.seeds


def test_a_scenario_object_says_its_toml(tmp_path: Path) -> None:
    class Scenario:
        name = "made"

        def to_toml(self) -> str:
            return SHORT

    plan = ak.Plan(Scenario(), grid={"stack": ["reno"]})
    assert (plan.name, plan.scenario.text) == ("made", SHORT)


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("link[1].elements[0].gap.exponential", ("link", 1, "elements", 0, "gap", "exponential")),
        ('flow[0].set."rto.min"', ("flow", 0, "set", "rto.min")),
        ("run.duration", ("run", "duration")),
        ("", None),
        (".run", None),
        ("run..x", None),
        ("run.", None),
        ("[0].x", None),
        ("run duration", None),
        ("link[x]", None),
    ],
)
def test_paths_are_keys_and_positions(path: str, steps: paths.Steps | None) -> None:
    assert paths.parse(path) == steps
    if steps:
        assert paths.spelled(steps) == path


BAD = {
    "no TOML": (HEAD + "grid = \n", r"plan\.toml:2: found .*, allowed: TOML"),
    "unknown key": (HEAD + "sedes = [1]\n" + GRID, r"plan\.toml:2: key `sedes`: found an unknown key, .* `seeds`\?"),
    "no scenario": (GRID, r"plan\.toml: found no `scenario`, allowed: a table with `scenario`"),
    "scenario missing": (
        'scenario = "none.toml"\n' + GRID,
        r'plan\.toml:1: key `scenario`: found "none.toml" \(no readable file: No such file or directory\), allowed: ',
    ),
    "bad name": (HEAD + 'name = "a/b"\n' + GRID, r'plan\.toml:2: key `name`: found "a/b", allowed: a name of letters'),
    "no parameter": (HEAD, r"plan\.toml: found no parameter, allowed: \[grid\], \[\[coupled\]\] or \[random\]"),
    "empty grid": (HEAD + "[grid]\n", r"plan\.toml:2: key `grid`: found none, allowed: one parameter or more"),
    "empty list": (
        HEAD + "[grid]\nstack = []\n",
        r"plan\.toml:3: key `grid\.stack`: found an empty list, allowed: one value or more",
    ),
    "not a list": (
        HEAD + '[grid]\nstack = "reno"\n',
        r'plan\.toml:3: key `grid\.stack`: found "reno", allowed: a list',
    ),
    "a value twice": (
        HEAD + '[grid]\nstack = ["reno",\n"tahoe",\n"reno"]\n',
        r'plan\.toml:5: key `grid\.stack\[2\]`: found "reno" a second time, allowed: each value once',
    ),
    "unknown path": (
        HEAD + '[grid]\n"lnk[0].rate" = ["5 Mbps"]\n',
        r"plan\.toml:3: key `grid\.\"lnk\[0\]\.rate\"`: found a path that the scenario does not have, allowed: .*; "
        r"did you mean `link\[0\]\.rate`\?",
    ),
    "position out of range": (
        HEAD + '[grid]\n"link[1].rate" = ["5 Mbps"]\n',
        r"plan\.toml:3: key .*: found a path that the scenario does not have, .* did you mean `link\[0\]\.rate`\?",
    ),
    "unknown last key": (
        HEAD + '[grid]\n"link[0].rat" = ["5 Mbps"]\n',
        r"plan\.toml:3: key `grid\.\"link\[0\]\.rat\"(\[0\])?`: found an unknown key, .* did you mean `rate`\?",
    ),
    "seeds as a parameter": (
        HEAD + '[grid]\n"run.seed" = [1, 2]\n',
        r"plan\.toml:3: key .*: found a path to the scenario's seeds, allowed: the plan's key `seeds`",
    ),
    "bad value": (
        HEAD + '[grid]\n"link[0].rate" = ["5 Mbps",\n"10 Mbs"]\n',
        r'plan\.toml:4: key `grid\."link\[0\]\.rate"\[1\]`: found "10 Mbs" \(unknown unit\), .* mean "10 Mbps"\?',
    ),
    "bad stack": (
        HEAD + '[grid]\nstack = ["reno",\n"rneo"]\n',
        r'plan\.toml:4: key `grid\.stack\[1\]`: found "rneo", allowed: one of .* did you mean "reno"\?',
    ),
    "bad parameter of the stack": (
        HEAD + '[grid]\n"set.rto.mni" = ["1 s"]\n',
        r"plan\.toml:3: key `grid\.\"set\.rto\.mni\"\[0\]`: found 1 s, allowed: .* did you mean `rto\.min`\?",
    ),
    "bad drawn value": (
        HEAD + '[random]\nsamples = 3\n"link[0].elements[0].p" = { uniform = [2, 3] }\n',
        r"plan\.toml:4: key `random\.\"link\[0\]\.elements\[0\]\.p\"`: found [\d.]+, allowed: ",
    ),
    "coupled lists of different lengths": (
        HEAD + '[[coupled]]\n"link[0].rate" = ["5 Mbps", "10 Mbps"]\n"link[0].delay" = ["1 ms"]\n',
        r"plan\.toml:4: key `coupled\[0\]\.\"link\[0\]\.delay\"`: found 1 value, allowed: 2, as many as `link",
    ),
    "a parameter in two places": (
        HEAD + GRID + '[[coupled]]\n"link[0].rate" = ["1 Mbps"]\n',
        r"plan\.toml:5: key .*: found the parameter a second time, beside `link\[0\]\.rate` in line 3",
    ),
    "a parameter inside another": (
        HEAD + '[grid]\n"link[0].elements[0]" = [{ kind = "bernoulli", p = 0.1 }]\n"link[0].elements[0].p" = [0.2]\n',
        r"plan\.toml:4: key .*: found a parameter that conflicts with `link\[0\]\.elements\[0\]` in line 3, since one",
    ),
    "a stack for all flows and one for one": (
        HEAD + '[grid]\nstack = ["reno"]\n"flow[0].stack" = ["tahoe"]\n',
        r"plan\.toml:4: key .*: found a parameter that conflicts with `stack` in line 3, since one replaces the other",
    ),
    "one parameter of the stack by two ways": (
        HEAD + '[grid]\n"set.rto.min" = ["1 s"]\n[[coupled]]\n\'flow[0].set."rto.min"\' = ["2 s"]\n',
        r"plan\.toml:5: key .*: found a ",
    ),
    "a range backwards": (
        HEAD + '[grid]\n"link[0].delay" = { from = "9 ms", to = "1 ms", count = 3 }\n',
        r'plan\.toml:3: key .*to`: found "1 ms", allowed: more than the other end, "9 ms"',
    ),
    "a range of two units": (
        HEAD + '[grid]\n"link[0].delay" = { from = "9 ms", to = "1 s", count = 3 }\n',
        r'plan\.toml:3: key .*to`: found "1 s", allowed: the unit of the other end, ms',
    ),
    "a logarithm of nothing": (
        HEAD + '[grid]\n"link[0].elements[0].p" = { from = 0, to = 1, count = 3, spacing = "log" }\n',
        r"plan\.toml:3: key .*from`: found 0, allowed: more than zero, since the scale is logarithmic",
    ),
    "a spacing that there is not": (
        HEAD + '[grid]\n"link[0].elements[0].p" = { from = 0, to = 1, count = 3, spacing = "lin" }\n',
        r'plan\.toml:3: key .*spacing`: found "lin", allowed: linear, log; did you mean',
    ),
    "samples of nothing": (
        HEAD + "[random]\nsamples = 3\n",
        r"plan\.toml:3: key `random\.samples`: found no parameter to draw, allowed: one or more parameters to draw",
    ),
    "nothing said of how many": (
        HEAD + '[random]\n"link[0].delay" = { uniform = ["1 ms", "2 ms"] }\n',
        r"plan\.toml:2: key `random`: found no `samples`",
    ),
    "two ways to draw": (
        HEAD + '[random]\nsamples = 3\n"link[0].delay" = { uniform = ["1 ms", "2 ms"], choice = ["1 ms"] }\n',
        r"plan\.toml:4: key .*: found uniform and choice, allowed: a table with one of",
    ),
    "negative seed": (HEAD + "seeds = [1, -2]\n" + GRID, r"plan\.toml:2: key `seeds\[1\]`: found -2, allowed: a whole"),
    "a seed twice": (HEAD + "seeds = [1, 1]\n" + GRID, r"plan\.toml:2: key `seeds\[1\]`: found 1 a second time"),
    "no seed": (
        HEAD + "seeds = { count = 0 }\n" + GRID,
        r"plan\.toml:2: key `seeds\.count`: found 0, allowed: a whole",
    ),
    "a number of seeds, and a stop rule": (
        HEAD + 'seeds = { count = 9 }\nstop = { column = "timeouts", half_width = 1 }\n' + GRID,
        r"plan\.toml:2: key `seeds`: found a number of seeds, allowed: \{ first = 1 \} together with `stop`",
    ),
    "a stop rule on an unknown column": (
        HEAD + 'stop = { column = "timouts", half_width = 1 }\n' + GRID,
        r'plan\.toml:2: key `stop\.column`: found "timouts", allowed: one of .*; did you mean `timeouts`\?',
    ),
    "a stop rule that never stops": (
        HEAD + 'stop = { column = "timeouts", half_width = "0 %" }\n' + GRID,
        r'plan\.toml:2: key `stop\.half_width`: found "0 %", allowed: a number, or a share of the mean',
    ),
    "a stop rule with more at least than at most": (
        HEAD + 'stop = { column = "timeouts", half_width = 1, at_least = 9, at_most = 8 }\n' + GRID,
        r"plan\.toml:2: key `stop\.at_most`: found 8, allowed: a whole number from 9 to",
    ),
    "too many points": (
        HEAD + '[random]\nsamples = 1000000\n"link[0].elements[0].p" = { choice = [0] }\n[grid]\n'
        '"link[0].delay" = { from = "1 ms", to = "9 ms", count = 11 }\n',
        r"plan\.toml:4: key .*: found more of them, allowed: at most 10,000,000 points",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_plan_that_makes_no_sense_is_refused_in_one_line_with_its_place(tmp_path: Path, case: str) -> None:
    text, expected = BAD[case]
    message = str(refused(tmp_path, text))
    assert "\n" not in message
    assert re.match(re.escape(f"{tmp_path}/") + expected, message), message


def test_a_scenario_that_makes_no_sense_itself_is_refused_with_its_own_place(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(SHORT.replace('"20 ms"', '"20 meters"'), encoding="utf-8")
    (tmp_path / "plan.toml").write_text('scenario = "bad.toml"\n[grid]\nstack = ["reno"]\n', encoding="utf-8")
    plan = ak.Plan.read(tmp_path / "plan.toml")
    with pytest.raises(ak.ScenarioError) as caught:
        Points(plan).check([1])
    assert str(caught.value).startswith(f"{tmp_path}/bad.toml:10: key `link[0].delay`: found ")


def test_values_that_make_no_sense_together_are_named_together(tmp_path: Path) -> None:
    text = HEAD + '[grid]\n"link[0].to" = ["D", "E"]\n'
    error = refused(tmp_path, text)
    assert "plan.toml: key `flow[0].to`: found " in str(error)
    assert 'at the point link[0].to = "E"' in error.found


def test_a_bad_plan_ends_the_command_before_anything_is_run(ackclock: Command, tmp_path: Path) -> None:
    read(tmp_path, HEAD + '[grid]\nstack = ["reno", "rneo"]\n')
    result = ackclock("sweep", "plan.toml")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith('ackclock: plan.toml:3: key `grid.stack[1]`: found "rneo"')
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "ackclock-results").exists()


def test_a_plan_that_is_not_there_is_refused(ackclock: Command) -> None:
    result = ackclock("sweep", "none.toml")
    assert result.returncode == 2
    assert result.stderr == (
        "ackclock: none.toml: found no readable file (No such file or directory), allowed: the path of a plan in TOML\n"
    )
