"""Recipes for other systems, as far as they can be checked here."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import maturin
import pytest
import yaml  # type: ignore[import-untyped]
from markdown_it import MarkdownIt

import parts
import release
import wheel_backend

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
    every = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in WORKFLOW.parent.glob("*.yml")]
    return [step["run"] for one in every for job in one["jobs"].values() for step in job["steps"] if "run" in step]


def test_every_part_of_the_check_is_in_one_job_of_a_pull_request() -> None:
    read = yaml.safe_load((WORKFLOW.parent / "pull-request.yml").read_text(encoding="utf-8"))
    named = [name for job in read["jobs"]["check"]["strategy"]["matrix"]["include"] for name in job["parts"].split()]
    needed = {name for part in parts.PARTS for name in part.needs}
    assert sorted(named) == sorted(parts.BY_NAME.keys() - needed)


def test_every_script_of_the_workflows_parses_and_calls_targets_that_the_makefile_has() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert len(scripts()) > 12
    called = set[str]()
    for script in scripts():
        plain = re.sub(r"\$\{\{.*?\}\}", "value", script)
        said = subprocess.run(["bash", "-n"], input=plain, capture_output=True, text=True, check=False)
        assert said.returncode == 0, said.stderr
        called |= set(re.findall(r"^make ([\w-]+)", script, re.MULTILINE))
    assert called == {"setup"}
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


FILLED = """
repository = "https://forge.test/someone/ackclock"
page = "{repository}/blob/{tag}/{path}"
raw = "{repository}/raw/{tag}/{path}"
contact = "someone@forge.test"
index = "testing"
"""
PUBLISHER = release.Publisher(**tomllib.loads(FILLED))


def workspace() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
    return table


def manifests() -> dict[str, dict[str, Any]]:
    """The tables `package` of all crates, by name."""
    read = (tomllib.loads(path.read_text(encoding="utf-8"))["package"] for path in ROOT.glob("crates/*/Cargo.toml"))
    return {table["name"]: table for table in read}


def test_a_release_stops_with_one_sentence_while_the_publishers_file_is_empty(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "run", lambda *_, **__: pytest.fail("a step ran"))
    for arguments in ([], ["tree", "somewhere"]):
        assert release.main(arguments) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err == (
            "ackclock: packaging/publisher.toml: `repository`, `contact`, `index` must be filled in by the publisher "
            "(docs/release.md)\n"
        )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (FILLED + 'nmae = "x"\n', "key `nmae`: found an unknown key, allowed: repository, page, raw, contact, index"),
        (FILLED.replace("testing", " "), "`index` must be filled in"),
        (FILLED.replace('contact = "someone@forge.test"', "contact = 3"), "`contact` must be filled in"),
    ],
)
def test_a_key_of_the_publishers_file_that_is_wrong_is_named(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "packaging").mkdir()
    (tmp_path / release.PUBLISHER).write_text(text, encoding="utf-8")
    with pytest.raises(release.ReleaseError, match=re.escape(said)):
        release.Publisher.read(tmp_path)


def test_the_tree_of_a_release_has_the_publishers_addresses_and_no_relative_link_in_its_long_description(
    tmp_path: Path,
) -> None:
    place = tmp_path / "tree"
    release.tree(place, PUBLISHER)
    tag = f"v{workspace()['version']}"
    page = MarkdownIt().enable("table").parse((place / "README.md").read_text(encoding="utf-8"))
    inline = [child for token in page for child in token.children or []]
    links = [token.attrs.get("href") or token.attrs.get("src") for token in inline]
    found = [str(link) for link in links if link is not None]
    assert len(found) > 40
    for link in found:
        assert link.startswith(("https://forge.test/", "#")), link
        if "/raw/" in link or "/blob/" in link:
            file = link.partition(f"/{tag}/")[2].partition("#")[0]
            assert (ROOT / file).exists(), link
    assert sum("/raw/" in link for link in found) >= 3
    project = tomllib.loads((place / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["urls"]["Repository"] == PUBLISHER.repository
    assert "ackclock" in project["scripts"]
    cited = yaml.safe_load((place / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["repository-code"] == PUBLISHER.repository
    assert PUBLISHER.contact in (place / "SECURITY.md").read_text(encoding="utf-8")
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"]
    said = subprocess.run(command, cwd=place, check=True, capture_output=True, text=True)
    crates = json.loads(said.stdout)["packages"]
    assert {crate["repository"] for crate in crates} == {PUBLISHER.repository}
    assert len(crates) == len(manifests())


def test_links_of_pictures_that_are_links_and_of_code_are_treated_apart() -> None:
    text = "[![a](b.png)](c.md#d) [e](https://x.test) [f](#g)\n```toml\n[h](i.md)\n```\n"
    assert release.absolute(text, "docs/page.md", PUBLISHER, "v1") == (
        "[![a](https://forge.test/someone/ackclock/raw/v1/docs/b.png)](https://forge.test/someone/ackclock/blob/v1/docs/c.md#d)"
        " [e](https://x.test) [f](#g)\n```toml\n[h](i.md)\n```\n"
    )


def test_all_files_have_the_same_version_and_date() -> None:
    number, date = release.released(ROOT)
    assert number == workspace()["version"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", date)


def test_a_file_with_another_version_stops_a_release_and_is_named(tmp_path: Path) -> None:
    files = ("Cargo.toml", "CHANGELOG.md", "CITATION.cff", "packaging/conda/recipe.yaml")
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text((ROOT / file).read_text(encoding="utf-8"), encoding="utf-8")
    number, date = release.released(tmp_path)
    for file in files[1:]:
        kept = (tmp_path / file).read_text(encoding="utf-8")
        (tmp_path / file).write_text(kept.replace(number, "9.9.9"), encoding="utf-8")
        with pytest.raises(release.ReleaseError, match=f"^{file}: "):
            release.released(tmp_path)
        (tmp_path / file).write_text(kept, encoding="utf-8")
    changes = (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")
    (tmp_path / "CHANGELOG.md").write_text(changes.replace(date, "soon"), encoding="utf-8")
    with pytest.raises(release.ReleaseError, match='found "soon" beside the version'):
        release.released(tmp_path)


def test_the_first_step_that_fails_ends_a_release(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def fails(_: release.Publisher) -> None:
        raise release.ReleaseError("it failed")

    steps = (
        release.Step("one", lambda _: ran.append("one")),
        release.Step("two", fails),
        release.Step("three", lambda _: ran.append("three")),
    )
    monkeypatch.setattr(release, "STEPS", steps)
    monkeypatch.setattr(release.Publisher, "read", lambda _: PUBLISHER)
    assert release.main([]) == 2
    said = capsys.readouterr()
    assert ran == ["one"]
    assert said.out.splitlines() == ["release: 1/3, after 0 min: one", "release: 2/3, after 0 min: two"]
    assert said.err == "ackclock: it failed\n"


def test_the_checklist_has_the_steps_of_the_script_and_the_keys_of_the_publishers_file() -> None:
    page = (ROOT / "docs/release.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| ([^|`]+) \| [^|]+ \|$", page.partition("| step | what |")[2].partition("\n\n")[0], re.MULTILINE
    )
    assert [row for row in rows if row != "---"] == [step.name for step in release.STEPS]
    for key in release.Publisher.__dataclass_fields__:
        assert f"`{key}`" in page


CFF_ROOT = {
    "cff-version", "message", "type", "title", "abstract", "authors", "version", "date-released", "license", "keywords",
}  # fmt: skip
"""Keys of the Citation File Format 1.2.0 that the file has."""


def test_the_citation_is_one_of_the_citation_file_format_with_our_version_and_names_nobody() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited.keys() == CFF_ROOT
    assert cited["cff-version"] == "1.2.0"
    assert cited["type"] == "software"
    assert cited["authors"] == [{"name": "The Ackclock developers"}]
    assert str(cited["version"]) == workspace()["version"]
    assert isinstance(cited["date-released"], str)
    assert cited["license"] == workspace()["license"]
    assert all(isinstance(word, str) for word in cited["keywords"])


def inherited(key: str) -> set[str]:
    """Crates whose manifests take a key from the workspace."""
    return {name for name, table in manifests().items() if table.get(key) == {"workspace": True}}


def test_what_all_crates_share_is_declared_once_and_inherited() -> None:
    everyone = set(manifests())
    assert len(everyone) >= 11
    for key in ("version", "edition", "rust-version", "authors", "license", "keywords", "categories"):
        assert key in workspace()
        assert inherited(key) == everyone, key
    assert workspace()["authors"] == ["The Ackclock developers"]
    assert 1 <= len(workspace()["keywords"]) <= 5
    assert "repository" not in workspace(), "the publisher's"


def test_every_crate_says_what_it_is_and_only_those_for_python_and_the_page_are_not_published() -> None:
    said = {name: table["description"] for name, table in manifests().items()}
    assert len(set(said.values())) == len(said)
    kept = {name for name, table in manifests().items() if "publish" in table}
    assert kept == {"ackclock-packetdrill", "ackclock-py", "ackclock-wasm"}
    assert all(manifests()[name]["publish"] is False for name in kept)


def test_the_oldest_rust_is_that_of_the_dependencies_of_a_build_and_ci_builds_with_it() -> None:
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
    said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    metadata = json.loads(said.stdout)
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    reached: set[str] = set()
    left = list(metadata["workspace_members"])
    while left:
        if (here := left.pop()) not in reached:
            reached.add(here)
            for needed in nodes[here]["deps"]:
                if any(kind["kind"] != "dev" for kind in needed["dep_kinds"]):
                    left.append(needed["pkg"])
    asked = {
        package["name"]: tuple(map(int, package["rust_version"].split(".")[:2]))
        for package in metadata["packages"]
        if package["id"] in reached - set(metadata["workspace_members"]) and package["rust_version"]
    }
    assert len(asked) > 30
    declared = tuple(map(int, workspace()["rust-version"].split(".")))
    assert max(asked.values()) == declared, max(asked, key=lambda name: asked[name])
    steps = [step.get("run", "") for step in jobs()["oldest-rust"]["steps"]]
    assert any('cargo "+$oldest" check --workspace --locked' in step and "rust-version" in step for step in steps)


def test_every_published_crate_begins_with_an_example_that_runs() -> None:
    for name in set(manifests()) - {"ackclock-packetdrill", "ackclock-py", "ackclock-wasm", "ackclock-live"}:
        source = (ROOT / "crates" / name.removeprefix("ackclock-") / "src/lib.rs").read_text(encoding="utf-8")
        head = source[: source.index("\n\n")]
        assert "\n//! # Example\n" in head, name
        assert re.search(r"^//! ```\n(?://!.*\n)*?//! +assert", head, re.MULTILINE), name
