"""Groups of commands that are loaded when they are called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import click


class Origin(NamedTuple):
    """Where a command is defined, and what the group's help says about it."""

    module: str
    """Its module in ``ackclock.cli``."""
    name: str
    about: str
    """The first sentence of its own help."""


class Ordered(click.Group):
    """A group whose help lists the commands in the order of their definition."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in this order."""
        return list(self.commands)


class Lazy(Ordered):
    """A group whose help and completion load none of its commands."""

    def __init__(self, name: str, origins: Mapping[str, Origin], **settings: Any) -> None:  # noqa: ANN401 - Click's
        """Make a group of the commands with these names, in this order."""
        placeholders = {name: click.Command(name, short_help=origin.about) for name, origin in origins.items()}
        super().__init__(name, commands=placeholders, **settings)
        self._origins = origins

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Load the command that is called."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is None or command is None:
            return name, command, rest
        module, function, _ = self._origins[name]
        return name, getattr(import_module(f"ackclock.cli.{module}"), function), rest
