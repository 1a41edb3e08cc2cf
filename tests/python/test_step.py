"""tools/step.sh: what the set-up says while it works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Said = subprocess.CompletedProcess[str]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the script, so that its files are nobody else's."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools/step.sh", tmp_path / "tools/step.sh")
    return tmp_path


def step(place: Path, *arguments: str) -> Said:
    env = os.environ | {"STEP_EVERY": "1"}
    command = [str(place / "tools/step.sh"), *arguments]
    return subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, check=False)


def test_a_long_step_says_how_much_time_is_left_and_nothing_of_what_its_command_prints(place: Path) -> None:
    said = step(place, "set-up: it", "60", "bash", "-c", "echo Requirement already satisfied; sleep 3.5")
    assert (said.returncode, said.stdout) == (0, "")
    *going, done = said.stderr.splitlines()
    assert re.fullmatch(r"set-up: it: done after [34] s", done)
    assert going
    for line in going:
        after, left = re.fullmatch(r"set-up: it: after (\d+) s, about (\d+) s left", line).groups()  # type: ignore[union-attr]
        assert int(after) + int(left) == 60
    log = place / "target/steps/set-up-it.log"
    assert log.read_text(encoding="utf-8") == "Requirement already satisfied\n"


def test_the_time_left_follows_from_how_long_the_step_took_before(place: Path) -> None:
    before = step(place, "it", "60", "sleep", "2.2")
    took = int(before.stderr.rpartition("done after ")[2].split()[0])
    said = step(place, "it", "60", "sleep", f"{took + 1.5}")
    assert f"it: after {took} s, longer than usual\n" in said.stderr
    assert "60" not in said.stderr


def test_a_step_that_is_done_within_two_seconds_says_nothing(place: Path) -> None:
    said = step(place, "it", "60", "echo", "much")
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")


def test_a_step_that_fails_shows_the_end_of_its_output_and_has_its_exit_code(place: Path) -> None:
    said = step(place, "it", "60", "bash", "-c", "seq 100; exit 7")
    assert said.returncode == 7
    lines = said.stderr.splitlines()
    assert lines[0] == "61"
    assert re.fullmatch(r"it: failed after \d s; all of its output is in target/steps/it\.log", lines[-1])


def test_every_installer_of_the_set_up_runs_as_a_step() -> None:
    lines = [line for file in ("Makefile", "tools/need.sh") for line in (ROOT / file).read_text("utf-8").splitlines()]
    for installer in (
        "pip install --d",
        "npm --prefix web ci",
        "apt-get install -y",
        "rustup target add",
        "maturin develop",
    ):
        found = [line for line in lines if installer in line]
        assert found, installer
        for line in found:
            assert "step" in line, line
