"""Recipes for other systems, as far as they can be checked here."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import maturin
import pytest
import wheel_backend
import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / ".github/workflows/release.yml"
RECIPE = ROOT / "packaging/conda/recipe.yaml"


@pytest.mark.parametrize("build", [wheel_backend.build_wheel, wheel_backend.build_sdist])
def test_what_a_wheel_must_have_and_is_missing_is_a_sentence_and_nothing_is_built(
    build: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wheel_backend, "SHARE", tmp_path)
    for name in wheel_backend.NEEDED:
        with pytest.raises(SystemExit) as ended:
            build(str(tmp_path / "dist"))
        assert str(ended.value).startswith(f"ackclock: {wheel_backend.NEEDED[name]}")
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr(maturin, build.__name__, lambda folder, *_: f"built in {folder}")
    assert build("dist") == "built in dist"
    assert not (tmp_path / "dist").exists()


def jobs() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    return found


def scripts() -> list[str]:
    return [step["run"] for job in jobs().values() for step in job["steps"] if "run" in step]


def test_every_script_of_the_workflow_parses_and_calls_targets_that_the_makefile_has() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert len(scripts()) > 7
    called = set[str]()
    for script in scripts():
        plain = re.sub(r"\$\{\{.*?\}\}", "value", script)
        said = subprocess.run(["bash", "-n"], input=plain, capture_output=True, text=True, check=False)
        assert said.returncode == 0, said.stderr
        called |= set(re.findall(r"^make ([\w-]+)", script, re.MULTILINE))
    assert called == {"sdist", "audit", "wheel-test"}
    assert called <= targets


def test_every_job_needs_jobs_that_there_are_and_every_download_names_an_upload() -> None:
    uploads = {step["with"]["name"] for job in jobs().values() for step in job["steps"] if "upload" in str(step)}
    for job in jobs().values():
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= jobs().keys()
        for step in job["steps"]:
            if "download-artifact" in step.get("uses", "") and "name" in step["with"]:
                name = str(step["with"]["name"])
                concrete = name.startswith("wheel-") and "{" not in name
                assert name in uploads or concrete, name
    built = set(jobs()["linux"]["strategy"]["matrix"]["target"]) | set(jobs()["macos"]["strategy"]["matrix"]["target"])
    tested = {one["target"] for one in jobs()["runs"]["strategy"]["matrix"]["include"]}
    assert tested <= built | {"x86_64-pc-windows-msvc"}


def test_the_conda_recipe_needs_what_the_package_needs_and_has_its_version() -> None:
    recipe = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    needed = {re.sub(r"\s", "", one) for one in recipe["requirements"]["run"]} - {"python"}
    assert needed == set(project["dependencies"])
    assert recipe["context"]["version"] == workspace["package"]["version"]
    optional = {
        one.split("[")[0].split(">=")[0] for extra in project["optional-dependencies"].values() for one in extra
    }
    names = {
        one.split(" ")[0].replace("matplotlib-base", "matplotlib") for one in recipe["requirements"]["run_constraints"]
    }
    assert names == optional - {"ackclock", "dask"} | {"distributed"}
    assert set(recipe["about"]["license_file"]) == set(project["license-files"])
