"""Which module of the package may import which: arrows go one way."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "ackclock"
LAYERS = (
    "_native",
    "errors",
    "files",
    "colours",
    "columns",
    "quantities",
    "statistics",
    "progress",
    "document",
    "paths",
    "slots",
    "tables",
    "plot",
    "result",
    "scenario",
    "api",
    "runs",
    "sweep",
    "tuning",
    "",
    "lab_page",
    "papers",
    "cli_common",
    "cli_lab",
    "cli_reproduce",
    "cli_sweep",
    "cli_results",
    "cli_tune",
    "cli",
    "__main__",
)
"""The modules and packages of ``ackclock``, each above all that it may import; the empty name is the package itself."""
Imports = dict[str, dict[str, int]]
"""What each module imports, and on which line first."""


@cache
def imports(package: Path) -> Imports:
    """The imports within a package, those inside functions and for types alone included."""
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


def upward(every: Imports, layers: Iterable[str]) -> list[str]:
    """Imports of a layer that stands above; a module in no layer is an error."""
    at = {layer: height for height, layer in enumerate(layers)}

    def height(module: str) -> int:
        return at[module.partition(".")[2].partition(".")[0]]

    return [
        f"{name}:{line} imports {other}"
        for name, others in every.items()
        for other, line in others.items()
        if height(other) > height(name)
    ]


def circles(every: Imports) -> list[set[str]]:
    """Modules that import each other, directly or not; a package and what is inside it may."""
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
    assert upward(every, LAYERS) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles(imports(PACKAGE)) == []


def planted(folder: Path, **texts: str) -> Imports:
    """A package of these modules, each with its text."""
    package = folder / "made"
    (package / "high").mkdir(parents=True)
    for name in ("__init__", "low", "middle", "high/__init__", "high/one", "high/two"):
        (package / f"{name}.py").write_text(texts.get(name.replace("/", "_"), ""), encoding="utf-8")
    return imports(package)


PLANTED_LAYERS = ("low", "middle", "", "high")


@pytest.mark.parametrize(
    "text",
    [
        "from made.high import one",
        "import made.high.one",
        "from made.high.one import anything",
        "from .high.one import anything",
        "def late():\n    from made.high import one",
        "if TYPE_CHECKING:\n    from made.high.one import Type",
    ],
)
def test_an_import_from_above_is_found_however_it_is_written(text: str, tmp_path: Path) -> None:
    every = planted(tmp_path, middle=text, high_two="from made import low, middle")
    (found,) = upward(every, PLANTED_LAYERS)
    assert found == f"made.middle:{len(text.splitlines())} imports made.high.one"


def test_a_circle_is_found_and_a_package_with_its_child_is_none(tmp_path: Path) -> None:
    family = planted(tmp_path / "family", high___init__="from made.high import one", high_one="import made.high")
    assert circles(family) == []
    ring = {"low": "import made.middle", "middle": "from made.high import two", "high_two": "from .. import low"}
    assert circles(planted(tmp_path / "ring", **ring)) == [{"made.low", "made.middle", "made.high.two"}]
