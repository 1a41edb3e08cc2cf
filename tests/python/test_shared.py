"""Files that come with the package: examples are listed and copied, and papers are found from any folder."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ackclock import shared
from conftest import Command, completed
from doc_page import blocks, commands

ROOT = Path(__file__).resolve().parents[2]


def test_every_scenario_of_the_repository_is_listed_with_what_it_is(ackclock: Command) -> None:
    listed = {row["name"]: row["about"] for row in json.loads(ackclock("examples", "--json").stdout)}
    patterns = ("scenarios/**/*.toml", "papers/*/scenario*.toml", "papers/tuning/*.toml")
    ours = {path.relative_to(ROOT).as_posix() for pattern in patterns for path in ROOT.glob(pattern)}
    assert ours | set(shared.CAPTURES) | {"conformance"} == set(listed)
    assert all(text.endswith((".", "?")) for text in listed.values()), listed
    text = ackclock("examples", "scenarios/linux").stdout
    assert text.count("scenarios/linux/") == len(list(ROOT.glob("scenarios/linux/*.toml")))


def test_a_copied_example_runs_and_a_second_copy_leaves_it_as_the_user_has_it(
    ackclock: Command, tmp_path: Path
) -> None:
    name = "scenarios/linux/plain.toml"
    assert ackclock("examples", name, "--copy-to", ".").stdout == f"{name}: written\n"
    assert ackclock("run", name, "--seeds", "1").returncode == 0
    (tmp_path / name).write_text("mine", encoding="utf-8")
    again = ackclock("examples", "scenarios/linux/", "--copy-to", ".", "--json")
    said = json.loads(again.stdout)
    assert said["kept"] == [name]
    assert name not in said["made"]
    assert len(said["made"]) == len(list(ROOT.glob("scenarios/linux/*.toml"))) - 1
    assert (tmp_path / name).read_text(encoding="utf-8") == "mine"


def test_conformance_scripts_are_listed_with_their_rules_and_pass_where_they_are_copied(ackclock: Command) -> None:
    listed = {
        row["name"]: row["about"] for row in json.loads(ackclock("examples", "conformance/rack", "--json").stdout)
    }
    assert set(listed) == {path.relative_to(ROOT).as_posix() for path in ROOT.glob("conformance/rack/*.pkt")}
    assert all(re.match(r"(RFC \d+ §|Linux)", text) for text in listed.values()), listed
    copied = ackclock("examples", "conformance", "--copy-to", ".")
    assert copied.returncode == 0
    count = len(list(ROOT.glob("conformance/**/*.pkt")))
    done = ackclock("conform", "conformance")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, f"{count} of {count} pass, 0 fail, 0 not understood")


def test_an_example_that_there_is_not_is_refused_with_the_nearest_and_nothing_is_copied(
    ackclock: Command, tmp_path: Path
) -> None:
    refused = ackclock("examples", "scenarios/satellite.toml", "bundel", "--copy-to", ".")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        'ackclock: command line: key `NAME`: found "bundel", allowed: a file or folder that `ackclock examples` lists\n'
    )
    for typed, meant in {"bundle": "scenarios/bundle.toml", "papers/hoe-1996": "papers/hoe-1995"}.items():
        assert ackclock("examples", typed).stderr.endswith(f"; did you mean `{meant}`?\n")
    assert ackclock("examples", "../share/papers").returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written_is_one_message(ackclock: Command, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    failed = ackclock("examples", "captures", "--copy-to", "file")
    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (1, "", 1)


def test_names_of_examples_are_completed(tmp_path: Path) -> None:
    assert completed("ackclock examples ", tmp_path) == ["captures/", "conformance/", "papers/", "scenarios/"]
    assert completed("ackclock examples scenarios/b", tmp_path) == ["scenarios/bundle.toml"]


def test_papers_are_found_from_any_folder_and_a_folder_of_ones_own_goes_first(
    ackclock: Command, tmp_path: Path
) -> None:
    def keys() -> list[str]:
        return [row["key"] for row in json.loads(ackclock("reproduce", "--list", "--json").stdout)]

    assert keys()[0] == "hoe-1995"
    assert len(keys()) == 7
    assert ackclock("examples", "papers/fukuda-2018", "--copy-to", ".").returncode == 0
    assert keys() == ["fukuda-2018"]
    assert ackclock("reproduce", "hoe-1995").stderr.startswith('ackclock: command line: key `NAME`: found "hoe-1995"')


def test_every_file_that_a_guides_command_reads_comes_with_the_package() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "papers").rglob("*.md"))]
    known, named = set(shared.files()), set[str]()
    for page in pages:
        for block in blocks(page.read_text(encoding="utf-8")):
            for _, command, _ in commands(block) if block.language == "console" else []:
                named |= set(re.findall(r"\b(?:scenarios|papers|captures)/[\w./-]+\.(?:toml|pcapng\.gz)", command))
    assert len(named) > 10
    assert named <= known


def test_plots_without_matplotlib_are_one_sentence_that_names_the_extra() -> None:
    hidden = "import sys; sys.modules['matplotlib'] = None; import ackclock as ak; ak.plot"
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last == 'ImportError: plots need matplotlib, which is not installed: pip install "ackclock[plot]"'


@pytest.mark.parametrize("folder", shared.FOLDERS)
def test_examples_are_found_by_one_way_in_the_repository_and_when_installed(folder: str) -> None:
    assert (shared.SHARE / folder).is_dir()
    assert shared.SHARE.parent == Path(shared.__file__).parent
