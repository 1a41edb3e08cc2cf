"""One store for sweeps, tuning and papers: all of them have the same guarantees."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import SHORT, Command
from reproducing import NAMED, cut, environment, kept, reproduce, written

SWEEP = """
name = "stacks"
scenario = "short.toml"
seeds = { count = 10 }
[grid]
stack = ["reno", "newreno"]
"""
TUNE = """
stack = "dsack-ewma"
trials = 8
seeds = { count = 3 }
[parameters]
"detect.threshold.x" = { from = 0.01, to = 1.0 }
[[path]]
scenario = "short.toml"
[held_out]
seeds = { count = 6 }
"""
COMMANDS = (["sweep", "sweep.toml"], ["tune", "tune.toml"], ["reproduce", "blanton-allman-2002", "--seeds", "2"])
FILE = "ackclock-results/runs.sqlite"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A plan of each kind, and a paper with runs of one second."""
    for name, text in (("short.toml", SHORT), ("sweep.toml", SWEEP), ("tune.toml", TUNE)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    cut(tmp_path, 1)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_damaged_store_ends_every_command_with_one_message(
    command: list[str], folder: Path, ackclock: Command
) -> None:
    ackclock("sweep", "sweep.toml")
    file = folder / FILE
    content = bytearray(file.read_bytes())
    # Every page but the first: the order in which a command reads pages depends on the layout of the file.
    content[4096:] = b"\xff" * len(content[4096:])
    file.write_bytes(content)
    result = ackclock(*command)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(f"ackclock: {FILE}: database disk image is malformed")
    assert result.stderr.count("\n") == 1


def _limited(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_a_store_that_may_not_grow_ends_a_paper_and_loses_nothing(undisturbed: Path, tmp_path: Path) -> None:
    cut(tmp_path, 5)
    full = reproduce(tmp_path, "--seeds", "2", limit=_limited(150_000))
    assert (full.returncode, full.stdout) == (1, "")
    said = f"ackclock: {FILE}: disk I/O error; finished runs are kept and the same command continues"
    assert full.stderr.splitlines()[-1] == said
    before = kept(tmp_path)
    assert 0 < before < kept(undisturbed)
    again = reproduce(tmp_path, "--seeds", "2")
    assert f" {230 - before} runs, {before} kept\n" in again.stderr
    assert written(tmp_path) == written(undisturbed)


def test_a_paper_that_two_processes_run_at_a_time_is_kept_once_and_comes_out_the_same(
    undisturbed: Path, tmp_path: Path
) -> None:
    cut(tmp_path, 5)
    command = [*NAMED, "--seeds", "2", "--out"]
    quiet = subprocess.DEVNULL
    both = [
        subprocess.Popen([*command, out], cwd=tmp_path, env=environment(), stdout=quiet, stderr=subprocess.PIPE)
        for out in ("results", "other")
    ]
    said = [process.communicate(timeout=120)[1] for process in both]
    assert [process.returncode for process in both] == [1, 1], said
    assert kept(tmp_path) == kept(undisturbed)
    assert written(tmp_path) == written(undisturbed)
    assert (tmp_path / "other" / "claims.json").read_bytes() == (tmp_path / "results" / "claims.json").read_bytes()


def test_what_a_sweep_has_made_a_tuning_does_not_make_again(folder: Path, ackclock: Command) -> None:
    """Trial 0 is the stack with its defaults, and its held-out seeds follow the seeds of the search."""
    plan = SWEEP.replace('"reno", "newreno"', '"dsack-ewma"').replace("count = 10", "count = 9")
    (folder / "ewma.toml").write_text(plan, encoding="utf-8")
    assert ackclock("sweep", "ewma.toml").returncode == 0
    before = kept(folder)
    assert ackclock("tune", "tune.toml", "--trials", "1").returncode == 0
    assert (before, kept(folder)) == (9, 9)
