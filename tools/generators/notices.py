"""THIRD-PARTY.txt: the licences of a wheel's contents, from the crates of its builds and the page's packages."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "THIRD-PARTY.txt"
BUILDS = ("ackclock-py", "ackclock-wasm")
"""The crates that are built into a wheel: the extension, and the engine of the lab page."""
TEXTS = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE")
"""Prefixes of the names of licence files."""
RULE = f"{'-' * 100}\n"
HEAD = """Third-party notices

Made from Cargo.lock and web/package-lock.json: make generated.

A wheel of Ackclock has these packages inside, in its extension or in its lab page. Both also have Rust's standard
library, which is under MIT or Apache-2.0. Python packages that Ackclock needs are installed beside it.
"""


@dataclass(frozen=True, order=True)
class Package:
    """A package and its licences."""

    name: str
    version: str
    licence: str
    texts: tuple[str, ...]


def crates() -> Iterator[Package]:
    """The third-party crates in the builds, on every platform."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    said = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    nodes = {node["id"]: node for node in said["resolve"]["nodes"]}
    packages = {package["id"]: package for package in said["packages"]}
    ahead = [id for id, package in packages.items() if package["name"] in BUILDS]
    seen = set(ahead)
    while ahead:
        for dependency in nodes[ahead.pop()]["deps"]:
            inside = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if inside and dependency["pkg"] not in seen and not _is_macro(packages[dependency["pkg"]]):
                seen.add(dependency["pkg"])
                ahead.append(dependency["pkg"])
    for id in seen:
        package = packages[id]
        if package["source"] is not None:
            folder = Path(package["manifest_path"]).parent
            yield Package(package["name"], package["version"], package["license"] or "", texts(folder))


def _is_macro(package: dict[str, object]) -> bool:
    """Whether the package only runs in the compiler."""
    targets = package["targets"]
    assert isinstance(targets, list)
    return any("proc-macro" in target["kind"] for target in targets)


def modules() -> Iterator[Package]:
    """The JavaScript packages that are bundled into the page."""
    locked = json.loads((ROOT / "web/package-lock.json").read_text(encoding="utf-8"))["packages"]
    for place, package in locked.items():
        if place and not package.get("dev"):
            folder = ROOT / "web" / place
            if not folder.is_dir():
                sys.exit(f"notices: {folder.relative_to(ROOT)} is missing: make web fetches it")
            yield Package(place.removeprefix("node_modules/"), package["version"], package["license"], texts(folder))


def texts(folder: Path) -> tuple[str, ...]:
    """The licence texts in a package's folder."""
    found = sorted(path for path in folder.iterdir() if path.is_file() and path.name.upper().startswith(TEXTS))
    return tuple(
        "\n".join(line.rstrip() for line in p.read_text("utf-8", "replace").strip().splitlines()) for p in found
    )


def page() -> str:
    """Return the content of the file: a table of packages, then each text once under the packages that it covers."""
    every = [*sorted(crates()), *sorted(modules())]
    rows = "".join(f"{one.name:<26} {one.version:<22} {one.licence}\n" for one in every)
    of: dict[str, tuple[str, list[str]]] = {}
    for one in every:
        for text in one.texts:
            of.setdefault(" ".join(text.split()), (text, []))[1].append(f"{one.name} {one.version}")
    shared: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for text, names in of.values():
        shared[tuple(names)].append(text)
    parts = ["\n\n".join([RULE + fill(", ".join(names), 100), *said]) for names, said in shared.items()]
    bare = [f"{one.name} {one.version}" for one in every if not one.texts]
    said = f"\nThe packages of {', '.join(bare)} have no text of their licence in them.\n" if bare else ""
    return f"{HEAD}\n{rows}{said}\n" + "\n\n".join(parts) + "\n"


def files() -> Iterator[tuple[Path, str]]:
    """The file."""
    yield FILE, page()
