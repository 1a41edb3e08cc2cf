"""Commands that start quickly: each is loaded when it is called, and plain arguments are converted here.

Typer converts arguments with pydantic, whose import and set-up take longer than a short run. Here a text, a path, a
number or a choice is converted directly if its value is plainly valid. Anything else is left to Typer, so that errors
and their messages are Typer's.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, MutableMapping
from enum import Enum
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

_DIGITS = 18
"""The longest whole number that is converted here, in digits."""


class Unsure(Exception):  # noqa: N818 - no error: Typer converts the value
    """A value that is not plainly valid."""


class Kind(NamedTuple):
    """What a parameter takes, from its annotation."""

    type: Any
    """The type of one value."""
    about: Any
    """Typer's description of the parameter, or ``None``."""

    @classmethod
    def of(cls, annotation: object) -> Kind:
        """Read an annotation such as ``Annotated[list[str] | None, typer.Option(…)]``."""
        about = None
        if get_origin(annotation) is Annotated:
            annotation, about, *_ = get_args(annotation)
        some = [one for one in get_args(annotation) if one is not NoneType]
        if NoneType in get_args(annotation) and len(some) == 1:
            (annotation,) = some
        if get_origin(annotation) is list:
            (annotation,) = get_args(annotation)
        return cls(annotation, about)

    def one(self, value: object) -> object:
        """Convert one value.

        Raises:
            Unsure: it is not plainly valid.
        """
        if any(getattr(self.about, name, None) is not None for name in ("parser", "click_type")):
            raise Unsure
        if self.type is str and isinstance(value, str):
            return value
        if self.type is bool and isinstance(value, bool):
            return value
        if self.type is int:
            return self._whole(value)
        if self.type is Path and isinstance(value, str | Path):
            return self._path(value)
        if isinstance(self.type, type) and issubclass(self.type, Enum):
            return self._choice(value)
        raise Unsure

    def _whole(self, value: object) -> int:
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= _DIGITS:
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise Unsure
        least, most = getattr(self.about, "min", None), getattr(self.about, "max", None)
        if (least is not None and value < least) or (most is not None and value > most):
            raise Unsure
        return value

    def _path(self, value: str | Path) -> Path:
        checked = ("exists", "writable", "resolve_path", "allow_dash", "path_type")
        if any(getattr(self.about, name, None) for name in checked) or "\0" in str(value):
            raise Unsure
        if not (getattr(self.about, "file_okay", True) and getattr(self.about, "dir_okay", True)):
            raise Unsure
        if os.path.lexists(value) and not os.access(value, os.R_OK):
            raise Unsure
        return Path(value)

    def _choice(self, value: object) -> object:
        try:
            return self.type(value)
        except ValueError:
            raise Unsure from None


def quicken(parameter: Any, kind: Kind) -> None:  # noqa: ANN401 - its class depends on Typer's version
    """Let a parameter of a command convert plainly valid values without Typer."""
    thorough: Callable[[Any, Any], Any] = parameter.process_value
    several = parameter.multiple or parameter.nargs == -1

    def process_value(context: Any, value: Any) -> Any:  # noqa: ANN401 - as in Typer
        try:
            if value is None:
                found: Any = () if several else None
            elif several:
                if isinstance(value, str):
                    raise Unsure
                found = [kind.one(each) for each in value]
            else:
                found = kind.one(value)
        except Unsure:
            return thorough(context, value)
        if parameter.required and (found is None or (several and not found)):
            return thorough(context, value)
        return found if parameter.callback is None else parameter.callback(context, parameter, found)

    vars(parameter)["process_value"] = process_value


class Quick:
    """Converts plainly valid arguments of a command without Typer."""

    callback: Callable[..., Any] | None

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - as in Typer
        """Return the parameters, with the option for help."""
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        function = inspect.unwrap(self.callback) if self.callback else None
        hints = get_type_hints(function, include_extras=True) if function else {}
        for parameter in found:
            if "process_value" not in vars(parameter):
                # The options that Typer adds have no annotation; they are absent or true.
                quicken(parameter, Kind.of(hints.get(parameter.name, bool)))
        return found


class Command(Quick, TyperCommand):
    """A command."""


class Origin(NamedTuple):
    """Where a command, or a group of commands, is defined."""

    module: str
    name: str
    """Its function, or the ``Typer`` of a group."""
    examples: str | None = "EXAMPLES"
    """The text of its examples; ``None`` for a group."""


class Late(MutableMapping[str, Any]):
    """Commands by name, each loaded when it is looked up."""

    def __init__(self, origins: dict[str, Origin]) -> None:
        self._origins, self._loaded = origins, dict[str, Any]()

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - a command of Typer
        if name not in self._loaded:
            self._loaded[name] = _loaded(name, self._origins[name])
        return self._loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:  # noqa: ANN401 - a command of Typer
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._origins[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._origins)

    def __len__(self) -> int:
        return len(self._origins)


def _loaded(name: str, origin: Origin) -> Any:  # noqa: ANN401 - a command of Typer
    module = import_module(f"ackclock.cli.{origin.module}")
    around = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    around.callback()(lambda: None)
    found = getattr(module, origin.name)
    if origin.examples is None:
        around.add_typer(found, name=name)
    else:
        kind = getattr(module, "KIND", Command)
        around.command(name=name, epilog=getattr(module, origin.examples), cls=kind)(found)
    group: Any = get_command(around)
    return group.commands[name]


def group(origins: dict[str, Origin]) -> type[TyperGroup]:
    """The class of a group of commands that are defined elsewhere."""

    class Group(Quick, TyperGroup):
        def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - as in Typer
            super().__init__(**settings)
            self.commands = Late(origins)

    return Group
