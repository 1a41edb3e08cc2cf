"""The paths of a plan: scenarios with some of their values changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import tomli_w

from ackclock import _native, files
from ackclock.captures.capture import capture
from ackclock.document import Node, Value, natural, refusal, written
from ackclock.errors import CaptureError, ScenarioError
from ackclock.runs.task import Task
from ackclock.runs.trial import carried, changed, unquoted
from ackclock.slots import Given, pickled
from ackclock.slots import setting as setting_of

OF_THE_STACK = "set."
"""Keys of ``set`` with this prefix are parameters of every flow's stack; the others are places in the scenario."""
KEYS = ("name", "scenario", "capture", "flow", "set")
Setting = tuple[tuple[str, str], ...]
"""Parameters of a stack and their values, in the form that ``--set`` takes."""


@dataclass(frozen=True)
class Seeds:
    """A range of consecutive seeds."""

    first: int
    count: int

    @property
    def last(self) -> int:
        """The last seed."""
        return self.first + self.count - 1


@dataclass(frozen=True)
class NetworkPath:
    """A scenario to run on, with the plan's changes."""

    name: str
    text: str
    """The scenario, as TOML."""
    set: Setting
    """The plan's parameters for every flow's stack on this path."""
    file: str
    """The name that error messages use for it."""

    def task(self, stack: str, tried: Setting, seeds: Seeds) -> Task:
        """The task with its runs for a setting of the stack's parameters."""
        options = (*self.set, *tried)
        every = (*options, *_native.own_parameters(stack))
        algorithms = pickled(self.text, every, Path(self.file).parent, self.file)
        return Task(self.file, self.text, stack, options, seeds.first, seeds.count, algorithms=algorithms)


def read_paths(node: Node, folder: Path, stack: str, everywhere: Mapping[str, Node]) -> tuple[NetworkPath, ...]:
    """Read the ``[[path]]`` tables of a plan.

    Args:
        node: the list of tables.
        folder: the folder to which scenario paths are relative.
        stack: the stack that every flow uses.
        everywhere: changes that the plan makes on every path.

    Raises:
        ScenarioError: a path is invalid.
    """
    paths: list[NetworkPath] = []
    for item in (items := node.items("tables [[path]]")):
        path = _path(item, folder, stack, everywhere)
        if path.name in {other.name for other in paths}:
            raise item.refuse("a different `name` for each path", f'"{path.name}" twice')
        paths.append(path)
    if not items:
        raise node.refuse("at least one table [[path]]", "none")
    return tuple(paths)


def _path(item: Node, folder: Path, stack: str, everywhere: Mapping[str, Node]) -> NetworkPath:
    table = item.keys(KEYS, "a table with `scenario` or `capture`, and `name` and `set`")
    if ("scenario" in table) == ("capture" in table):
        raise item.refuse("a table with `scenario`, the path of a scenario, or `capture`, the path of a capture to fit")
    if "flow" in table and "capture" not in table:
        raise table["flow"].refuse("`flow` only together with `capture`")
    file, original = (
        _fitted(table, folder) if "capture" in table else named_text(table["scenario"], folder, "a scenario")
    )
    here = table["set"].table("a table of places and values") if "set" in table else {}
    changes = {**everywhere, **here}
    own = tuple((k.removeprefix(OF_THE_STACK), setting(n.value)) for k, n in changes.items() if _own(k))
    in_the_plan = "scenario" in table and "\n" in table["scenario"].value
    stem = "scenario" if in_the_plan else Path(file).stem
    named = ", ".join([stem, *(f"{key} = {setting(node.value)}" for key, node in here.items())])
    name = table["name"].text("a name") if "name" in table else named
    path = NetworkPath(name, _changed(file, original, changes), own, file)
    try:
        path.task(stack, (), Seeds(1, 1)).identities()
    except ScenarioError as error:
        unread = unquoted(error, Node.read(file, original).value)
        raise _at_fault(unread, path, original, changes) from error
    return path


def _fitted(table: Mapping[str, Node], folder: Path) -> tuple[str, str]:
    """The name of a capture's file, and the scenario of the path fitted to it."""
    node = table["capture"]
    file = folder / node.text("the path of a capture")
    flow = table["flow"].text('a flow, as in "10.0.0.1:5001 > 10.0.0.2:80"') if "flow" in table else None
    try:
        return str(file), capture(file, flow=flow, densities=False).fit().scenario
    except (CaptureError, OSError, ValueError) as error:
        raise node.refuse("a capture of the sender's side to which a path can be fitted", f"{error}") from error


def with_measures(path: NetworkPath) -> NetworkPath:
    """The path with the measures of docs/measures.md enabled; they do not change its runs."""
    document: dict[str, Any] = Node.read(path.file, path.text).value
    if document["run"].get("measures"):
        return path
    document["run"] = document["run"] | {"measures": True}
    return replace(path, text=tomli_w.dumps(document))


def named_text(node: Node, folder: Path, what: str) -> tuple[str, str]:
    """The name that error messages use for a file named in a plan, and its text. Inline text is used unchanged.

    Raises:
        ScenarioError: the file does not exist, or is not a text.
    """
    said = node.text(f"the path of {what}")
    if "\n" in said:
        return node.path, said
    path = folder / said
    try:
        return str(path), files.text(path)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error.reason
        raise node.refuse(f"the path of {what}, relative to this file", f'"{said}" ({path}: {why})') from error


def _changed(file: str, original: str, changes: Mapping[str, Node]) -> str:
    """A scenario with some values changed and with the tables from the files it names included."""
    before: dict[str, Any] = Node.read(file, original).value
    document = before
    for key, node in changes.items():
        if not _own(key):
            try:
                document = changed(document, [(key, node.value)], file)
            except ScenarioError as error:
                raise node.refuse(error.allowed, error.found, error.hint) from error
    document = carried(document, Path(file).parent)
    # If nothing changes, the text is returned as written, so that line numbers in errors are correct.
    return original if document == before else tomli_w.dumps(document)


def _at_fault(error: ScenarioError, path: NetworkPath, original: str, changes: Mapping[str, Node]) -> ScenarioError:
    """Locate an error in a changed scenario: at the line of the plan that caused it, else in the scenario."""
    at = error.key or ""
    for key, node in changes.items():
        of_stack = at.removeprefix("--set ") == key.removeprefix(OF_THE_STACK) or at.startswith(f"{key}.")
        if of_stack or (at.startswith(key) and not _own(key)):
            return node.refuse(error.allowed, error.found, error.hint)
    try:
        line = Node.read(path.file, original).lines.get(at)
    except ScenarioError as unreadable:
        return unreadable
    return refusal(path.file, line, error.key, error.found, error.allowed, error.hint)


def source(given: str | PathLike[str] | Mapping[str, Value], what: str) -> tuple[str, str, Path | None]:
    """The name that error messages use for a plan, its text, and its folder if it is a file.

    Args:
        given: path of a plan, the text of one (a string with a line break), or its content as a dict.
        what: the name for a plan that is not a file.

    Raises:
        ScenarioError: the file cannot be read, or is not a text.
    """
    if isinstance(given, Mapping):
        return what, tomli_w.dumps(_plain(given)), None
    where = fspath(given)
    if "\n" in where:
        return "<text>", where, None
    try:
        return where, files.text(where), Path(where).parent
    except UnicodeDecodeError as error:
        raise refusal(where, None, None, error.reason, "text in UTF-8") from error
    except OSError as error:
        found = f"no readable file ({error.strerror})"
        raise refusal(where, None, None, found, f"the path of a {what} in TOML") from error


def needed(root: Node, table: Mapping[str, Node], key: str, allowed: str) -> Node:
    """Return the value of a required key.

    Raises:
        ScenarioError: the key is missing; ``allowed`` says which values it may have.
    """
    if key not in table:
        raise refusal(root.file, None, key, "nothing", allowed)
    return table[key]


def folder_name(node: Node | None, stem: str | None, default: str) -> str:
    """Return the folder name for a plan: its ``name``, else the name of its file, if that is a valid folder name.

    Raises:
        ScenarioError: the name is not valid for a folder.
    """
    allowed = "letters, digits and . _ + -, since it names a folder"
    name = stem or default if node is None else node.text(allowed)
    if re.fullmatch(r"[\w+-][\w.+-]*", name):
        return name
    if node is None:
        return default
    raise node.refuse(allowed)


def _plain(value: Value) -> Value:
    """Convert a plan to TOML values: scenarios made in Python become text, and algorithms the tables that name them."""
    value = natural(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, type | Given):
        return setting_of(value)
    to_toml = getattr(value, "to_toml", None)
    return to_toml() if callable(to_toml) else fspath(value) if isinstance(value, PathLike) else value


def setting(value: Value) -> str:
    """A TOML value in the form that ``--set`` takes."""
    return value if isinstance(value, str) else written(value)


def _own(key: str) -> bool:
    return key.startswith(OF_THE_STACK)
