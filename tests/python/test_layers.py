"""Which modules of the package may import which: imports go in one direction."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import ackclock

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "ackclock"
LAYERS = (
    "_native",
    "late",
    "errors",
    "files",
    "colours",
    "quantities",
    "statistics",
    "progress",
    "document",
    "kernels",
    "shared",
    "slots",
    "tables",
    "plot",
    "result",
    "scenario",
    "api",
    "captures",
    "conforming",
    "live",
    "kernel_stacks",
    "runs",
    "sweep",
    "tuning",
    "study",
    "arena",
    "",
    "lab_page",
    "papers",
    "cli",
    "__main__",
)
"""The modules and packages of ``ackclock``, each above everything that it may import; "" is the package itself."""
Imports = dict[str, dict[str, int]]
"""The imports of each module, with the first line of each."""


@cache
def imports(package: Path) -> Imports:
    """The imports within a package, including imports inside functions and for types only."""
    files = {_name(package, path): path for path in sorted([*package.rglob("*.py"), *package.rglob("*.pyi")])}
    return {name: dict(_imported(name, path, files)) for name, path in files.items()}


def _name(package: Path, path: Path) -> str:
    parts = (package.name, *path.relative_to(package).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(name: str, path: Path, known: Iterable[str]) -> Iterator[tuple[str, int]]:
    found: dict[str, int] = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
            up = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*up, *([node.module] if node.module else [])])
            named = [f"{origin}.{alias.name}" for alias in node.names]
        else:
            continue
        for one in named:
            module = one if one in known else one.rpartition(".")[0]
            if module in known and module != name:
                found.setdefault(module, node.lineno)
    yield from found.items()


def upward(every: Imports) -> list[str]:
    """Imports from a higher layer; a module in no layer is an error."""
    at = {layer: height for height, layer in enumerate(LAYERS)}

    def height(module: str) -> int:
        return at[module.partition(".")[2].partition(".")[0]]

    return [
        f"{name}:{line} imports {other}"
        for name, others in every.items()
        for other, line in others.items()
        if height(other) > height(name)
    ]


def circles(every: Imports) -> list[set[str]]:
    """Modules that import each other directly or indirectly; a package and its contents may."""
    around = {name: {o for o in others if not _kin(name, o)} for name, others in every.items()}
    reached = {name: _reached(name, around) for name in every}
    found = {frozenset(o for o in every if o in reached[name] and name in reached[o]) for name in every}
    return [set(one) for one in found if one]


def _kin(one: str, other: str) -> bool:
    return one.startswith(f"{other}.") or other.startswith(f"{one}.")


def _reached(name: str, around: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    ahead = set(around[name])
    while ahead:
        at = ahead.pop()
        reached.add(at)
        ahead |= around[at] - reached
    return reached


def test_every_module_stands_in_a_layer_and_imports_nothing_from_above_it() -> None:
    every = imports(PACKAGE)
    assert {name.partition(".")[2].partition(".")[0] for name in every} == set(LAYERS)
    assert upward(every) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles(imports(PACKAGE)) == []


ROOT = PACKAGE.parents[1]
DIRECTIVE = re.compile(r"^::: (ackclock[\w.]*)\n((?:    .*\n)*)", re.MULTILINE)
MEMBERS = re.compile(r"members: \[([^\]]*)\]")
Public = dict[str, frozenset[str] | None]
"""The names of each module that others may import; ``None``: all names that do not start with _."""


@cache
def public() -> Public:
    """The names that ``import ackclock`` lists and docs/api documents."""
    found: Public = {"ackclock": frozenset(ackclock.__all__)}
    for page in sorted((ROOT / "docs" / "api").glob("*.md")):
        for name, options in DIRECTIVE.findall(page.read_text(encoding="utf-8") + "\n"):
            listed = MEMBERS.search(options)
            module, _, last = name.rpartition(".")
            if name not in imports(PACKAGE):
                found[module] = frozenset([*(found.get(module) or []), last])
            elif listed is None:
                found[name] = None
            else:
                found[name] = frozenset([*(found.get(name) or []), *re.split(r",\s*", listed[1])])
    return found


def private(path: Path, known: Public) -> list[str]:
    """Non-public names of Ackclock that a file imports or uses."""

    def may(module: str, name: str) -> bool:
        names = known.get(module, frozenset())
        return f"{module}.{name}" in known or (not name.startswith("_") if names is None else name in names)

    found, called = [], set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            called |= {alias.asname or alias.name for alias in node.names if alias.name == "ackclock"}
            wrong = [a.name for a in node.names if a.name.startswith("ackclock") and a.name not in known]
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").startswith("ackclock"):
            wrong = [f"{node.module}.{alias.name}" for alias in node.names if not may(node.module or "", alias.name)]
        else:
            continue
        found += [f"{path.name}:{node.lineno}: {one}" for one in wrong]
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ast.Name(name), attr) if name in called and not may("ackclock", attr):
                found.append(f"{path.name}:{node.lineno}: ackclock.{attr}")
    return found


def test_papers_use_what_is_public_alone() -> None:
    known = public()
    code = sorted(path for path in (ROOT / "papers").rglob("*.py"))
    assert len({path.parent.parent for path in code}) == 7, "five papers, and two pages"
    assert [one for path in code for one in private(path, known)] == []


def test_what_papers_have_in_common_uses_what_is_public_and_itself() -> None:
    machinery = sorted((PACKAGE / "papers").glob("*.py"))
    itself: Public = dict.fromkeys((name for name in imports(PACKAGE) if name.startswith("ackclock.papers")), None)
    assert [one for path in machinery for one in private(path, public() | itself)] == []
