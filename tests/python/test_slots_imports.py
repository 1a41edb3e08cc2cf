"""The parts of an algorithm in Python: the local modules that it imports are part of its identity."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import ackclock as ak
from ackclock.document.permission import allowing
from ackclock.runs.task import Task, run_task
from ackclock.slots import pickled, source_hash
from conftest import Command, python

SCENARIO = """
[run]
duration = "20 s"
[[link]]
from = "S"
to = "D"
rate = "5 Mbps"
delay = "40 ms"
queue = "50 packets"
elements = [{ kind = "swap", mode = "slots", count = 6, gap = { exponential = "1 s" } }]
[[flow]]
from = "S"
to = "D"
stack = "sack-ff96"
[flow.set]
"detect.threshold" = { kind = "python", source = "rule.py:Rule" }
"""
RULE = """
import ackclock as ak
import helper

class Rule(ak.DupThresh):
    def segments(self, w, cx):
        return helper.threshold()
"""


def helper(segments: int) -> str:
    return f"def threshold():\n    return {segments}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "rule.py").write_text(RULE, encoding="utf-8")
    (tmp_path / "helper.py").write_text(helper(3), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(folder: Path) -> tuple[str, int]:
    """The identity of a run, and the number of retransmissions."""
    run = ak.run(folder / "scenario.toml", allow_python=True).to_dict()["runs"][0]
    return run["identity"], run["flows"][0]["retransmissions"]


def test_another_helper_module_is_another_run_in_the_same_program(folder: Path) -> None:
    before = ran(folder)
    (folder / "helper.py").write_text(helper(9), encoding="utf-8")
    after = ran(folder)
    assert before[0] != after[0]
    assert before[1] > after[1], "the new helper runs, not the one that was loaded"
    (folder / "helper.py").write_text(helper(3), encoding="utf-8")
    assert ran(folder) == before


def test_a_sweep_makes_its_runs_again_after_a_helper_module_has_changed(folder: Path, ackclock: Command) -> None:
    (folder / "plan.toml").write_text(
        'name = "p"\nscenario = "scenario.toml"\nseeds = { first = 1, count = 2 }\n'
        '[grid]\n"link[0].delay" = ["40 ms"]\n',
        encoding="utf-8",
    )
    first, again = (ackclock("sweep", "plan.toml", "--allow-python") for _ in range(2))
    assert (first.returncode, again.returncode) == (0, 0), first.stderr
    assert ("2 runs, 0 of them kept" in first.stdout, "2 runs, 2 of them kept" in again.stdout) == (True, True)
    (folder / "helper.py").write_text(helper(9), encoding="utf-8")
    other = ackclock("sweep", "plan.toml", "--allow-python")
    assert "2 runs, 0 of them kept" in other.stdout
    assert other.stdout != first.stdout


def test_modules_behind_modules_and_packages_count_and_what_is_not_imported_does_not(folder: Path) -> None:
    (folder / "pack").mkdir()
    (folder / "pack" / "__init__.py").write_text("", encoding="utf-8")
    (folder / "pack" / "inner.py").write_text("from . import deep\n", encoding="utf-8")
    (folder / "pack" / "deep.py").write_text("SEGMENTS = 3\n", encoding="utf-8")
    (folder / "pack" / "unused.py").write_text("", encoding="utf-8")
    (folder / "helper.py").write_text(
        "from pack.inner import deep\n\ndef threshold():\n    return deep.SEGMENTS\n", encoding="utf-8"
    )
    ids = [ran(folder)[0]]
    for file, text in [("deep.py", "SEGMENTS = 5\n"), ("__init__.py", "# of it\n"), ("unused.py", "SEGMENTS = 5\n")]:
        (folder / "pack" / file).write_text(text, encoding="utf-8")
        ids.append(ran(folder)[0])
    assert len(set(ids[:3])) == 3
    assert ids[3] == ids[2], "nobody imports it"


def test_two_folders_have_helpers_of_their_own_though_these_have_one_name(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for file in ("scenario.toml", "rule.py"):
        (other / file).write_text((folder / file).read_text(encoding="utf-8"), encoding="utf-8")
    (other / "helper.py").write_text(helper(9), encoding="utf-8")
    here, there = ran(folder), ran(other)
    assert here[0] != there[0]
    assert here[1] > there[1]
    assert ran(folder) == here


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "import importlib\nhelper = importlib.import_module('hel' + 'per')\ndef threshold():\n    return 3\n",
            "found rule.py, which imports a module whose name is computed in line 2, allowed: only imports of modules "
            "whose source is known before the run",
        ),
        ("import built\n", "which imports the local module built, imported in line 1, which has no source"),
    ],
)
def test_a_run_whose_modules_cannot_be_told_is_refused_in_a_line(
    text: str, says: str, folder: Path, ackclock: Command
) -> None:
    (folder / "built.so").write_bytes(b"")
    (folder / "helper.py").write_text(text, encoding="utf-8")
    done = ackclock("run", "scenario.toml", "--allow-python")
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (2, "", False)
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_installed_packages_and_pythons_own_modules_are_no_part_of_it(folder: Path) -> None:
    before = ran(folder)[0]
    (folder / "helper.py").write_text("import json, numpy, ackclock\n" + helper(3), encoding="utf-8")
    assert ran(folder)[0] != before
    assert source_hash_of(folder) == source_hash_of(folder)


def source_hash_of(folder: Path) -> str:
    """The hash of the rule, computed in a separate program."""
    code = "import sys; sys.path.insert(0, '.')\nimport rule, ackclock as ak\nprint(ak.slots.source_hash(rule.Rule))"
    return python(code, folder).strip()


def test_a_class_of_main_is_known_by_what_it_names_there(folder: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, '.')\nimport ackclock as ak, helper\nSEGMENTS = 3\nOTHER = 4\n"
        "def more(): return SEGMENTS + helper.threshold()\n"
        "class A(ak.DupThresh):\n  def segments(self, w, cx): return more()\n"
        "print(ak.slots.source_hash(A))"
    )
    same = python(code, folder)
    assert python(code.replace("OTHER = 4", "OTHER = 5"), folder) == same
    found = {same, python(code.replace("SEGMENTS = 3", "SEGMENTS = 4"), folder)}
    found.add(python(code.replace("SEGMENTS +", "SEGMENTS -"), folder))
    (folder / "helper.py").write_text(helper(9), encoding="utf-8")
    assert len(found | {python(code, folder)}) == 4


def test_a_module_that_has_changed_since_a_program_imported_it_is_refused(folder: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, '.')\nimport ackclock as ak, rule\nfrom pathlib import Path\n"
        "ak.slots.source_hash(rule.Rule)\nPath('helper.py').write_text('def threshold(): return 9')\n"
        "ak.slots.source_hash(rule.Rule)"
    )
    assert "the local module helper, which has changed since it was imported" in python(code, folder)


def test_local_modules_travel_with_a_task(folder: Path) -> None:
    with allowing(True):
        task = Task("x", SCENARIO, None, (), 1, 1, algorithms=pickled(SCENARIO, (), folder))
    here = run_task(task).runs
    for file in ("rule.py", "helper.py"):
        (folder / file).unlink()
    sys.modules.pop("helper", None)
    assert run_task(task).runs == here


def test_the_hash_of_a_file_without_local_imports_is_what_it_was(folder: Path) -> None:
    import hashlib  # noqa: PLC0415 - shows how the hash is made

    text = RULE.replace("import helper\n", "").replace("helper.threshold()", "3")
    (folder / "rule.py").write_text(text, encoding="utf-8")
    assert source_hash_of(folder) == hashlib.sha256(text.encode() + b"\0").hexdigest()[:16]
    assert source_hash(ak.DupThresh) == hashlib.sha256().hexdigest()[:16]
