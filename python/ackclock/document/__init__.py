"""A TOML document that is read value by value, so that every invalid value is reported with its place."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite
from typing import Any

import tomli_w

from ackclock import _native
from ackclock.errors import ScenarioError

Value = Any
"""A value of TOML: text, integer, real number, true or false, list or table."""


def refusal(
    file: str, line: int | None, key: str | None, found: str, allowed: str, hint: str | None = None
) -> ScenarioError:
    """The error for these parts, worded like a scenario's errors."""
    message = file + (f":{line}" if line else "") + (f": key `{key}`" if key else "")
    message += f": found {found}, allowed: {allowed}" + (f"; did you mean {hint}?" if hint else "")
    return ScenarioError(message, file, line, key, found, allowed, hint)


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that was probably meant, in backquotes; ``None`` if there is none."""
    listed = list(candidates)
    found = get_close_matches(word, listed, 1, 0.6) or [c for c in listed if word and c.startswith(word)]
    return f"`{found[0]}`" if found else None


def quoted(key: str) -> str:
    """A key as written in a path; it is quoted if it contains dots."""
    return json.dumps(key, ensure_ascii=False) if "." in key else key


def written(value: Value) -> str:
    """A value as TOML on one line; ``tomli_w`` has this for single values only.

    Raises:
        TypeError: TOML has no such type, or the number is out of its range.
    """
    value = natural(value)
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_line(str(key), 0)[:-4]} = {written(v)}" for key, v in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return f"[{', '.join(map(written, value))}]"
    if (isinstance(value, int) and not -(2**63) <= value < 2**63) or (isinstance(value, float) and not isfinite(value)):
        raise TypeError(f"a table has no place for {value}")
    return _line("v", value)[4:]


def natural(value: Any) -> Any:  # noqa: ANN401 - any type
    """Convert a number or list of NumPy or Polars, or a range, to Python's; return other values unchanged."""
    if value is None or isinstance(value, str | bytes | bool | int | float | list | tuple | Mapping | type):
        return value
    if isinstance(value, range):
        return list(value)
    for way in ("item", "to_list", "tolist"):
        if hasattr(value, way) and not (way == "item" and getattr(value, "shape", ()) not in {(), None}):
            return getattr(value, way)()
    return value


def _line(key: str, value: Value) -> str:

    return tomli_w.dumps({key: value}).rstrip("\n")


@dataclass(frozen=True)
class Node:
    """A value of a document, and its place."""

    file: str
    lines: Mapping[str, int]
    """The line of every value, by its path."""
    path: str
    value: Value

    @classmethod
    def read(cls, file: str, text: str) -> Node:
        """Parse a TOML text and return the whole document.

        Raises:
            ScenarioError: the text is not TOML.
        """
        said = json.loads(_native.read_toml(file, text))
        return cls(file, said["lines"], "", said["value"])

    @property
    def line(self) -> int | None:
        """The line of the value; ``None`` for a value that was not read from a text."""
        return self.lines.get(self.path)

    @property
    def written(self) -> str:
        """The value as text, for a message."""
        if isinstance(self.value, Mapping):
            return "a table"
        if isinstance(self.value, list):
            return "a list"
        return written(self.value)

    def refuse(self, allowed: str, found: str | None = None, hint: str | None = None) -> ScenarioError:
        """Return the error that says that this value is not allowed here."""
        return refusal(self.file, self.line, self.path or None, found or self.written, allowed, hint)

    def table(self, what: str) -> dict[str, Node]:
        """The values of a table by key, in the order in which they were written.

        Raises:
            ScenarioError: it is not a table; ``what`` says what is allowed.
        """
        if not isinstance(self.value, Mapping):
            raise self.refuse(what)
        at = f"{self.path}." if self.path else ""
        return {key: Node(self.file, self.lines, f"{at}{quoted(key)}", v) for key, v in self.value.items()}

    def keys(self, known: Collection[str], what: str) -> dict[str, Node]:
        """The values of a table whose keys are fixed.

        Raises:
            ScenarioError: it is not a table, or has an unknown key.
        """
        table = self.table(what)
        for key, node in table.items():
            if key not in known:
                raise node.refuse(", ".join(known), "an unknown key", nearest(key, known))
        return table

    def items(self, what: str) -> list[Node]:
        """The values of a list.

        Raises:
            ScenarioError: it is not a list.
        """
        if not isinstance(self.value, list):
            raise self.refuse(what)
        return [Node(self.file, self.lines, f"{self.path}[{i}]", v) for i, v in enumerate(self.value)]

    def text(self, what: str) -> str:
        """The value as a text.

        Raises:
            ScenarioError: it is not a text.
        """
        if not isinstance(self.value, str):
            raise self.refuse(what)
        return self.value

    def whole(self, least: int, most: int) -> int:
        """The value as a whole number between two bounds, both included.

        Raises:
            ScenarioError: it is not such a number.
        """
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not least <= self.value <= most:
            raise self.refuse(f"a whole number from {least} to {most}")
        return self.value

    def truth(self) -> bool:
        """True or false.

        Raises:
            ScenarioError: it is neither.
        """
        if not isinstance(self.value, bool):
            raise self.refuse("true or false")
        return self.value
