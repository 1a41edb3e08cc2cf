"""What the tests share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ackclock.progress import Show, shown
from ackclock.runs.laboratory import Laboratory
from ackclock.runs.local import Local
from ackclock.runs.store import Store

Command = Callable[..., subprocess.CompletedProcess[str]]

SHORT = """
name = "short"
[run]
duration = "5 s"
seeds = { first = 1, count = 4 }
[[link]]
from = "S"
to = "D"
rate = "5 Mbps"
delay = "20 ms"
queue = "20 packets"
elements = [{ kind = "bernoulli", p = 0.01 }]
back = { elements = [] }
[[flow]]
name = "only"
from = "S"
to = "D"
stack = "newreno"
"""


def laboratory(folder: Path, show: Show = shown, fresh: bool = False) -> Laboratory:
    """A laboratory on this machine, with a store in a folder."""
    return Laboratory(Store(folder), Local(), show, fresh)


@pytest.fixture
def short(tmp_path: Path) -> Path:
    """A scenario file that runs in no time: one flow, four seeds."""
    path = tmp_path / "short.toml"
    path.write_text(SHORT, encoding="utf-8")
    return path


@pytest.fixture
def ackclock(tmp_path: Path) -> Command:
    """The command as a program of its own, in a folder of its own."""

    def call(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "ackclock", *map(str, arguments)]
        env = {k: v for k, v in os.environ.items() if k not in {"FORCE_COLOR", "COLUMNS"}}
        return subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, input=stdin, timeout=120, check=False
        )

    return call


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which ``ackclock reproduce`` ran the first paper on scenarios of 5 s, two seeds a point."""
    from reproducing import cut, reproduce  # noqa: PLC0415 - needs this file

    folder = tmp_path_factory.mktemp("undisturbed")
    cut(folder, 5)
    assert reproduce(folder, "--seeds", "2").returncode == 1
    return folder
