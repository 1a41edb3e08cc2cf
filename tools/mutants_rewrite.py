"""Rewrites functions so that one build has all mutants, chosen by a number at run time.

A mutated function keeps its signature. Its body becomes a `match` over the number of the active mutant: one arm for
each mutant of the function, with the whole body and one change in it, and a last arm with the body as written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SWITCH = """
/// The number of the active mutant, from the environment; 0 if none. `switch` names the calling function.
#[inline]
pub(crate) fn active_mutant(switch: u32) -> u32 {
    static ACTIVE: std::sync::OnceLock<Option<u32>> = std::sync::OnceLock::new();
    let parsed = || std::env::var("ACKCLOCK_MUTANT").map_or(Some(0), |n| n.parse().ok());
    ACTIVE.get_or_init(parsed).unwrap_or_else(|| mutants_reached(switch))
}

/// No mutant is active. Writes the switch into the file of ACKCLOCK_REACHED when the process first comes to it.
#[cold]
fn mutants_reached(switch: u32) -> u32 {
    use std::{collections::BTreeSet, io::Write, sync::Mutex};
    static SEEN: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
    if SEEN.lock().is_ok_and(|mut seen| seen.insert(switch)) {
        let path = std::env::var_os("ACKCLOCK_REACHED").expect("a file");
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).expect("a writable file");
        file.write_all(format!("{switch}\\n").as_bytes()).expect("room");
    }
    0
}
"""
ALLOWED = "#![allow(warnings, arithmetic_overflow, unconditional_panic, overflowing_literals, clippy::all)]\n"
TOKENS = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?"(?:\\.|[^"\\])*"|r(#*)".*?"\1|'(?:\\(?:u\{[0-9a-fA-F]+\}|x..|.)|[^\\'])'|[{}()\[\];]""",
    re.DOTALL,
)


@dataclass(frozen=True)
class Change:
    """One change to a file: characters `start` to `end` become `text`."""

    start: int
    end: int
    text: str


@dataclass
class Mutant:
    """One mutant: its place and its change."""

    package: str
    file: str
    function: str
    name: str
    change: Change
    body: tuple[int, int] | None
    """The function's body with its braces; `None` if it cannot be switched."""
    key: str = field(default="")
    """What identifies it when lines have moved: file, function, change, and its number among equals."""


def offset(starts: list[int], place: dict[str, int]) -> int:
    """The character of a line and column, both counted from 1."""
    return starts[place["line"] - 1] + place["column"] - 1


def line_starts(text: str) -> list[int]:
    """The first character of each line."""
    return [0, *(m.end() for m in re.finditer("\n", text))]


def brackets(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Brackets and semicolons from `start` on, outside comments, strings and characters."""
    for match in TOKENS.finditer(text, start):
        if len(match[0]) == 1:
            yield match.start(), match[0]


def body_of(text: str, start: int) -> tuple[int, int] | None:
    """The body, with its braces, of the function at `start`; `None` if it is constant or returns an opaque type."""
    depth = 0
    opening: int | None = None
    for at, sign in brackets(text, start):
        if opening is None and sign == ";" and depth == 0:
            return None
        if sign in "([{":
            if sign == "{" and depth == 0 and opening is None:
                head = re.sub(r"//[^\n]*", "", text[start:at])
                if re.search(r"\bconst\b[^(]*\bfn\b", head) or re.search(r"->\s*impl\b|->[^{]*\bimpl\b", head):
                    return None
                opening = at
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if depth == 0 and opening is not None and sign == "}":
                return opening, at + 1
    return None


def listed(rows: Iterable[dict[str, Any]], root: Path) -> Iterator[Mutant]:
    """The mutants that `cargo mutants --list --json` printed."""
    texts: dict[str, tuple[str, list[int]]] = {}
    seen: dict[str, int] = {}
    for row in rows:
        file = row["file"]
        if file not in texts:
            text = (root / file).read_text(encoding="utf-8")
            texts[file] = (text, line_starts(text))
        text, starts = texts[file]
        span = row["span"]
        change = Change(offset(starts, span["start"]), offset(starts, span["end"]), row["replacement"])
        function = row["function"]
        name = re.sub(r"^\S+?:\d+:\d+: ", "", row["name"])
        body = None
        if function:
            found = body_of(text, offset(starts, function["span"]["start"]))
            body = found if found and found[0] < change.start and change.end <= found[1] else None
        key = f"{file}: {name}"
        seen[key] = seen.get(key, 0) + 1
        yield Mutant(row["package"], file, function["function_name"] if function else "", name, change, body,
                     f"{key} #{seen[key]}")  # fmt: skip


def outermost(bodies: set[tuple[int, int]]) -> dict[tuple[int, int], tuple[int, int]]:
    """For each body the outermost one that contains it."""
    return {b: min((o for o in bodies if o[0] <= b[0] and b[1] <= o[1]), key=lambda o: o[0]) for b in bodies}


def changed(text: str, body: tuple[int, int], change: Change) -> str:
    """The body with one change."""
    return text[body[0] : change.start] + change.text + text[change.end : body[1]]


@dataclass
class Rewritten:
    """A file with its mutants, and the lines of each."""

    text: str
    lines: dict[int, tuple[int, int]]
    """First and last line, from 1, of each number's arm."""
    switches: dict[int, int]
    """The switch in which each number is an arm: the lowest of its numbers."""


def rewrite(text: str, mutants: dict[int, Mutant]) -> Rewritten:
    """`text` with all these mutants, by number."""
    outer = outermost({m.body for m in mutants.values() if m.body})
    groups: dict[tuple[int, int], list[int]] = {}
    for number, m in mutants.items():
        if m.body:
            groups.setdefault(outer[m.body], []).append(number)
    parts: list[str] = []
    lines: dict[int, tuple[int, int]] = {}
    switches: dict[int, int] = {}
    at, line = 0, 1

    def add(part: str) -> None:
        nonlocal line
        parts.append(part)
        line += part.count("\n")

    for body in sorted(groups):
        add(text[at : body[0]])
        switch = min(groups[body])
        add(f"{{ match crate::active_mutant({switch}) {{\n")
        for number in groups[body]:
            switches[number] = switch
            first = line
            add(f"{number} => {changed(text, body, mutants[number].change)}\n")
            lines[number] = (first, line - 1)
        add(f"_ => {text[body[0] : body[1]]}\n}} }}")
        at = body[1]
    add(text[at:])
    return Rewritten("".join(parts), lines, switches)
