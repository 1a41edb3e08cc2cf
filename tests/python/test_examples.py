"""The example project: it passes type checks, an error in it is found, and it does what its page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def mypy(folder: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    """The output of mypy for the study in a folder, as outside this repository."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={cache}", "-p", "study"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the study."""
    folder = tmp_path_factory.mktemp("elsewhere")
    shutil.copytree(EXAMPLES / "study", folder / "study", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_its_types_are_strict_and_find_slips(study: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    cache = tmp_path_factory.mktemp("mypy")
    good = mypy(study, cache)
    assert (good.returncode, good.stdout) == (0, "Success: no issues found in 5 source files\n"), good.stderr
    bad = tmp_path_factory.mktemp("slips")
    shutil.copytree(study / "study", bad / "study")
    paths = bad / "study/paths.py"
    text = paths.read_text(encoding="utf-8")
    slips = {"limit=": "limits=", '"slots"': '"slot"', 'delay="20 ms"': "delay=0.02", 'to="R2"': "to=None"}
    for right, wrong in slips.items():
        assert right in text
        text = text.replace(right, wrong, 1)
    paths.write_text(text, encoding="utf-8")
    said = mypy(bad, cache)
    assert said.returncode == 1
    for complaint in (
        r'Unexpected keyword argument "limits" for "Queue"',
        r'"mode" to "Swap" has incompatible type "Literal\[\'slot\'\]"',
        r'"delay" to "Link" has incompatible type "float"; expected "str"',
        r'"to" to "Link" has incompatible type "None"; expected "str"',
    ):
        assert re.search(complaint, said.stdout), (complaint, said.stdout)


def test_it_makes_its_table_and_its_figure(study: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "study", "--seeds", "2", "--seconds", "5", "--out", str(tmp_path)]
    env = os.environ | {"POLARS_FMT_MAX_ROWS": "20", "POLARS_FMT_STR_LEN": "40"}
    done = subprocess.run(command, cwd=study, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    for stack in ("sack-ff96", "rfc-6675", "dsack-avg", "rack-tlp", "share-of-window"):
        assert done.stdout.count(f" {stack} ") == 3
    frame = pl.read_csv(tmp_path / "runs.csv")
    assert len(frame) == 3 * 5 * 2
    assert frame["identity"].n_unique() == len(frame)
    assert set(frame["gap_ms"]) == {2000, 500, 125}
    assert b"needless retransmissions" in (tmp_path / "study.svg").read_bytes()
