"""The local modules that an algorithm in Python consists of: everything that it imports except installed packages."""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

BY_NAME = ("__import__", "import_module")
"""Functions that import a module named by an argument."""


class HiddenError(ValueError):
    """The modules of an algorithm cannot be determined; the message says why."""


@dataclass(frozen=True)
class _Wanted:
    """A name that a module imports."""

    name: str
    line: int


def local_modules(text: str, package: str, folders: Sequence[str]) -> dict[str, str]:
    """Return the text, by name, of every local module that a text imports directly or indirectly.

    Built-in modules, the standard library, installed packages, Ackclock and missing modules are left out.

    Args:
        text: Python source.
        package: the package that relative imports start from; empty for none.
        folders: folders to search for modules, before ``sys.path``.

    Raises:
        HiddenError: the name of a module is computed at run time, or a module has no source.
    """
    found: dict[str, str] = {}
    _collect(text, package, [*folders, *sys.path], found)
    return found


def _collect(text: str, package: str, path: Sequence[str], found: dict[str, str]) -> None:
    for wanted in _imports(text, package):
        for name in _prefixes(wanted.name):
            if name in found or not is_local(name, path):
                continue
            spec = find_spec(name, path)
            if spec is None or spec.origin is None:
                continue  # missing, or a folder without ``__init__.py``
            found[name] = _source(spec, wanted)
            inner = name if spec.submodule_search_locations is not None else name.rpartition(".")[0]
            _collect(found[name], inner, path, found)


def _prefixes(name: str) -> Iterator[str]:
    """``a``, ``a.b``, ``a.b.c``: importing the last one executes all of them."""
    parts = name.split(".")
    return (".".join(parts[: n + 1]) for n in range(len(parts)))


def _imports(text: str, package: str) -> Iterator[_Wanted]:
    """All names that a text imports, at any level."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return  # executing it reports the error
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield _Wanted(alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node.module or "", node.level, package)
            if base:
                yield _Wanted(base, node.lineno)
            for alias in node.names:
                yield _Wanted(f"{base}.{alias.name}" if base else alias.name, node.lineno)
        elif isinstance(node, ast.Call) and _called(node.func) in BY_NAME:
            yield _named(node)


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _named(node: ast.Call) -> _Wanted:
    first = node.args[0] if node.args else None
    if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
        raise HiddenError(f"a module whose name is computed in line {node.lineno}")
    return _Wanted(first.value, node.lineno)


def _absolute(module: str, level: int, package: str) -> str:
    """Resolve the name of a relative import."""
    if level == 0:
        return module
    above = package.split(".")[: len(package.split(".")) - (level - 1)]
    return ".".join(part for part in [*above, module] if part)


@cache
def _installed() -> tuple[Path, ...]:
    """The folders of Python's own library and of installed packages."""
    keys = ("stdlib", "platstdlib", "purelib", "platlib")
    paths = {Path(sysconfig.get_path(key)).resolve() for key in keys}
    user = sysconfig.get_path("purelib", f"{sysconfig.get_preferred_scheme('user')}")
    return (*paths, Path(user).resolve())


def is_local(name: str, path: Sequence[str] | None = None) -> bool:
    """Whether a module's top-level package is neither installed nor part of Python or Ackclock.

    Args:
        name: name of the module.
        path: folders to search. Default: ``sys.path``.
    """
    path = sys.path if path is None else path
    top = name.partition(".")[0]
    if top == "ackclock" or top in sys.stdlib_module_names:
        return False
    spec = find_spec(top, path)
    if spec is None:
        return False
    places = [spec.origin] if spec.origin is not None else list(spec.submodule_search_locations or [])
    return bool(places) and not any(
        Path(place).resolve().is_relative_to(folder) for place in places for folder in _installed()
    )


def find_spec(name: str, path: Sequence[str]) -> ModuleSpec | None:
    """Find a module on a path without executing it."""
    where: Sequence[str] | None = path
    spec: ModuleSpec | None = None
    for prefix in _prefixes(name):
        if where is None:
            return None
        loaded = getattr(sys.modules.get(prefix), "__spec__", None)
        spec = PathFinder.find_spec(prefix, list(where)) or (loaded if isinstance(loaded, ModuleSpec) else None)
        if spec is None:
            return None
        where = spec.submodule_search_locations
    return spec


def _source(spec: ModuleSpec, wanted: _Wanted) -> str:
    file = Path(spec.origin or "")
    if file.suffix != ".py":
        raise HiddenError(f"the local module {spec.name}, imported in line {wanted.line}, which has no source")
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise HiddenError(f"the local module {spec.name}, imported in line {wanted.line}: {error.strerror}") from error


def whole(found: Mapping[str, str]) -> bytes:
    """Names and texts of modules as bytes to be hashed; empty if there are none."""
    return b"".join(f"{name}\0{found[name]}\0".encode() for name in sorted(found))
