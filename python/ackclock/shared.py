"""Files that come with the package besides its code: examples for users to copy, and the lab page.

They are below ``share`` beside this module. In a wheel they are files; in the repository they are links to
``scenarios``, ``papers``, ``conformance``, captures of ``tests`` and ``web/dist``. So the code finds them in the same
place.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from ackclock.document import nearest, refusal

SHARE = Path(__file__).resolve().parent / "share"
PAPERS, PAGE = SHARE / "papers", SHARE / "page"
FOLDERS = ("scenarios", "papers", "captures", "conformance")
"""Folders of ``share`` with examples, in the order in which they are listed."""
CAPTURES = {
    "captures/client.pcap.gz": "A slow server, a download with losses, a slow reader and refused connections, "
    "captured at their client.",
    "captures/cubic-two-paths-no-dsack-sender.pcapng.gz": "An upload over two paths to a receiver that reports no "
    "duplicates, captured at the sender.",
    "captures/cubic-two-paths-no-dsack-receiver.pcapng.gz": "The same, captured at the receiver.",
    "captures/cubic-two-paths-sender.pcapng.gz": "The same path with a receiver that reports duplicates (DSACK).",
}
SCRIPTS = "Conformance scripts, listed one by one with `ackclock examples conformance`."
"""The description of all scripts together."""
SENTENCE = re.compile(r".+?(?<!eqs)[.?!](?=\s|$)")


def files() -> list[str]:
    """Every example file, by its path below ``share``."""
    every = [path for folder in FOLDERS for path in sorted((SHARE / folder).rglob("*"))]
    found = [path for path in every if path.is_file() and path.parent.name != "__pycache__"]
    return [path.relative_to(SHARE).as_posix() for path in found]


def folders(names: Iterable[str]) -> set[str]:
    """All folders that contain these files, directly or not."""
    return {str(parent) for name in names for parent in PurePosixPath(name).parents if parent.name}


def chosen(named: Sequence[str]) -> list[str]:
    """Return the named files, and the files in the named folders; without names, all files.

    Raises:
        ScenarioError: there is no such file or folder; the message suggests the nearest name.
    """
    every = files()
    known = {*every, *folders(every)}
    wanted = tuple(name.rstrip("/") for name in named)
    for name in wanted:
        if name not in known:
            stems = {PurePosixPath(file).stem: file for file in reversed(every) if file.endswith(".toml")}
            hint = nearest(stems.get(PurePosixPath(name).stem, name), known)
            allowed = "a file or folder that `ackclock examples` lists"
            raise refusal("command line", None, "NAME", f'"{name}"', allowed, hint)
    return [file for file in every if not named or file in wanted or file.startswith(tuple(f"{w}/" for w in wanted))]


def about(names: Sequence[str]) -> dict[str, str]:
    """Describe the scenarios, plans, captures and scripts among these files: the first sentence of each one's comment.

    Scripts are described one by one only where there is nothing else.
    """
    said = {name: _first_sentence(SHARE / name) for name in names if name.endswith(".toml")} | {
        name: CAPTURES[name] for name in names if name in CAPTURES
    }
    scripts = [name for name in names if name.endswith(".pkt")]
    if all(name.startswith("conformance/") for name in names):
        said |= {name: _first_line(SHARE / name) for name in scripts}
    elif scripts:
        said["conformance"] = SCRIPTS
    return {name: text for name, text in said.items() if text}


def copy(names: Sequence[str], to: Path) -> tuple[list[Path], list[Path]]:
    """Copy files of ``share`` into a folder under the same paths; existing files are left unchanged.

    Returns:
        The files that were created, and the files that already existed.

    Raises:
        OSError: a file could not be written.
    """
    made, kept = [], []
    for name in names:
        path = to / name
        if path.exists():
            kept.append(path)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SHARE / name, path)
        made.append(path)
    return made, kept


def _first_line(script: Path) -> str:
    """The header of a conformance script."""
    return script.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("// ")


def _first_sentence(file: Path) -> str:
    """The first sentence of a scenario's or a plan's leading comment; empty for other files."""
    text = file.read_text(encoding="utf-8")
    if not {"run", "parameters", "path"} & tomllib.loads(text).keys():
        return ""
    lines = [line for line in text.splitlines() if not line.startswith("#:")]
    comment = " ".join(line.lstrip("# ") for line in lines[: next(n for n, one in enumerate(lines) if one[:1] != "#")])
    found = SENTENCE.match(comment)
    return found[0] if found else comment
