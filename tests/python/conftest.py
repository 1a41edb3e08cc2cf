"""Fixtures and helpers that the tests share."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

import ackclock as ak
from ackclock.progress import Show, shown
from ackclock.runs.laboratory import Laboratory
from ackclock.runs.local import Local
from ackclock.runs.store import Store
from doc_page import live_runs

HERE = [sys.executable, "-m", "ackclock"]
"""The command of this environment."""
needs_devices = pytest.mark.skipif(not live_runs(), reason="live: skipped, because it needs root and /dev/net/tun")
BESIDE = ("duckdb", "pandas", "pyyaml")
"""Packages that the guides use in addition to Ackclock and its extras."""
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

RATES = """
name = "rates"
scenario = "short.toml"
seeds = { count = 40 }
[grid]
stack = ["reno", "newreno"]
"link[0].rate" = ["2 Mbps", "4 Mbps"]
"""


def laboratory(folder: Path, show: Show = shown, fresh: bool = False) -> Laboratory:
    """A laboratory on this machine, with a store in a folder."""
    return Laboratory(Store(folder), Local(), show, fresh)


def completed(words: str, folder: Path) -> list[str]:
    """The words that bash would offer to complete the last word."""
    count = str(len(words.split(" ")) - 1)
    env = os.environ | {"_ACKCLOCK_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": count}
    program = Path(sys.executable).with_name("ackclock")
    done = subprocess.run([program], env=env, cwd=folder, capture_output=True, text=True, check=True)
    return [line.removeprefix("plain,") for line in done.stdout.splitlines()]


def python(code: str, folder: Path) -> str:
    """What a program in this Python prints that runs in a folder; its traceback if it fails."""
    path = os.pathsep.join([str(Path(ak.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    env = os.environ | {"PYTHONPATH": path}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else done.stderr


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return ["Z", "0"]


def parent(pid: int) -> int:
    """The ID of a process's parent; 0 if there is no such process."""
    return int(_stat(pid)[1])


def alive(pid: int) -> bool:
    """Whether a process exists and has not ended."""
    return _stat(pid)[0] not in "ZX"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--wheel``, which tests a wheel instead of the checkout: ``tools/dev check guides``."""
    parser.addoption("--wheel", type=lambda name: Path(name).resolve(), help="a wheel, which test_wheel.py tests")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Collect the tests of a wheel's contents only if there is a wheel."""
    return True if collection_path.name == "test_wheel.py" and config.getoption("wheel") is None else None


@pytest.fixture(scope="session")
def bare(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment that contains only the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    install(python, str(pytestconfig.getoption("wheel")))
    return python


@pytest.fixture(scope="session")
def interpreter(pytestconfig: pytest.Config, request: pytest.FixtureRequest) -> Path:
    """The Python that runs the guides: this one, or the wheel's, now with its extras."""
    wheel = pytestconfig.getoption("wheel")
    if wheel is None:
        return Path(sys.executable)
    python: Path = request.getfixturevalue("bare")
    install(python, f"{wheel}[papers,tune,dask]", *BESIDE)
    return python


def install(python: Path, *what: str) -> None:
    """Install packages with the versions of requirements-dev.txt."""
    pins = (Path(__file__).resolve().parents[2] / "requirements-dev.txt").read_text(encoding="utf-8")
    constraints = python.parents[1] / "constraints.txt"
    constraints.write_text("\n".join(re.findall(r"^[\w.-]+==[^\\\n]+", pins, re.MULTILINE)), encoding="utf-8")
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, "-c", str(constraints), *what], check=True)


@pytest.fixture
def short(tmp_path: Path) -> Path:
    """A scenario file that runs quickly: one flow, four seeds."""
    path = tmp_path / "short.toml"
    path.write_text(SHORT, encoding="utf-8")
    return path


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A plan of 160 short runs in a temporary folder."""
    (tmp_path / "short.toml").write_text(SHORT.replace('"5 s"', '"1 s"'), encoding="utf-8")
    (tmp_path / "plan.toml").write_text(RATES, encoding="utf-8")
    return tmp_path / "plan.toml"


@pytest.fixture
def ackclock(tmp_path: Path) -> Command:
    """The command as a separate program in a temporary folder."""

    def call(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        command = [*HERE, *map(str, arguments)]
        env = {k: v for k, v in os.environ.items() if k not in {"FORCE_COLOR", "COLUMNS"}}
        return subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, input=stdin, timeout=120, check=False
        )

    return call


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where ``ackclock reproduce`` ran the first paper on scenarios of 5 s, with two seeds for each point."""
    from reproducing import cut, reproduce  # noqa: PLC0415 - imports this file

    folder = tmp_path_factory.mktemp("undisturbed")
    cut(folder, 5)
    assert reproduce(folder, "--seeds", "2").returncode == 1
    return folder
