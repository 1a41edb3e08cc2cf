"""Sweeps over algorithms in Python: they run in separate processes, and are identified by their source."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ackclock as ak
from ackclock.document.permission import allowing
from ackclock.runs import local
from ackclock.runs.store.keys import Keys
from ackclock.runs.task import Task
from ackclock.runs.worker import Worker
from ackclock.sweep.points import Points
from conftest import SHORT, Command, alive, parent

FIXED = """
import os
import ackclock as ak

class Fixed(ak.DupThresh):
    def __init__(self, *, dupacks=3):
        self.dupacks = dupacks

    def segments(self, w, cx):
        return self.dupacks

class Late(Fixed):
    def segments(self, w, cx):
        if cx.now > 1_000_000_000:
            raise ValueError("too late")
        return self.dupacks

class Deadly(Fixed):
    def segments(self, w, cx):
        os._exit(7)
"""
PLAN = """
name = "mine"
scenario = "short.toml"
seeds = { count = 3 }
[grid]
"set.detect.threshold" = [
    "fixed",
    { kind = "python", source = "fixed.py:CLASS" },
    { kind = "python", source = "fixed.py:CLASS", dupacks = 9 },
]
"""


class Fixed(ak.DupThresh):
    """``detect.threshold = "fixed"``, again."""

    def __init__(self, *, dupacks: int = 3) -> None:
        self.dupacks = dupacks

    def segments(self, w: ak.slots.Window, cx: ak.slots.Context) -> int:
        """Return the fixed number."""
        return self.dupacks


@pytest.fixture
def planned(tmp_path: Path) -> Path:
    """A folder with a scenario, an algorithm and a plan."""
    (tmp_path / "short.toml").write_text(SHORT, encoding="utf-8")
    (tmp_path / "fixed.py").write_text(FIXED, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(PLAN.replace("CLASS", "Fixed"), encoding="utf-8")
    return tmp_path / "plan.toml"


def hashes(sweep: ak.Sweep) -> list[list[str]]:
    """The trace hashes of each point."""
    rows = sweep.frame.select("point", "trace_hash").rows()
    return [[trace for at, trace in rows if at == point] for point in range(len(sweep.points))]


def test_an_algorithm_in_a_file_makes_the_runs_of_the_built_in_one(planned: Path) -> None:
    sweep = ak.sweep(planned, planned.parent / "s", allow_python=True)
    built_in, mine, other = hashes(sweep)
    assert mine == built_in != other
    assert ak.sweep(planned, planned.parent / "t", threads=1, allow_python=True).frame.equals(sweep.frame)


def test_a_class_is_a_value_of_a_plan(tmp_path: Path) -> None:
    nine = ak.slots.given(Fixed, dupacks=9)
    for path in ("set.detect.threshold", 'flow[0].set."detect.threshold"'):
        sweep = ak.sweep(ak.Plan(SHORT, name="x", seeds=[1], grid={path: ["fixed", Fixed, nine]}), tmp_path)
        built_in, mine, other = hashes(sweep)
        assert mine == built_in != other
        assert "Fixed" in sweep.frame[path][1]


def test_another_source_is_another_run_and_the_same_one_is_kept(planned: Path) -> None:
    def keys() -> list[Keys]:
        with allowing(True):
            return Points(ak.Plan.read(planned)).check([1])

    before = keys()
    assert len({key for (key,) in before}) == 3
    source = planned.parent / "fixed.py"
    source.write_text(FIXED.replace("self.dupacks = dupacks", "self.dupacks = dupacks + 1"), encoding="utf-8")
    after = keys()
    assert before[0] == after[0]
    assert before[1] != after[1]
    source.write_text(FIXED, encoding="utf-8")
    assert keys() == before


def test_workers_need_no_file(planned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Moving(Worker):
        def __init__(self) -> None:
            (planned.parent / "fixed.py").unlink(missing_ok=True)
            super().__init__()

    monkeypatch.setattr(local, "Worker", Moving)
    built_in, mine, _ = hashes(ak.sweep(planned, planned.parent / "s", allow_python=True))
    assert not (planned.parent / "fixed.py").exists()
    assert mine == built_in


def test_an_error_in_an_algorithm_is_said_with_its_traceback_and_finished_runs_are_kept(
    ackclock: Command, planned: Path
) -> None:
    planned.write_text(PLAN.replace("CLASS", "Late"), encoding="utf-8")
    result = ackclock("sweep", "plan.toml", "--threads", "1", "--allow-python")
    assert (result.returncode, result.stdout) == (1, "")
    *traceback, last = result.stderr.splitlines()
    assert any(line.endswith('fixed.py", line 15, in segments') for line in traceback)
    assert last.startswith("ackclock: fixed.py:Late.segments at 1.")
    assert "ValueError: too late; " in last
    assert last.endswith(" of 9 runs are kept and the same command continues")
    assert "; 0 of 9" not in last
    with pytest.raises(ak.AlgorithmError, match="too late"):
        ak.sweep(planned, planned.parent / "other", allow_python=True)


def test_a_process_that_dies_is_one_line(ackclock: Command, planned: Path) -> None:
    planned.write_text(PLAN.replace("CLASS", "Deadly"), encoding="utf-8")
    result = ackclock("sweep", "plan.toml", "--threads", "1", "--allow-python")
    assert (result.returncode, result.stdout) == (1, "")
    kept = "3 of 9 runs are kept and the same command continues"
    assert result.stderr == f"ackclock: a process that ran seeds from 1 on died (exit code 7); {kept}\n"


def test_a_class_that_is_not_there_is_refused_with_its_place(planned: Path) -> None:
    planned.write_text(PLAN.replace("CLASS", "Fixt"), encoding="utf-8")
    with pytest.raises(ak.ScenarioError) as caught:
        ak.sweep(planned, planned.parent / "s", allow_python=True)
    assert (caught.value.file, caught.value.line) == (str(planned), 8)
    assert "no class `Fixt`" in caught.value.found


def test_a_process_whose_asker_died_before_it_began_ends_too() -> None:
    """The process is told its caller's ID, because by then it has another parent."""
    long = Task("long", SHORT.replace('"5 s"', '"30000 s"'), None, (), 1, 1)
    command = [sys.executable, "-m", "ackclock.runs.worker", str(os.getppid())]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        pickle.dump(long, process.stdin)
        process.stdin.flush()
        assert process.wait(60) == 1


def test_no_process_is_left_when_the_command_is_killed(planned: Path) -> None:
    (planned.parent / "short.toml").write_text(SHORT.replace('"5 s"', '"30000 s"'), encoding="utf-8")
    planned.write_text(PLAN.replace("CLASS", "Fixed").replace('    "fixed",\n', ""), encoding="utf-8")
    for how in (signal.SIGINT, signal.SIGKILL):
        command = [sys.executable, "-m", "ackclock", "sweep", str(planned), "--threads", "2", "--allow-python"]
        process = subprocess.Popen(command, cwd=planned.parent, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        children: list[int] = []
        while len(children) < 2:
            assert process.poll() is None, f"ended with {process.returncode} before its workers ran"
            time.sleep(0.05)
            running = [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()]
            children = [pid for pid in running if parent(pid) == process.pid]
        time.sleep(0.5)
        process.send_signal(how)
        process.wait(5)
        ends = time.monotonic() + 5
        while any(alive(pid) for pid in children) and time.monotonic() < ends:
            time.sleep(0.05)
        assert not [pid for pid in children if alive(pid)]
