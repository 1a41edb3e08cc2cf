"""Every code block of the documents does what it says: doc_page.py runs each page in a temporary folder.

With ``--wheel``, the pages are run by the wheel, installed into a fresh environment.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

import ackclock as ak
from doc_page import ELSEWHERE, NO_KERNEL, NOT_RUN, blocks, commands, reason

ROOT = Path(__file__).resolve().parents[2]
NO_RUN = 0
"""The largest number of blocks marked `no-run`. Zero is best."""
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "papers/**/*.md", "examples/**/*.md", "web/*.md")
    for path in ROOT.glob(pattern)
    if "```" in path.read_text(encoding="utf-8")
)
CODE = sorted(
    path.relative_to(ROOT).as_posix()
    for path in ROOT.glob("python/**/*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)
"""Python files with examples in docstrings, which use ``scenario.toml`` and the first run's ``swaps.toml``."""
Ended = subprocess.CompletedProcess[str]


def carry_out(page: str, folder: Path, python: Path) -> Ended:
    """Run a page with the command of an environment, in an empty folder; a paper's page next to the papers."""
    if page.startswith("papers/"):
        (folder / "papers").symlink_to(ROOT / "papers")
    if page in CODE:
        ak.new(folder / "scenario.toml")
        first_run = blocks((ROOT / "docs/first-run.md").read_text(encoding="utf-8"))
        swaps = next(block.text for block in first_run if block.title == "swaps.toml")
        (folder / "swaps.toml").write_text(swaps, encoding="utf-8")
    left = {k: v for k, v in os.environ.items() if k not in {"FORCE_COLOR", "NO_COLOR", "TERM", "PYTHONPATH"}}
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    env = {**left, "PATH": path, "COLUMNS": "200", "MPLBACKEND": "agg"}
    command = [str(python), str(Path(__file__).with_name("doc_page.py")), str(ROOT / page), page]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def carried_out(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, interpreter: Path
) -> Iterator[dict[str, Future[Ended]]]:
    """The requested pages, run in parallel."""
    calls = [
        item.callspec.params
        for item in request.session.items
        if isinstance(item, pytest.Function) and hasattr(item, "callspec")
    ]
    asked = {call.get("page") for call in calls} & {*PAGES, *CODE}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield {
            page: pool.submit(carry_out, page, tmp_path_factory.mktemp("page"), interpreter)
            for page in PAGES + CODE
            if page in asked
        }


@pytest.mark.parametrize("page", PAGES + CODE)
def test_every_block_of_a_page_does_what_it_says(page: str, carried_out: dict[str, Future[Ended]]) -> None:
    run = carried_out[page].result()
    assert run.returncode == 0, run.stderr


def test_no_more_blocks_than_allowed_are_not_run_and_every_reason_not_to_run_a_command_is_needed() -> None:
    found = [(page, block) for page in PAGES for block in blocks((ROOT / page).read_text(encoding="utf-8"))]
    left = [f"{page}:{block.line}" for page, block in found if block.no_run]
    rust = [f"{page}:{block.line}" for page, block in found if block.language in ELSEWHERE]
    print(f"not run: {len(left)} blocks {left}; run elsewhere: {len(rust)} {rust}")
    assert len(left) == NO_RUN, left
    every = [command for _, block in found if block.language == "console" for _, command, _ in commands(block)]
    assert {reason(command) for command in every} - {None, NO_KERNEL} == set(NOT_RUN.values())
