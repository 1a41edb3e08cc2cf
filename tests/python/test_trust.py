"""Python that a file names runs only with the user's permission; workers' replies are data; files are not quoted."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ackclock as ak
from ackclock.document.permission import allowing
from ackclock.runs import answer, remote
from ackclock.runs.task import Done, RevisionError, Task, run_task
from ackclock.runs.worker import Worker
from ackclock.scenario import Scenario
from ackclock.slots import pickled
from conftest import SHORT, Command

RULE = """
from pathlib import Path
Path(__file__).with_name("ran").touch()
import ackclock as ak
class Rule(ak.DupThresh):
    def segments(self, w, cx): return 3
class Wave(ak.Element):
    def packet(self, packet): return None
"""
STACK = '[flow.set.detect.threshold]\nkind = "python"\nsource = "rule.py:Rule"\n'
PLAN = 'scenario = "s.toml"\nseeds = [1]\n[grid]\nstack = ["newreno", "reno"]\n'
PLAN_ITSELF = (
    'scenario = "plain.toml"\nseeds = [1]\n[grid]\n'
    '"set.detect.threshold" = ["fixed", { kind = "python", source = "rule.py:Rule" }]\n'
)
TUNE = (
    'stack = "dsack-ewma"\ntrials = 2\nseeds = { count = 1 }\n[parameters]\n"rto.min" = { from = "1 s", to = "2 s" }\n'
    '[[path]]\nscenario = "plain.toml"\n[set]\n"set.detect.threshold" = { kind = "python", source = "rule.py:Rule" }\n'
    "[held_out]\nseeds = { count = 2 }\n"
)
ASKED = (
    'found the Python of "rule.py:Rule", allowed: Python code only with --allow-python '
    "(in Python: allow_python=True), since it runs with your permissions"
)
SET = 'detect.threshold={ kind = "python", source = "rule.py:Rule" }'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files that name Python code, which leaves a trace if it runs."""
    wave = SHORT.replace('kind = "bernoulli", p = 0.01', 'kind = "python", source = "rule.py:Wave"')
    texts = {"plain.toml": SHORT, "s.toml": SHORT + STACK, "wave.toml": wave, "rule.py": RULE}
    plans = {"plan.toml": PLAN, "own.toml": PLAN_ITSELF, "tune.toml": TUNE}
    for name, text in (texts | plans).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def has_run(folder: Path) -> bool:
    return (folder / "ran").exists()


COMMANDS = [
    (["run", "s.toml"], "s.toml:21: key `flow[0].set.detect.threshold.source`: "),
    (["run", "wave.toml"], "wave.toml:12: key `link[0].elements[0].source`: "),
    (["run", "plain.toml", "--set", SET], "command line: key `--set detect.threshold`: "),
    (["show", "s.toml"], "s.toml:21: key `flow[0].set.detect.threshold.source`: "),
    (["sweep", "plan.toml"], "s.toml:21: key `flow[0].set.detect.threshold.source`: "),
    (["sweep", "plan.toml", "--dry-run"], "s.toml:21: key `flow[0].set.detect.threshold.source`: "),
    (["sweep", "own.toml"], 'own.toml:4: key `grid."set.detect.threshold"'),
    (["tune", "tune.toml"], 'tune.toml:9: key `set."set.detect.threshold"'),
]


@pytest.mark.parametrize(("command", "place"), COMMANDS, ids=lambda one: " ".join(one) if isinstance(one, list) else "")
def test_python_that_a_file_names_is_refused_in_a_line_and_runs_with_allow_python(
    command: list[str], place: str, folder: Path, ackclock: Command
) -> None:
    done = ackclock(*command)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert done.stderr.startswith(f"ackclock: {place}")
    said = ASKED if command[:2] != ["run", "wave.toml"] else ASKED.replace("Rule", "Wave")
    assert said in done.stderr
    assert not has_run(folder)
    allowed = ackclock(*command, "--allow-python")
    assert (allowed.returncode, has_run(folder)) == (0, True), allowed.stderr


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (
            ["lab", "s.toml", "--no-open"],
            "allowed: built-in algorithms and elements, since the page does not run Python",
        ),
        (
            ["live", "path", "s.toml"],
            "allowed: built-in algorithms and elements, since Python is too slow for real time",
        ),
        (["live", "shell", "wave.toml", "--", "true"], "Python is too slow for real time"),
    ],
    ids=["lab", "live path", "live shell"],
)
def test_where_no_python_ever_runs_the_file_is_not_loaded_either(
    command: list[str], says: str, folder: Path, ackclock: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    if command[0] == "lab":
        from ackclock.cli import lab  # noqa: PLC0415 - the server must not start

        with pytest.raises(BaseException) as ended:  # noqa: PT011 - Click's exception
            lab._opening(folder / "s.toml")
        assert getattr(ended.value, "exit_code", None) == 2
    else:
        done = ackclock(*command)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
        assert says in done.stderr
    assert not has_run(folder)


CALLS: list[Callable[..., object]] = [
    lambda **more: ak.run("s.toml", **more),
    lambda **more: ak.run(SHORT + STACK, **more),
    lambda **more: ak.compare("s.toml", ["newreno", "reno"], **more),
    lambda **more: ak.show("s.toml", **more),
    lambda **more: ak.sweep("plan.toml", "store", **more),
    lambda **more: ak.tune("tune.toml", store="store", **more),
    lambda **more: Scenario.read("s.toml", **more),
    lambda **more: Scenario.from_toml(SHORT + STACK, **more),
    lambda **more: ak.run("plain.toml", set={"detect.threshold": {"kind": "python", "source": "rule.py:Rule"}}, **more),
]


@pytest.mark.parametrize("call", CALLS)
def test_calls_load_python_that_a_text_names_only_with_allow_python(call: Callable[..., object], folder: Path) -> None:
    with pytest.raises(ak.ScenarioError, match="the Python of"):
        call()
    assert not has_run(folder)
    call(allow_python=True)
    assert has_run(folder)


def test_the_events_of_a_run_need_no_second_permission(folder: Path) -> None:
    result = ak.run("s.toml", allow_python=True)
    assert result.events.height > 100


def test_a_class_that_is_handed_over_needs_no_permission() -> None:
    class Three(ak.DupThresh):
        def segments(self, w: ak.slots.Window, cx: ak.slots.Context) -> int:
            return 3

    plain = ak.run(SHORT).to_dict()["runs"][0]["trace_hash"]
    assert ak.run(SHORT, set={"detect.threshold": Three}).to_dict()["runs"][0]["trace_hash"] == plain


def test_a_permission_ends_with_its_call(folder: Path) -> None:
    ak.run("s.toml", allow_python=True)
    with pytest.raises(ak.ScenarioError, match="the Python of"):
        ak.run("s.toml")


def test_a_worker_loads_no_file_and_runs_what_came_with_the_task(folder: Path) -> None:
    bare = Task(str(folder / "s.toml"), SHORT + STACK, None, (), 1, 1)
    worker = Worker()
    try:
        with pytest.raises(ak.ScenarioError, match="the Python of"):
            worker.run(bare)
        assert not has_run(folder)
        with pytest.raises(ak.ScenarioError, match="the Python of"):
            answer.unpacked(pickle.loads(remote.packed([bare], 1.0)), 1)
        assert not has_run(folder)
        with allowing(True):
            along = pickled(bare.text, (), folder)
        done = worker.run(Task(bare.name, bare.text, None, (), 1, 1, algorithms=along))
    finally:
        worker.close()
    assert done.runs == run_task(Task("x", SHORT + STACK, None, (), 1, 1, algorithms=along)).runs


class Boom:
    """An object that runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return os.mkdir, ("unpickled",)


def a_run(**more: object) -> str:
    return json.dumps({"identity": "1", "trace_hash": "a", "flows": []} | more)


BAD: list[object] = [
    pickle.dumps(Boom()),
    zlib.compress(pickle.dumps(Boom())),
    Boom(),
    None,
    b"",
    zlib.compress(b"[" * 100_000),
    zlib.compress(b"{}"),
    zlib.compress(json.dumps({"done": []}).encode()),
    zlib.compress(json.dumps({"done": [[[a_run()], 1.0, 1.0]] * 2}).encode()),
    zlib.compress(json.dumps({"done": [[[a_run()], "1", 1.0]]}).encode()),
    zlib.compress(json.dumps({"done": [[[a_run()], -1.0, 1.0]]}).encode()),
    zlib.compress(json.dumps({"done": [[[a_run(flows=[7])], 1.0, 1.0]]}).encode()),
    zlib.compress(json.dumps({"done": [[["{}"], 1.0, 1.0]]}).encode()),
    zlib.compress(json.dumps({"error": {"kind": "ScenarioError", "message": "x"}}).encode()),
    zlib.compress(json.dumps({"error": {"kind": 7, "message": "x"}}).encode()),
    zlib.compress(json.dumps({"done": [[[a_run()], 1.0, 1.0]]}).encode())[:-9],
]


@pytest.mark.parametrize("said", BAD, ids=range(len(BAD)))
def test_what_is_no_answer_is_refused_in_a_line_and_never_unpickled(
    said: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(answer.AnswerError, match="a Dask worker did not send an ackclock result") as refused:
        answer.unpacked(said, 1)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "unpickled").exists()


def test_an_answer_that_unfolds_to_more_than_allowed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer, "LARGEST", 1000)
    with pytest.raises(answer.AnswerError, match="more than 1000 bytes"):
        answer.unpacked(answer.packed([Done((a_run(x="y" * 2000),), 1.0, 1.0)]), 1)


def test_runs_and_errors_come_back_as_they_were() -> None:
    done = [Done((a_run(), a_run(identity="2")), 0.5, 0.25), Done((), 0.0, 0.0)]
    assert answer.unpacked(answer.packed(done), 2) == done
    errors = [
        ak.ScenarioError("m", "f", 3, "k", "found", "allowed", None),
        ak.AlgorithmError("m", "a.py:A", "next", 1.5, 4, "Traceback"),
        RevisionError("another"),
        ImportError("no module x", name="x"),
    ]
    for error in errors:
        with pytest.raises(type(error)) as raised:
            answer.unpacked(answer.failed(error), 1)
        assert (str(raised.value), vars(raised.value)) == (str(error), vars(error))
    with pytest.raises(RuntimeError, match="ZeroDivisionError: x"):
        answer.unpacked(answer.failed(ZeroDivisionError("x")), 1)


def test_what_a_dask_task_returns_is_bytes_of_json() -> None:
    said = pickle.loads(remote.packed([Task("x", SHORT, None, (), 1, 2)], 1.0))
    assert isinstance(said, bytes)
    ((runs, _, _),) = json.loads(zlib.decompress(said))["done"]
    assert tuple(runs) == run_task(Task("x", SHORT, None, (), 1, 2)).runs
    assert remote.parsed(pickle.loads(remote.call(remote.versions))) == remote.installed()
    for other in (b"x", "7", "[1]", '["a", "b", "c"]', "{", None, Boom()):
        assert remote.parsed(other) is None


SECRET = "owner:x:0:0:hidden:/home"
TRACES = ["path-trace", "deliveries"]


@pytest.mark.parametrize("kind", TRACES)
@pytest.mark.parametrize("command", ["run", "show", "sweep", "tune", "vary"])
def test_a_file_that_a_scenario_names_is_not_quoted(kind: str, command: str, tmp_path: Path, ackclock: Command) -> None:
    (tmp_path / "secret").write_text(f"{SECRET}\n", encoding="utf-8")
    named = f'kind = "{kind}", file = "{tmp_path}/secret"'
    (tmp_path / "s.toml").write_text(SHORT.replace('kind = "bernoulli", p = 0.01', named), encoding="utf-8")
    (tmp_path / "sweep.toml").write_text(PLAN, encoding="utf-8")
    vary = PLAN.replace('stack = ["newreno", "reno"]', f'"link[0].elements[0].kind" = ["{kind}"]')
    (tmp_path / "vary.toml").write_text(vary, encoding="utf-8")
    (tmp_path / "tune.toml").write_text(TUNE.replace("plain.toml", "s.toml").partition("[set]")[0], encoding="utf-8")
    asked = {"run": ("run", "s.toml"), "show": ("show", "s.toml"), "tune": ("tune", "tune.toml")}
    done = ackclock(*asked.get(command, ("sweep", f"{command}.toml")))
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "found something else (files that a scenario names are not quoted), allowed: " in done.stderr
    assert not any(part in done.stderr for part in ("owner", "x:0", ":0:", "hidden"))


def test_a_file_of_a_scenario_is_not_quoted_where_only_a_point_of_the_plan_is_wrong(
    tmp_path: Path, ackclock: Command
) -> None:
    (tmp_path / "times").write_text("5\n17\n", encoding="utf-8")
    text = SHORT.replace('kind = "bernoulli", p = 0.01', 'kind = "deliveries", file = "times"')
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    vary = PLAN.replace('stack = ["newreno", "reno"]', '"link[0].elements[0].kind" = ["deliveries", "path-trace"]')
    (tmp_path / "vary.toml").write_text(vary, encoding="utf-8")
    done = ackclock("sweep", "vary.toml")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "(files that a scenario names are not quoted)" in done.stderr
    assert "found 5" not in done.stderr


def test_a_paper_that_is_named_by_its_folder_may_name_python_beside_its_scenarios(tmp_path: Path) -> None:
    from ackclock.papers import folder as folders  # noqa: PLC0415 - needs the extra
    from ackclock.runs.trial import Effort, Trial  # noqa: PLC0415 - likewise

    code = (
        "from ackclock.runs.trial import Effort, Trial\n"
        "def sections(work):\n"
        "    task = Trial('s.toml').task(work.folder, Effort(1))\n"
        "    return [str(len(task.identities()))]\n"
    )
    for name, text in (("s.toml", SHORT + STACK), ("rule.py", RULE), ("page.py", code)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ak.ScenarioError, match="the Python of"):
        Trial("s.toml").task(tmp_path, Effort(1))
    assert not has_run(tmp_path)
    (tmp_path / "page.toml").write_text(
        'key = "x"\ntitle = "x"\nabout = "x"\nfull = { seeds = 2 }\nquick = { seeds = 2 }\n', encoding="utf-8"
    )
    page = folders.read(tmp_path)
    work: Any = type("Work", (), {"folder": tmp_path})
    with pytest.raises(folders.PaperError, match="sections returned list, allowed: a list of Section"):
        folders.sections(page, work)  # type: ignore[arg-type]
    assert has_run(tmp_path)


def test_a_program_that_only_imports_ackclock_runs_nothing_of_the_folder(folder: Path) -> None:
    code = "import ackclock as ak; ak.Plan.read('plan.toml'); print('done')"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout == "done\n"
    assert not has_run(folder)
