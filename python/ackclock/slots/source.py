"""What a class's source hashes to."""

from __future__ import annotations

import hashlib
import linecache
import re
import sys
from types import CodeType

from ackclock.slots.base import Outside

EXECUTED = "__ackclock_text__"
"""Where a module that was loaded for a scenario keeps the text that was executed: its file may have changed since."""
_KEPT = "__ackclock_source__"
"""Where a class keeps its hash."""


def source_hash(cls: type[Outside]) -> str:
    """Hash of the source text that defines a class: 16 hexadecimal digits.

    It is taken over the whole files of the class and of its bases outside Ackclock; over the class alone if it was
    defined in ``__main__``, as in a notebook. Modules that such a file imports are not in it. A class that came with a
    task keeps the hash that it had where it came from.

    Args:
        cls: a subclass of one of the slots' base classes.
    """
    kept = vars(cls).get(_KEPT)
    if isinstance(kept, str):
        return kept
    hashed = hashlib.sha256()
    for part in outside(cls):
        hashed.update(_text(part).encode() + b"\0")
    return hashed.hexdigest()[:16]


def keep_hash(cls: type[Outside]) -> None:
    """Write a class's hash into it, so that it goes where the class goes."""
    setattr(cls, _KEPT, source_hash(cls))


def outside(cls: type) -> list[type]:
    """The class and its bases that are neither Ackclock's nor Python's."""
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
    """The text of a class by itself; without one, that of its functions, and where that is not known their code."""
    import inspect  # noqa: PLC0415 - start-up time

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
    """A value without what is another one in each process: its address, a set's order."""
    text = repr(sorted(map(repr, value))) if isinstance(value, set | frozenset) else repr(value)
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def _code_text(code: CodeType) -> str:
    consts = [_code_text(c) if isinstance(c, CodeType) else _shown(c) for c in code.co_consts]
    return f"{code.co_qualname} {code.co_code.hex()} {code.co_names} {code.co_varnames} {consts}"
