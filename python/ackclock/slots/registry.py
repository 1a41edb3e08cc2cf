"""Finds the class that a scenario names: by its file, by its name in this program, or among those sent with a task."""

from __future__ import annotations

import difflib
import hashlib
import json
import sys
import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import invalidate_caches
from pathlib import Path
from types import ModuleType
from typing import Any

from ackclock import files
from ackclock.document import written
from ackclock.document.permission import allowed_instead
from ackclock.late import inspect
from ackclock.slots.base import Outside
from ackclock.slots.bases import BASES, Element
from ackclock.slots.imports import HiddenError, find_spec, local_modules, whole
from ackclock.slots.source import EXECUTED, HELPERS, source_hash

_TOLD = "only imports of modules whose source is known before the run"
_ALLOWED = '"file.py:Class", with the file relative to the scenario file'
_MSS = 1460
_of_program: dict[str, type[Outside]] = {}
"""Classes of this program by their content-addressed sources."""
_sent = threading.local()
"""Classes sent with the task that this thread is running, by their sources as written."""


class RefusedError(Exception):
    """The reason why the table of a slot is invalid; the caller adds the place."""

    def __init__(self, key: str | None, found: str, allowed: str, hint: str | None = None) -> None:
        """Keep the parts of the message."""
        super().__init__(f"found {found}, allowed: {allowed}")
        self.key = key
        self.found = found
        self.allowed = allowed
        self.hint = hint


@dataclass(frozen=True)
class Given:
    """A class with its parameters, as a value for ``set``; made by :func:`given`."""

    algorithm: type[Outside]
    parameters: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """The engine's description of an algorithm."""

    make: Callable[[int], Outside]
    cls: type[Outside]
    base: type[Outside]
    name: str
    shown: str
    identity: int


Value = str | bool | int | float | Sequence["Value"] | Mapping[str, "Value"] | type[Outside] | Given
"""Values allowed in ``set``: see :func:`setting`."""


def given(algorithm: type[Outside], **parameters: object) -> Given:
    """A class with values for its parameters, for ``set``.

    Args:
        algorithm: a subclass of one of the base classes.
        parameters: its keyword arguments: numbers, texts, booleans, and lists or tables of them.
    """
    return Given(algorithm, parameters)


Chosen = str | tuple[str, Mapping[str, Value]]
"""A stack for every flow: its name, with its parameters as text or as a mapping."""


def setting(value: object) -> str:
    """Convert a value of ``set`` to the text that ``--set`` takes.

    Args:
        value: a text, which is kept; a subclass of a slot's base class, which is registered; a :func:`given` class;
            or a number, a boolean, a list or a mapping, which becomes TOML. Numbers and arrays of NumPy, and ranges,
            count as numbers and lists.

    Raises:
        TypeError: TOML has no such type, or the number is out of its range.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, type) and issubclass(value, Outside):
        value = Given(value)
    if isinstance(value, Given):
        source = f"#{source_hash(value.algorithm)}:{value.algorithm.__qualname__}"
        _of_program[source] = value.algorithm
        value = {"kind": "python", "source": source} | dict(value.parameters)
    try:
        return written(value)
    except TypeError as error:
        raise TypeError(
            f"found {value!r}, allowed: a text, a number, a boolean, a list, a mapping, or an algorithm's class"
        ) from error


def chosen(stack: Chosen) -> str:
    """Convert a stack to the text that ``--stack`` takes: a name, followed by its parameters separated by commas.

    >>> from ackclock.slots import chosen
    >>> chosen(("rack-tlp", {"rto.min": "200 ms", "options.timestamps": False}))
    'rack-tlp,rto.min=200 ms,options.timestamps=false'

    Args:
        stack: such a text; or a name and parameters by path, for this stack only.

    Raises:
        TypeError: it is neither, or :func:`setting` does not accept a value.
    """
    if isinstance(stack, str):
        return stack
    try:
        name, own = stack
        parameters = [f"{path}={_quoted(setting(value), value)}" for path, value in own.items()]
    except (AttributeError, ValueError):
        allowed = "the name of a stack, or a name and a mapping of parameters"
        raise TypeError(f"found {stack!r}, allowed: {allowed}") from None
    return ",".join([name, *parameters])


def _quoted(text: str, value: object) -> str:
    """Quote a text that is not TOML, if part of it could be read as the end of the value."""
    if not isinstance(value, str) or not set(text) & set(",\"'[]{}"):
        return text
    try:
        tomllib.loads(f"v = {text}")
    except tomllib.TOMLDecodeError:
        return written(text)
    return text


def register(source: str, cls: type[Outside]) -> None:
    """Make ``source`` name a class in scenarios of this program, whatever files exist."""
    _of_program[source] = cls


@contextmanager
def sent(classes: Mapping[str, type[Outside]]) -> Iterator[None]:
    """Make these sources name these classes, on this thread and in this block."""
    before: Mapping[str, type[Outside]] = getattr(_sent, "classes", {})
    _sent.classes = {**before, **classes}
    try:
        yield
    finally:
        _sent.classes = before


def resolve(slot: str, table: str, folder: Path) -> Found:
    """Find the algorithm for a slot; called by the engine.

    Args:
        slot: path of the slot in a stack, as in ``detect.threshold``, or ``element``.
        table: the slot's value as JSON: ``kind``, ``source`` and the class's parameters.
        folder: the folder to which files are relative.

    Raises:
        RefusedError: there is no such class, or it does not fit this slot or these parameters.
    """
    parameters: dict[str, Any] = json.loads(table)
    del parameters["kind"]
    source = parameters.pop("source", None)
    if not isinstance(source, str):
        raise RefusedError("source", "nothing" if source is None else repr(source), _ALLOWED)
    cls = find(source, folder)
    base = BASES[slot]
    if not issubclass(cls, base):
        mine = next((b for b in BASES.values() if issubclass(cls, b)), None)
        what = f"`{cls.__name__}`, a subclass of ackclock.{(mine or Outside).__name__}"
        raise RefusedError("source", what, f"a subclass of ackclock.{base.__name__}")
    _check_methods(cls, base)
    if issubclass(cls, Element):
        _check_declared(cls)
    _check_parameters(cls, parameters)
    make = partial(create, cls, parameters)
    try:
        make(_MSS)
    except (Exception, SystemExit) as error:
        found = f"{type(error).__name__}: {_line(error)}"
        raise RefusedError(None, found, f"parameters that `{cls.__name__}` accepts") from error
    try:
        what = json.dumps([source_hash(cls), cls.__qualname__, parameters], sort_keys=True)
    except HiddenError as error:
        raise RefusedError("source", f"`{cls.__name__}`, which imports {error}", _TOLD) from error
    identity = int.from_bytes(hashlib.sha256(what.encode()).digest()[:8])
    file = "" if source.startswith("#") else f"{Path(source.rpartition(':')[0]).name}:"
    return Found(make, cls, base, cls.__qualname__, f"{file}{cls.__qualname__}", identity)


def create(cls: type[Outside], parameters: Mapping[str, Any], given: int) -> Outside:
    """Create an object; the attribute named by ``GIVEN`` is set before ``__init__`` runs."""
    made = cls.__new__(cls)
    setattr(made, cls.GIVEN, given)
    cls.__init__(made, **parameters)
    return made


def find(source: str, folder: Path) -> type[Outside]:
    """Return the class that a source names.

    Raises:
        RefusedError: there is none; or it is in a file, and the user has not permitted Python.
    """
    for known in (getattr(_sent, "classes", {}), _of_program):
        if source in known:
            cls: type[Outside] = known[source]
            return cls
    shown = json.dumps(source, ensure_ascii=False)
    if source.startswith("#"):
        raise RefusedError("source", shown, f"a class that this program has defined; in a file: {_ALLOWED}")
    file, colon, name = source.rpartition(":")
    if not (colon and file and name.replace(".", "").isidentifier()):
        raise RefusedError("source", shown, _ALLOWED)
    if (allowed := allowed_instead()) is not None:
        raise RefusedError("source", f"the Python of {shown}", allowed)
    module = _load(folder / file, file)
    found: object = module
    for step in name.split("."):
        found = getattr(found, step, None)
    if isinstance(found, type) and issubclass(found, Outside):
        return found
    names = [k for k, v in vars(module).items() if isinstance(v, type) and issubclass(v, Outside) and _is_of(module, v)]
    allowed = f"one of the classes {', '.join(names)}" if names else "a class that is a subclass of one of ackclock's"
    near = difflib.get_close_matches(name, names, 1)
    what = f"no class `{name}` in {file}" if found is None else f"`{name}`, which is not an algorithm"
    raise RefusedError("source", what, allowed, f'"{file}:{near[0]}"' if near else None)


def _is_of(module: ModuleType, cls: type) -> bool:
    return cls.__module__ == module.__name__


def _load(path: Path, file: str) -> ModuleType:
    """Load the module in a file; its name depends on its path and its content."""
    try:
        text = files.read(path)
    except OSError as error:
        raise RefusedError("source", f"no readable file {file} ({error.strerror})", _ALLOWED) from error
    where = path.resolve()
    try:
        helpers = local_modules(text.decode(errors="replace"), "", [str(where.parent)])
    except HiddenError as error:
        raise RefusedError("source", f"{file}, which imports {error}", _TOLD) from error
    key = hashlib.sha256(bytes(where) + b"\0" + text + whole(helpers)).hexdigest()[:16]
    if key not in _loaded:
        _loaded[key] = _execute(where, key, text, file, helpers)
    return _loaded[key]


_loaded: dict[str, ModuleType] = {}
"""Modules of algorithms, by a hash over their path, their text and the texts of the local modules that they import."""


def _execute(path: Path, key: str, text: bytes, file: str, helpers: dict[str, str]) -> ModuleType:
    module = ModuleType(f"ackclock_algorithm_{path.stem}_{key}")
    module.__file__ = str(path)
    setattr(module, EXECUTED, text.decode(errors="replace"))
    setattr(module, HELPERS, helpers)
    sys.modules[module.__name__] = module
    _forget_others(helpers, path.parent)
    sys.path.insert(0, str(path.parent))
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        exec(compile(text, str(path), "exec"), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        line = _line_of(error, path)
        at = "" if line is None else f" in line {line}"
        raise RefusedError(
            "source", f"{type(error).__name__}: {_line(error)}{at} of {file}", "a file that loads"
        ) from error
    finally:
        sys.path.remove(str(path.parent))
        sys.dont_write_bytecode = writes
    for name, helper in helpers.items():
        if name in sys.modules:
            vars(sys.modules[name]).setdefault(EXECUTED, helper)
    return module


def _forget_others(helpers: Mapping[str, str], folder: Path) -> None:
    """Make the imports of a file find its own local modules in their present state, not modules loaded for others."""
    invalidate_caches()
    for name, text in helpers.items():
        loaded = sys.modules.get(name)
        spec = find_spec(name, [str(folder), *sys.path])
        same = loaded is not None and spec is not None and getattr(loaded, "__file__", None) == spec.origin
        if loaded is not None and not (same and getattr(loaded, EXECUTED, text) == text):
            del sys.modules[name]


def _line_of(error: BaseException, path: Path) -> int | None:
    """The line of a file where an error occurred; ``None`` if it occurred elsewhere."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno
    line, frame = None, error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == str(path):
            line = frame.tb_lineno
        frame = frame.tb_next
    return line


def _line(error: BaseException) -> str:
    """The message of an error, on one line."""
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    return " ".join(said.split())


def _check_methods(cls: type[Outside], base: type[Outside]) -> None:
    """Refuse a class that lacks a method, or has one that would never be called."""
    lacks = sorted(getattr(cls, "__abstractmethods__", ()))
    if lacks:
        raise RefusedError(
            "source",
            f"`{cls.__name__}` without the method `{lacks[0]}`",
            f"a class with this method, as ackclock.{base.__name__} requires",
        )
    known = [name for name in dir(base) if not name.startswith("_")]
    for name in dir(cls):
        if name.startswith("on_") and name not in known:
            near = difflib.get_close_matches(name, known, 1)
            allowed = ", ".join(n for n in known if callable(getattr(base, n)))
            raise RefusedError(
                "source",
                f"`{cls.__name__}` with a method `{name}`, which is never called",
                f"methods of ackclock.{base.__name__}: {allowed}",
                f"`{near[0]}`" if near else None,
            )


def _check_declared(cls: type[Element]) -> None:
    """Refuse a class with a declaration that is neither True nor False."""
    for name in ("delays", "reorders", "loses", "duplicates"):
        value = getattr(cls, name)
        if not isinstance(value, bool):
            raise RefusedError("source", f"`{cls.__name__}` with {name} = {value!r}", "True or False")


def _check_parameters(cls: type[Outside], parameters: Mapping[str, object]) -> None:
    """Refuse unknown parameters, and missing ones that are required."""
    own = cls.__init__ is not object.__init__
    takes = dict(list(inspect.signature(cls.__init__).parameters.items())[1:]) if own else {}
    if any(p.kind is p.VAR_KEYWORD for p in takes.values()):
        return
    named = {name: p for name, p in takes.items() if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    for name in parameters:
        if name not in named:
            allowed = (
                f"one of the parameters {', '.join(named)}" if named else f"no parameter: `{cls.__name__}` has none"
            )
            near = difflib.get_close_matches(name, named, 1)
            raise RefusedError(name, f"an unknown parameter `{name}`", allowed, f"`{near[0]}`" if near else None)
    for name, p in named.items():
        if p.default is p.empty and name not in parameters:
            raise RefusedError(name, "nothing", f"a value: `{cls.__name__}` has no default for `{name}`")
