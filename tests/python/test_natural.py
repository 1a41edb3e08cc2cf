"""Numbers, lists and seeds in any of Python's usual types are accepted; invalid ones give an error of one line."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest

import ackclock as ak
from conftest import SHORT, Command

TWO = SHORT + '[[flow]]\nname = "other"\nfrom = "S"\nto = "D"\nstack = "reno"\n'


def seeds_of(seeds: Any, seed: Any = None) -> list[int]:  # noqa: ANN401 - any type is the subject of the test
    return ak.run(SHORT, seeds=seeds, seed=seed).frame["seed"].to_list()


@pytest.mark.parametrize(
    ("seeds", "wanted"),
    [
        (2, [1, 2]),
        (np.int64(2), [1, 2]),
        ([1, 5, 9], [1, 5, 9]),
        ((9, 1), [9, 1]),
        (range(3, 6), [3, 4, 5]),
        (np.arange(2, 5), [2, 3, 4]),
        (pl.Series([4, 2]), [4, 2]),
        ({7}, [7]),
        ({"first": 4, "count": 2}, [4, 5]),
        ({"count": np.uint8(2)}, [1, 2]),
    ],
)
def test_seeds_may_have_every_natural_form(seeds: object, wanted: list[int]) -> None:
    assert seeds_of(seeds) == wanted


@pytest.mark.parametrize(
    ("seeds", "seed", "says"),
    [
        (0, None, "run: key `seeds`: found 0, allowed: a whole number from 1"),
        (2.5, None, "run: key `seeds`: found 2.5, allowed: a whole number from 1"),
        ("3", None, "run: key `seeds`: found '3', allowed: a whole number from 1"),
        ([1, -2], None, "run: key `seeds`: found -2, allowed: a whole number from 0"),
        (True, None, "run: key `seeds`: found True, allowed: a whole number from 1"),
        ([], None, "key `--seeds`: found 0 seeds, allowed: 1 to"),
        ([3, 4, 3], None, "key `--seeds`: found 3 twice, allowed: each seed once"),
        ([3, 4], 1, "key `--seeds`: found a list together with --seed 1, allowed: one of them"),
        ({"from": 1}, None, "run: key `seeds`: found {'from': 1}, allowed: "),
        (None, -1, "run: key `seed`: found -1, allowed: a whole number from 0"),
        (None, 2**64, "run: key `seed`: found 18446744073709551616, allowed: a whole number from 0"),
    ],
)
def test_seeds_that_make_no_sense_are_refused_in_a_line(seeds: object, seed: object, says: str) -> None:
    with pytest.raises(ak.ScenarioError) as refused:
        seeds_of(seeds, seed)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_run_with_listed_seeds_is_the_run_with_each_of_them() -> None:
    both = ak.run(SHORT, seeds=[9, 2]).frame["trace_hash"].to_list()
    assert both == [ak.run(SHORT, seed=seed).frame["trace_hash"][0] for seed in (9, 2)]
    assert "seeds = [9, 2]" in ak.show(SHORT, seeds=[9, 2]).replace("\n    ", " ").replace("[ 9", "[9")


def test_numbers_and_lists_of_numpy_are_values_of_parameters() -> None:
    plain = ak.run(SHORT, stack="newreno", set={"limits.cwnd_cap_segs": 50, "recovery.inflate": False})
    numpy = {"limits.cwnd_cap_segs": np.int32(50), "recovery.inflate": np.bool_(False)}
    assert ak.run(SHORT, stack=np.array(["newreno"]), set=numpy).json == plain.json  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [0, -1, 1.5])
def test_a_number_of_threads_that_makes_no_sense_is_refused_in_a_line(threads: float) -> None:
    with pytest.raises(ak.ScenarioError, match=rf"run: key `threads`: found {threads}, allowed: a whole number from 1"):
        ak.run(SHORT, threads=threads)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("draw", "says"),
    [
        (lambda r: r.plot(flow=2), "plot: key `flow`: found 2, allowed: a flow's position, 0 to 1"),
        (lambda r: r.plot(flow=-1), "plot: key `flow`: found -1, allowed: a flow's position, 0 to 1"),
        (lambda r: r.plot(seed=7), "plot: key `seed`: found 7, allowed: one of the seeds 1, 2"),
    ],
)
def test_a_plot_of_a_flow_or_seed_that_is_not_there_is_refused(draw: Callable[[ak.Result], object], says: str) -> None:
    with pytest.raises(ak.ScenarioError) as refused:
        draw(ak.run(TWO, seeds=2))
    assert str(refused.value) == says


def test_a_plot_draws_the_flow_and_the_seed_that_were_asked_for() -> None:
    result = ak.run(TWO, stack=["newreno", "reno"], seeds=2)
    assert "short: other, newreno, seed 2" in str(result.plot(flow=1, seed=2).get_suptitle() or titles(result))
    first, second = (result.plot(seed=seed) for seed in (1, 2))
    lines = [[np.asarray(line.get_xdata())[:50].tolist() for line in f.axes[1].lines] for f in (first, second)]
    assert lines[0] != lines[1], "another run"


WHERE: tuple[Literal["left", "center", "right"], ...] = ("left", "center", "right")


def titles(result: ak.Result) -> list[str]:
    figure = result.plot(flow=1, seed=2)
    return [axes.get_title(loc=where) for axes in figure.axes for where in WHERE]


def test_a_rule_that_ends_the_program_is_an_error_in_a_line(tmp_path: Path, ackclock: Command) -> None:
    rule = "import ackclock as ak\nclass Rule(ak.DupThresh):\n  def segments(self, w, cx): raise SystemExit(7)\n"
    (tmp_path / "rule.py").write_text(rule, encoding="utf-8")
    (tmp_path / "s.toml").write_text(SHORT, encoding="utf-8")
    asked = (
        "run",
        "s.toml",
        "--allow-python",
        "--set",
        'detect.threshold={ kind = "python", source = "rule.py:Rule" }',
    )
    done = ackclock(*asked)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1].startswith("ackclock: rule.py:Rule.segments at ")
    (tmp_path / "rule.py").write_text("import sys\nsys.exit(3)\n", encoding="utf-8")
    done = ackclock(*asked)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert "found SystemExit: 3 in line 2 of rule.py, allowed: a file that loads" in done.stderr


class Three(ak.DupThresh):
    """``detect.threshold = "fixed"``, again."""

    def segments(self, w: ak.slots.Window, cx: ak.slots.Context) -> int:
        """Return three."""
        return 3


@pytest.mark.parametrize("other", [lambda r: pickle.loads(pickle.dumps(r)), copy.copy, copy.deepcopy])
def test_a_result_is_pickled_and_copied_with_all_its_tables(other: Callable[[ak.Result], ak.Result]) -> None:
    result = ak.run(SHORT.replace("[run]", "[run]\nreordering = true"), stack=["newreno", "reno"], seeds=2)
    again = other(other(result))
    assert (again.json, repr(again), again.to_dict()) == (result.json, repr(result), result.to_dict())
    for table in ("summary", "frame", "links", "background", "reordering", "densities", "events"):
        assert getattr(again, table).equals(getattr(result, table)), table
    assert again.against("reno").equals(result.against("reno"))


def test_a_result_goes_to_another_program_with_the_classes_that_were_handed_over(tmp_path: Path) -> None:
    result = ak.run(SHORT, set={"detect.threshold": Three}, seeds=1)
    (tmp_path / "result").write_bytes(pickle.dumps(result))
    code = "import pickle; r = pickle.load(open('result', 'rb')); print(r.events.height, r.frame['trace_hash'][0])"
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert said.stdout.split() == [str(result.events.height), result.frame["trace_hash"][0]]


PLAN = 'scenario = "SCENARIO"\nseeds = [1]\n[grid]\nstack = ["newreno"]\n'
TUNE = 'stack = "dsack-ewma"\n[parameters]\n"rto.min" = { from = "1 s", to = "2 s" }\n[[path]]\nscenario = "SCENARIO"\n'


COMMANDS: dict[str, list[str]] = {
    "run": ["run", "NAME"],
    "show": ["show", "NAME"],
    "lab": ["lab", "NAME", "--no-open"],
    "sweep": ["sweep", "NAME"],
    "tune": ["tune", "NAME"],
    "in a sweep": ["sweep", "plan.toml"],
    "in a tuning": ["tune", "tune.toml"],
    "a table": ["run", "table.toml"],
    "a rule": ["run", "short.toml", "--allow-python", "--set", 'detect.threshold={ kind="python", source="NAME:A" }'],
}


def started(folder: Path, kind: str) -> dict[str, subprocess.Popen[str]]:
    """All commands at a time, with a name of this kind: some wait ten seconds for a writer."""
    table = SHORT.replace('kind = "bernoulli", p = 0.01', 'kind = "deliveries", file = "SCENARIO"')
    for name, text in (("plan", PLAN), ("tune", TUNE), ("table", table), ("short", SHORT)):
        (folder / f"{name}.toml").write_text(text.replace("SCENARIO", kind), encoding="utf-8")
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir()
    return {
        place: subprocess.Popen(
            [sys.executable, "-m", "ackclock", *(part.replace("NAME", kind) for part in command)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for place, command in COMMANDS.items()
    }


ROOT_ALONE = "/proc/kmsg"
"""A file that waits: only root on Linux may open it."""
KINDS = ["pipe", "/dev/zero", "folder", ROOT_ALONE]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, tuple[str, str, int]]]:
    """For each kind of name and each command its output, its errors and its exit code. All wait at the same time."""
    running = {kind: started(tmp_path_factory.mktemp("kind"), kind) for kind in KINDS}
    return {
        kind: {place: (*process.communicate(timeout=60), process.returncode) for place, process in commands.items()}
        for kind, commands in running.items()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_that_leads_to_a_pipe_or_to_an_endless_file_is_refused_in_a_line_within_bounds(
    kind: str, ended: dict[str, dict[str, tuple[str, str, int]]]
) -> None:
    if kind == ROOT_ALONE and (sys.platform != "linux" or os.geteuid()):
        pytest.skip("SKIPPED: a file that waits needs root on Linux")
    for place, (out, said, code) in ended[kind].items():
        assert (out, len(said.splitlines())) == ("", 1), f"{place}: {said}"
        assert said.startswith("ackclock: "), place
        assert code == (1 if "not built" in said else 2), f"{place}: {said}"


def test_a_scenario_may_come_through_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-m", "ackclock", "run", "pipe", "--json"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        (tmp_path / "pipe").write_text(SHORT, encoding="utf-8")
        assert running.wait(60) == 0


def test_a_scheduler_with_tls_and_no_certificates_is_refused_in_a_line(tmp_path: Path, ackclock: Command) -> None:
    pytest.importorskip("distributed")
    (tmp_path / "short.toml").write_text(SHORT, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(PLAN.replace("SCENARIO", "short.toml"), encoding="utf-8")
    done = ackclock("sweep", "plan.toml", "--on", "tls://127.0.0.1:9")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1), done.stderr
    assert done.stderr.startswith(
        "ackclock: tls://127.0.0.1:9: found no certificates, allowed: certificates in Dask's "
    )
