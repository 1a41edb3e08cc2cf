"""The option ``--virtual``: the same command, within a kernel in virtual time."""

from __future__ import annotations

import functools
import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, cast

import click

from ackclock.cli.common import Decorator, Function
from ackclock.cli.live import run
from ackclock.kernels import INSIDE, boot, kept

GIVEN = "ackclock.given"
"""Where the arguments of such a command are kept."""


class Virtual(click.Command):
    """A command with the option ``--virtual``, which remembers its arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the arguments."""
        ctx.meta.setdefault(GIVEN, list(args))
        return super().parse_args(ctx, args)


def virtual(what: str, reads_input: Callable[[dict[str, Any]], bool]) -> Decorator:
    """The option ``--virtual`` of a command.

    Args:
        what: the name of its work, for the progress.
        reads_input: whether a call with these parameters reads standard input.
    """
    option = click.option(
        "--virtual",
        is_flag=False,
        flag_value="",
        metavar="[NAME]",
        shell_complete=complete_kernel,
        help="Run within this kernel of ackclock kernel list, in virtual time and without root.",
    )

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def here_or_within(*, virtual: str | None, **parameters: Any) -> object:  # noqa: ANN401 - the command's own
            if virtual is None or INSIDE in os.environ:
                return cast("Callable[..., object]", function)(**parameters)
            stdin = _input() if reads_input(parameters) else None
            raise click.exceptions.Exit(_within(virtual or None, what, stdin))

        return cast("Function", option(here_or_within))

    return decorate


def complete_kernel(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The names of kernels that begin so."""
    return [kernel.name for kernel in kept.every() if kernel.name.startswith(incomplete)]


def _within(name: str | None, what: str, stdin: BinaryIO | None) -> int:
    """Run the current command within a kernel; return its exit code."""
    context = click.get_current_context()
    words = [*_names(context), *context.meta[GIVEN]]
    with TemporaryDirectory(prefix="ackclock-virtual-") as folder, run(what) as progress:
        kernel = kept.find(name)
        click.echo(f"kernel: {kernel.name}, {kernel.in_a_line()}, in virtual time", err=True)
        command = boot.this_python(Path(folder, "ackclock.py"), "ackclock.cli.main", words)
        environment = {**os.environ, INSIDE: json.dumps(kernel.identity())}
        streams = boot.Streams(sys.stdout.buffer, sys.stderr.buffer, stdin)
        return boot.run(kernel, command, streams, environment=environment, progress=progress)


def _names(context: click.Context) -> list[str]:
    """The names of a command and of its groups, without the program's."""
    above = context.parent
    return [] if above is None else [*_names(above), context.info_name or ""]


def _input() -> BinaryIO | None:
    """Standard input if it is a file or a pipe; of nothing else is it certain that it ends."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return None
    return sys.stdin.buffer if stat.S_ISREG(mode) or stat.S_ISFIFO(mode) else None
