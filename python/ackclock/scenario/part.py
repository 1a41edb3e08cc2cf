"""Base of all parts of a scenario: conversion to and from a table of a scenario file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from types import UnionType
from typing import Any, ClassVar, TypeAlias, get_args, get_origin, get_type_hints

from ackclock.document import natural
from ackclock.slots.base import Outside
from ackclock.slots.registry import Given
from ackclock.slots.registry import setting as in_words

Toml: TypeAlias = Any
"""A value that ``tomllib`` reads and ``tomli_w`` writes."""
KEYS = {"from_": "from", "flows": "flow"}
"""Attributes that have another name in a file."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Part:
    """A table of a scenario file. Attributes that are ``None`` are omitted there. Lists become tuples."""

    TAG: ClassVar[tuple[str, str] | None] = None
    """The key and the word that distinguish this table from the alternatives in a file."""

    def __post_init__(self) -> None:
        """Convert lists to tuples, so that the part cannot be changed."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Sequence) and not isinstance(value, str):
                object.__setattr__(self, field.name, tuple(value))

    def to_dict(self) -> dict[str, Any]:
        """Return the table as ``tomllib`` would read it."""
        table: dict[str, Any] = dict([self.TAG] if self.TAG else [])
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                at = f"{type(self).__name__}.{field.name}"
                table[KEYS.get(field.name, field.name)] = (
                    setting(value, at) if field.name == "set" else plain(value, at)
                )
        return table

    def __repr__(self) -> str:
        """The Python expression for the part, without omitted attributes."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in values if value is not None)})"


def plain(value: object, at: str) -> Toml:
    """Convert a value to TOML's types.

    Args:
        value: a part, a TOML value, or lists and tables of these.
        at: the place of the value, for the error.

    Raises:
        TypeError: the value is none of these.
    """
    if isinstance(value, Part):
        return value.to_dict()
    value = natural(value)
    if isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Given) or (isinstance(value, type) and issubclass(value, Outside)):
        return in_python(value)
    if isinstance(value, Mapping):
        return {str(key): plain(inner, f"{at}[{key!r}]") for key, inner in value.items()}
    if isinstance(value, Iterable):
        return [plain(inner, f"{at}[{i}]") for i, inner in enumerate(value)]
    raise TypeError(f"{at}: {value!r} cannot be written to a scenario file")


def setting(value: object, at: str) -> Toml:
    """Convert the content of ``set`` to TOML's types: parameters of stacks, and algorithms in Python."""
    if isinstance(value, Mapping):
        return {str(key): setting(inner, f"{at}[{key!r}]") for key, inner in value.items()}
    return plain(value, at)


def in_python(value: type[Outside] | Given) -> Toml:
    """Return the table with which a scenario names a class of this program."""
    return tomllib.loads(f"value = {in_words(value)}")["value"]


@cache
def attributes(part: type[Part]) -> dict[str, tuple[str, object]]:
    """The name and the type of each attribute of a part, by its key in a file."""
    types = get_type_hints(part)
    return {KEYS.get(f.name, f.name): (f.name, types[f.name]) for f in fields(part)}


def made(part: type[Part], table: Mapping[str, Any]) -> Part:
    """Build a part from a table that the native reader has validated."""
    known = attributes(part)  # type: ignore[arg-type] # mypy takes a class for its objects, whose hash may fail
    named = ((known[key], value) for key, value in table.items() if not part.TAG or key != part.TAG[0])
    return part(**{name: given(hint, value) for (name, hint), value in named})


def given(hint: object, value: Toml) -> Any:  # noqa: ANN401 - the type depends on the hint
    """Convert a value to the type in the hint."""
    choices = get_args(hint) if get_origin(hint) is UnionType else (hint,)
    if isinstance(value, Mapping):
        parts = [choice for choice in choices if isinstance(choice, type) and issubclass(choice, Part)]
        named = [part for part in parts if part.TAG is None or value.get(part.TAG[0]) == part.TAG[1]]
        return made(named[0], value) if named else value
    if isinstance(value, list):
        inner = next(get_args(choice)[0] for choice in choices if get_origin(choice) is Sequence)
        return tuple(given(inner, item) for item in value)
    return value
