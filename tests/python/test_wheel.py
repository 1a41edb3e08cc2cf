"""A built wheel: its contents, and its behaviour in an empty folder (``tools/dev check guides``)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Ended = subprocess.CompletedProcess[str]
Run = Callable[..., Ended]


@pytest.fixture(scope="module")
def names(pytestconfig: pytest.Config) -> set[str]:
    """The names of the files in the wheel."""
    with zipfile.ZipFile(pytestconfig.getoption("wheel")) as archive:
        return {entry.filename for entry in archive.infolist() if not entry.is_dir()}


def environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "FORCE_COLOR"}} | {"COLUMNS": "200"}


@pytest.fixture
def call(tmp_path: Path) -> Run:
    """The command of an environment, in an empty folder."""

    def run(python: Path, *arguments: str) -> Ended:
        command = [str(python.with_name("ackclock")), *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)

    return run


def listed(*folders: str) -> set[str]:
    """The files that git tracks below these folders."""
    said = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, check=True, capture_output=True, text=True)
    return set(said.stdout.splitlines())


def test_a_wheel_has_the_package_papers_scenarios_scripts_captures_the_page_and_licences_and_nothing_else(
    names: set[str], pytestconfig: pytest.Config
) -> None:
    shared = {f"ackclock/share/{name}" for name in listed("papers", "scenarios", "conformance")}
    ours = {name.removeprefix("python/") for name in listed("python") if "/share/" not in name}
    captures = {name.removeprefix("python/") for name in listed("python/ackclock/share/captures")}
    assert len(captures) == 4
    assert shared | ours | captures <= names
    rest = names - shared - ours - captures
    page = {name.removeprefix("ackclock/share/page/") for name in rest if name.startswith("ackclock/share/page/")}
    assert "index.html" in page
    assert sum(name.endswith(".wasm") for name in page) == 1
    info = {re.sub(r"^ackclock-[^/]*\.dist-info/", "", name) for name in rest if ".dist-info/" in name}
    assert info == {
        "METADATA",
        "RECORD",
        "WHEEL",
        "entry_points.txt",
        "licenses/LICENSE",
        "licenses/THIRD-PARTY.txt",
        "sboms/ackclock-py.cyclonedx.json",
    }
    left = {name for name in rest if not name.startswith("ackclock/share/page/") and ".dist-info/" not in name}
    assert len(left) == 1, left
    assert re.fullmatch(r"ackclock/_native\.(abi3\.so|pyd)", left.pop())
    wheel: Path = pytestconfig.getoption("wheel")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {len(names)} files")


def test_its_list_of_parts_and_its_notices_name_the_same_crates(names: set[str], pytestconfig: pytest.Config) -> None:
    parts, notices = (
        next(name for name in names if name.endswith(end)) for end in ("cyclonedx.json", "THIRD-PARTY.txt")
    )
    with zipfile.ZipFile(pytestconfig.getoption("wheel")) as archive:
        components = json.loads(archive.read(parts))["components"]
        rows = re.findall(r"^(\S+) +(\d\S+) +\S", archive.read(notices).decode(), re.MULTILINE)
    inside = {(one["name"], one["version"]) for one in components}
    assert len(inside) > 50
    assert ("parquet", dict(rows)["parquet"]) in inside & set(rows)


def test_a_scenario_runs_without_any_extra(bare: Path, call: Run) -> None:
    assert call(bare, "examples", "scenarios/bundle.toml", "--copy-to", ".").returncode == 0
    done = call(bare, "run", "scenarios/bundle.toml", "--seed", "1", "--trace", "run.parquet")
    assert done.returncode == 0, done.stderr
    where = subprocess.run(
        [bare, "-c", "import ackclock; print(ackclock.__file__)"], env=environment(), check=True, capture_output=True
    )
    assert Path(where.stdout.decode().strip()).is_relative_to(bare.parents[1])


def test_the_conformance_scripts_pass_without_any_extra(bare: Path, call: Run) -> None:
    assert call(bare, "examples", "conformance", "--copy-to", ".").returncode == 0
    done = call(bare, "conform", "conformance")
    assert done.returncode == 0, done.stdout
    assert int(done.stdout.splitlines()[-1].split()[0]) > 700


@pytest.mark.parametrize(
    ("extra", "command"),
    [
        ("plot", ["run", "scenarios/bundle.toml", "--seed", "1", "--plot", "p.svg"]),
        ("papers", ["reproduce", "hoe-1995", "--quick"]),
        ("tune", ["tune", "papers/tuning/ewma.toml"]),
        ("dask", ["sweep", "plan.toml", "--on", "dask:2"]),
    ],
)
def test_a_missing_extra_is_one_line_that_names_it(
    extra: str, command: list[str], bare: Path, call: Run, tmp_path: Path
) -> None:
    call(bare, "examples", "scenarios/bundle.toml", "papers/tuning", "--copy-to", ".")
    plan = 'scenario = "scenarios/bundle.toml"\n[grid]\nstack = ["reno", "newreno"]\n'
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    done = call(bare, *command)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    assert f"ackclock[{extra}]" in done.stderr


@pytest.fixture
def lab(bare: Path, tmp_path: Path) -> Iterator[str]:
    """The address of the page."""
    command = [str(bare.with_name("ackclock")), "lab", "--no-open", "--port", "0"]
    env = environment() | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        yield serving.stdout.readline().removeprefix("The lab is at ").strip()
        serving.terminate()


def test_the_lab_page_is_served_with_its_engine(lab: str, names: set[str]) -> None:
    engine = next(name for name in names if name.endswith(".wasm")).removeprefix("ackclock/share/page/")
    for file, begin in {"": b"<!doctype html>", engine: b"\0asm"}.items():
        with urllib.request.urlopen(f"{lab}{file}") as answer:
            assert answer.read()[: len(begin)].lower() == begin


def test_a_paper_is_reproduced_from_an_empty_folder(interpreter: Path, call: Run, tmp_path: Path) -> None:
    done = call(interpreter, "reproduce", "hoe-1995", "--quick", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["papers"][0]["paper"] == "hoe-1995"
    assert (tmp_path / "results" / "report.html").is_file()
    assert not (tmp_path / "papers").exists()


def test_results_are_not_written_into_the_installed_package(interpreter: Path, call: Run, tmp_path: Path) -> None:
    refused = call(interpreter, "reproduce", "hoe-1995", "--quick", "--copy-to", "docs")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "`ackclock examples papers --copy-to .`" in refused.stderr
    assert list(tmp_path.iterdir()) == []
