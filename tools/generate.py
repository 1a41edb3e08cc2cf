"""The generated files: one list, by which ``tools/dev generate`` writes them and ``--check`` compares them.

A maker returns the text of each of its files. Other files that match its pattern are old ones.
"""

from __future__ import annotations

import difflib
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools/generators"), str(ROOT / "tools/pages")]


@dataclass(frozen=True)
class Made:
    """Files that one maker writes."""

    files: str
    """A path below the repository, or a pattern of paths that are all made."""
    source: str
    """What they are made from, for people."""
    make: Callable[[], dict[str, str]]
    """The text of each file, by its path."""


def module(name: str) -> Callable[[], dict[str, str]]:
    """The files of a module of tools/generators or tools/pages, which is imported when it is needed."""
    return lambda: {path.relative_to(ROOT).as_posix(): text for path, text in import_module(name).files()}


def example(name: str, path: str, *words: str) -> Callable[[], dict[str, str]]:
    """A file that an example of a crate prints."""

    def printed() -> dict[str, str]:
        command = ["cargo", "run", "--quiet", "--locked", "--example", name, "--", *words]
        return {path: subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout}

    return printed


GENERATED = (
    Made("docs/algorithms.md", "the headers in crates/tcp/src", module("algorithms")),
    Made("python/ackclock/scenario", "the JSON Schema", module("scenario_classes")),
    Made("conformance/arrival/*.pkt", "a receiver written from the RFCs", module("arrivals")),
    Made("docs/conformance-scripts.md", "the headers of the scripts in conformance", module("conformance_index")),
    Made("docs/scenario.md", "the schema", example("scenario_docs", "docs/scenario.md", "page")),
    Made("docs/scenario.schema.json", "the schema", example("scenario_docs", "docs/scenario.schema.json", "json")),
    Made("docs/trace.md", "the table of columns", example("trace_page", "docs/trace.md")),
    Made("docs/results.md", "the rows of results", module("results_page")),
    Made(
        "web/src/engine/results.ts",
        "the rows of results",
        example("results_page", "web/src/engine/results.ts", "types"),
    ),
    Made("web/src/engine/rows.ts", "the rows of captures", example("capture_rows", "web/src/engine/rows.ts", "types")),
    Made("docs/capture-columns.md", "the rows of captures", example("capture_rows", "docs/capture-columns.md", "page")),
    Made("docs/conformance-settings.md", "the settings", example("settings_page", "docs/conformance-settings.md")),
    Made("docs/tutorials/*.ipynb", "the notebooks, without outputs", module("notebooks")),
    Made("THIRD-PARTY.txt", "Cargo.lock and web/package-lock.json", module("notices")),
)


def generate(check: bool, only: Sequence[str] = ()) -> int:
    """Write the generated files, or list the files that differ.

    Args:
        check: compare only.
        only: the paths or patterns of GENERATED to make; default: all.

    Returns:
        1 if a file differs, otherwise 0.
    """
    known = [made.files for made in GENERATED]
    if unknown := set(only) - set(known):
        raise SystemExit(f"found {', '.join(sorted(unknown))}, allowed: {', '.join(known)}")
    differing = 0
    for made in GENERATED:
        if only and made.files not in only:
            continue
        wanted = made.make()
        there = {path.relative_to(ROOT).as_posix() for path in ROOT.glob(made.files) if path.is_file()}
        for name in sorted(there | wanted.keys()):
            path = ROOT / name
            before = path.read_text(encoding="utf-8") if path.is_file() else None
            if before == wanted.get(name):
                continue
            differing += 1
            if check:
                print(f"{name} is not what {made.source} says: make generated")
                lines = difflib.unified_diff((before or "").splitlines(), wanted.get(name, "").splitlines(), n=0)
                print("\n".join(list(lines)[2:12]))
            elif name not in wanted:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(wanted[name], encoding="utf-8")
    print(f"generated files: {differing} {'differ' if check else 'written anew'}")
    return int(check and differing > 0)
