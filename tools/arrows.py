"""Checks that the modules of each Rust crate depend on each other in one direction only.

Modules with the same parent must not form a cycle; a module includes everything below it. A parent and its own
children may use each other. Tests are ignored. ``use`` lines and paths in the code count as arrows.

A crate may list the order of its modules in ``tools/arrows.toml``: each may use only modules listed before it. Modules
in a nested list may not use each other.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATES = ("table", "tcp", "wire", "conform", "packetdrill", "sim", "course", "capture", "trace", "lab", "py", "wasm")
Module = tuple[str, ...]
"""The path of a module below its crate's root."""
Arrows = dict[tuple[Module, Module], set[str]]
"""Arrows from a module to another with the same parent, with the places in the code."""

_TESTS = re.compile(r"^#\[cfg\(test\)\]\n(?:#\[[^\n]*\]\n)*(?:pub(?:\([^)]*\))? )?mod \w+(?: \{.*?^\}|;)", re.S | re.M)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"', re.S)
_TEST_MODULE = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;")
_USE = re.compile(r"\buse\s+((?:crate|super|self)\b[^;]*);")
_PATH = re.compile(r"\b(?:crate|super|self)(?:::\w+)+")
_INLINE = re.compile(r"\bmod\s+(\w+)\s*\{")


def modules(crate: Path) -> dict[Module, Path]:
    """The modules of a crate except tests, each with its file."""
    found: dict[Module, Path] = {}
    tests: set[Module] = set()
    for file in sorted(crate.rglob("*.rs")):
        way = file.relative_to(crate).with_suffix("").parts
        module = () if way == ("lib",) else way
        found[module] = file
        tests.update((*module, name) for name in _TEST_MODULE.findall(file.read_text(encoding="utf-8")))
    return {module: file for module, file in found.items() if not any(module[: len(test)] == test for test in tests)}


def code(file: Path) -> str:
    """The code of a file without tests, comments and literals; line numbers are kept."""

    def blank(match: re.Match[str]) -> str:
        return "\n" * match[0].count("\n")

    text = file.read_text(encoding="utf-8")
    for pattern in (_TESTS, _COMMENT, _LITERAL):
        text = pattern.sub(blank, text)
    return text


def paths(tree: str) -> Iterator[list[str]]:
    """The paths of a ``use``, with braces expanded."""
    head, brace, rest = tree.partition("{")
    if not brace:
        yield [step for step in re.split(r"::|\s+as\s+", tree.strip()) if step]
        return
    depth, part = 0, ""
    for sign in rest[: rest.rfind("}")] + ",":
        if sign == "," and depth == 0:
            if part.strip():
                yield from paths(head + part.strip())
            part = ""
            continue
        depth += {"{": 1, "}": -1}.get(sign, 0)
        part += sign


def target(at: Module, steps: list[str], known: set[Module]) -> Module | None:
    """The module that a path in ``at`` refers to; ``None`` if it is not in the crate."""
    place = list(at)
    rest = list(steps)
    first = rest.pop(0)
    if first == "crate":
        place = []
    elif first == "super":
        place.pop()
        while rest and rest[0] == "super":
            rest.pop(0)
            place.pop()
    for step in rest:
        if (*place, step) not in known:
            break
        place.append(step)
    return tuple(place)


def arrows(crate: Path) -> Arrows:
    """The arrows between modules with the same parent."""
    files = modules(crate)
    known = set(files)
    for module in list(known):
        known.update(module[:n] for n in range(len(module)))
    found: Arrows = defaultdict(set)
    for module, file in files.items():
        text = code(file)
        inner = set(_INLINE.findall(text))
        for match in [*_USE.finditer(text), *_PATH.finditer(text)]:
            tree = match[1] if match.lastindex else match[0]
            line = text.count("\n", 0, match.start()) + 1
            for steps in paths(" ".join(tree.split())):
                if steps[0] == "super" and inner:
                    # Within an inline module `super` means the file.
                    continue
                to = target(module, steps, known)
                if to is None:
                    continue
                level = next((n for n, (a, b) in enumerate(zip(module, to, strict=False)) if a != b), None)
                if level is not None:
                    found[module[: level + 1], to[: level + 1]].add(f"{file.relative_to(ROOT)}:{line}")
    return found


def circles(found: Arrows) -> list[list[Module]]:
    """The sets of modules that are mutually reachable (Tarjan's algorithm)."""
    after: dict[Module, list[Module]] = defaultdict(list)
    for a, b in sorted(found):
        after[a].append(b)
    index: dict[Module, int] = {}
    low: dict[Module, int] = {}
    stack: list[Module] = []
    result: list[list[Module]] = []

    def visit(node: Module) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for follower in after[node]:
            if follower not in index:
                visit(follower)
                low[node] = min(low[node], low[follower])
            elif follower in stack:
                low[node] = min(low[node], index[follower])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                result.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(after):
        if node not in index:
            visit(node)
    return result


def against(found: Arrows, order: list[str | list[str]]) -> list[str]:
    """Arrows between top-level modules that violate the crate's order, and unknown names in the order."""
    rank = {name: i for i, layer in enumerate(order) for name in ([layer] if isinstance(layer, str) else layer)}
    there = {a[0] for arrow in found for a in arrow}
    said = [f"{name}: is in the order of tools/arrows.toml, and nothing uses it" for name in rank if name not in there]
    for (a, b), places in sorted(found.items()):
        if len(a) > 1:
            continue
        for name in (a[0], b[0]):
            if name not in rank:
                said.append(f"{name}: is not in the order of tools/arrows.toml")
                rank[name] = len(rank)
        if rank[a[0]] <= rank[b[0]]:
            where = "beside" if rank[a[0]] == rank[b[0]] else "above"
            said.append(f"{a[0]} uses {b[0]}, which stands {where} it: {', '.join(sorted(places)[:3])}")
    return said


def main(names: list[str]) -> int:
    """Print cycles and violations; return 1 if there are any."""
    orders = tomllib.loads((ROOT / "tools/arrows.toml").read_text(encoding="utf-8"))
    bad = 0
    for name in names or CRATES:
        found = arrows(ROOT / "crates" / name / "src")
        for circle in circles(found):
            bad += 1
            print(f"{name}: a circle: {', '.join('::'.join(m) for m in circle)}")
            inside = set(circle)
            for (a, b), places in sorted(found.items()):
                if a in inside and b in inside:
                    some = ", ".join(sorted(places)[:2])
                    print(f"    {'::'.join(a)} -> {'::'.join(b)}  {len(places)} ({some})")
        for said in against(found, orders[name]) if name in orders else ():
            bad += 1
            print(f"{name}: {said}")
        if not found:
            raise SystemExit(f"{name}: no arrow was found; are the modules where they were?")
    print(f"{len(names or CRATES)} crates: {bad or 'no'} circle{'s' * (bad != 1)} or arrow{'s' * (bad != 1)} upwards")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
