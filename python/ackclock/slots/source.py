"""The hash of a class's source."""

from __future__ import annotations

import hashlib
import linecache
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from ackclock.late import inspect
from ackclock.slots.base import Outside
from ackclock.slots.imports import HiddenError, is_local, local_modules, whole

EXECUTED = "__ackclock_text__"
"""Attribute of a module loaded for a scenario: the text that was executed. Its file may have changed since.

For a local module that an algorithm imports, it is the text at the first import.
"""
HELPERS = "__ackclock_helpers__"
"""Attribute of a module loaded for a scenario: the texts of the local modules that it imports, by name."""
_KEPT = "__ackclock_source__"
"""Attribute of a class: its hash."""


def source_hash(cls: type[Outside]) -> str:
    """Hash of the source text that defines a class: 16 hexadecimal digits.

    It covers the files of the class and of its bases outside Ackclock, and all local modules that they import directly
    or indirectly, but not Python's library and installed packages. For a class defined in ``__main__``, as in a
    notebook, it covers the class, the functions, classes and constants of ``__main__`` that it uses, and the local
    modules behind them. A class sent with a task keeps its original hash.

    Args:
        cls: a subclass of one of the slots' base classes.

    Raises:
        ValueError: a local module has changed since it was imported, has no source, or has a name that is computed at
            run time.
    """
    kept = vars(cls).get(_KEPT)
    if isinstance(kept, str):
        return kept
    hashed = hashlib.sha256()
    helpers: dict[str, str] = {}
    for part in outside(cls):
        hashed.update(_text(part).encode() + b"\0")
        helpers |= local_modules_of(part)
    hashed.update(whole(helpers))
    return hashed.hexdigest()[:16]


def local_modules_of(cls: type) -> dict[str, str]:
    """The local modules that a class's file imports, by name; for a class of ``__main__`` also the objects it uses.

    Raises:
        HiddenError: see :func:`source_hash`.
    """
    module = sys.modules.get(cls.__module__)
    kept = getattr(module, HELPERS, None)
    if isinstance(kept, dict):
        return dict(kept)
    file = getattr(module, "__file__", None)
    if cls.__module__ == "__main__" or file is None:
        named = dict(_named(cls, set()))
        imported = "\n".join(f"import {name}" for name, text in named.items() if text is None)
        found = local_modules(imported, "", [])
        here = {f"__main__.{name}": text for name, text in named.items() if text is not None}
    else:
        package = str(getattr(module, "__package__", "") or "")
        found, here = local_modules(_text(cls), package, [str(Path(file).parent)]), {}
    for name, text in found.items():
        _check_unchanged(name, text)
    return found | here


def _check_unchanged(name: str, text: str) -> None:
    """Refuse a loaded module whose file has changed since it was first seen."""
    module = sys.modules.get(name)
    if module is None:
        return
    first = vars(module).setdefault(EXECUTED, text)
    if first != text:
        raise HiddenError(
            f"the local module {name}, which has changed since it was imported; reload it or restart Python"
        )


def _named(value: object, seen: set[int]) -> Iterator[tuple[str, str | None]]:
    """The objects that a class or function of ``__main__`` uses: their texts, and local modules without a text."""
    functions = [value] if isinstance(value, FunctionType) else [v for v in vars(value).values() if callable(v)]
    for function in functions:
        code = getattr(function, "__code__", None)
        scope = getattr(function, "__globals__", {})
        for name in _names(code) if isinstance(code, CodeType) else ():
            if name not in scope or id(scope[name]) in seen:
                continue
            seen.add(id(scope[name]))
            yield from _global(name, scope[name], seen)


def _global(name: str, value: object, seen: set[int]) -> Iterator[tuple[str, str | None]]:
    home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    if isinstance(value, FunctionType | type) and home == "__main__":
        yield name, _text_of(value)
        yield from _named(value, seen)
    elif isinstance(value, ModuleType | FunctionType | type) and isinstance(home, str) and is_local(home):
        yield home, None
    elif isinstance(value, bool | int | float | str | bytes | tuple | None):
        yield name, _shown(value)


def _names(code: CodeType) -> Iterator[str]:
    """The global names used in a function and in the functions that it defines."""
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _names(const)


def _text_of(value: FunctionType | type) -> str:
    """The source text of a function or class of ``__main__``, or its code if the text is unavailable."""
    try:
        return inspect.getsource(value)
    except (OSError, TypeError):
        return _code_text(value.__code__) if isinstance(value, FunctionType) else _own_text(value)


def keep_hash(cls: type[Outside]) -> None:
    """Store a class's hash in the class, so that it is pickled with it."""
    setattr(cls, _KEPT, source_hash(cls))


def outside(cls: type) -> list[type]:
    """The class and its bases that belong neither to Ackclock nor to Python."""
    ours = ("builtins", "abc", "typing", "ackclock")
    return [c for c in cls.__mro__ if c.__module__.partition(".")[0] not in ours]


def _text(cls: type) -> str:
    module = sys.modules.get(cls.__module__)
    executed = getattr(module, EXECUTED, None)
    if isinstance(executed, str):
        return executed
    file = getattr(module, "__file__", None)
    lines = linecache.getlines(file) if cls.__module__ != "__main__" and file is not None else []
    return "".join(lines) or _own_text(cls)


def _own_text(cls: type) -> str:
    """The text of a class; if unavailable, the text or the code of its functions."""
    try:
        return inspect.getsource(cls)
    except (OSError, TypeError):
        pass
    parts = []
    for name, value in sorted(vars(cls).items()):
        function = inspect.unwrap(value) if callable(value) else value
        code = getattr(function, "__code__", None)
        if code is None:
            if not name.startswith("__"):
                parts.append(f"{name} = {_shown(value)}")
            continue
        try:
            parts.append(inspect.getsource(code))
        except (OSError, TypeError):
            parts.append(_code_text(code))
    return "\n".join(parts)


def _shown(value: object) -> str:
    """A representation without parts that differ between processes: addresses, and the order of sets."""
    text = repr(sorted(map(repr, value))) if isinstance(value, set | frozenset) else repr(value)
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def _code_text(code: CodeType) -> str:
    consts = [_code_text(c) if isinstance(c, CodeType) else _shown(c) for c in code.co_consts]
    return f"{code.co_qualname} {code.co_code.hex()} {code.co_names} {code.co_varnames} {consts}"
