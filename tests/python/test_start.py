"""What the package and the command load when they start, and how the command converts its arguments."""

from __future__ import annotations

import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.core import TyperCommand
from typer.testing import CliRunner

from ackclock.cli.command import Command
from ackclock.cli.main import COMMANDS

SLOW = ("matplotlib", "numpy", "polars", "pyarrow", "pydantic", "pydantic_core", "sqlite3")
"""Packages that take longer to load than a short run."""


def loaded(code: str) -> set[str]:
    """The modules that are loaded after this code has run in a fresh interpreter."""
    show = "import sys; sys.stdout.flush(); print('|'.join(['', *sys.modules]))"
    full = f"import atexit\natexit.register(lambda: exec({show!r}))\n{code}"
    done = subprocess.run([sys.executable, "-c", full], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split("|")[1:])


def command(*words: str) -> str:
    """Code that does what the program does with these words on its command line."""
    return f"import sys; sys.argv = ['ackclock', *{list(words)!r}]\nfrom ackclock.__main__ import main\nmain()"


def slow(found: set[str], *more: str) -> list[str]:
    """The loaded modules that are slow, or begin with one of these names."""
    return sorted(name for name in found if name.split(".")[0] in SLOW or name.startswith(more or ("ackclock.none",)))


def test_the_import_loads_nothing_that_a_first_call_does_not_need() -> None:
    found = loaded("import ackclock")
    assert slow(found, "typer", "rich", "json", "inspect", "dataclasses") == []
    own = {name for name in found if name.startswith("ackclock")}
    assert own == {"ackclock", "ackclock._native", "ackclock.arena", "ackclock.study", "ackclock.sweep"}


def test_the_version_is_printed_without_the_parser() -> None:
    found = loaded(command("--version"))
    assert slow(found, "typer", "rich", "json", "inspect", "dataclasses", "ackclock.cli") == []


def test_a_run_loads_its_own_command_alone_and_converts_arguments_without_pydantic(short: Path) -> None:
    found = loaded(command("run", str(short), "--json", "--stack", "reno", "--seeds", "2", "--set", "rto.tick=500ms"))
    assert slow(found, "rich", "ackclock.api", "ackclock.tables.printed", "ackclock.result") == []
    used = {name.removeprefix("ackclock.") for name in found if name.startswith("ackclock.cli.")}
    assert used == {"cli.main", "cli.output", "cli.command", "cli.common", "cli.run", "cli.scenario"}
    assert slow(loaded(command("run", str(short)))) == []


def test_the_package_lists_every_name_and_loads_each() -> None:
    import ackclock  # noqa: PLC0415 - the subject

    assert set(ackclock.__all__) <= set(dir(ackclock))
    assert [name for name in ackclock.__all__ if getattr(ackclock, name, None) is None] == []
    assert callable(ackclock.sweep)
    assert callable(ackclock.study)


class Colour(StrEnum):
    """A choice."""

    RED = "red"
    BLUE = "blue"


def sample(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    more: Annotated[list[str] | None, typer.Argument()] = None,
    number: Annotated[int | None, typer.Option(min=1, max=9)] = None,
    ratio: Annotated[float, typer.Option()] = 0.5,
    file: Annotated[Path | None, typer.Option()] = None,
    old: Annotated[Path | None, typer.Option(exists=True)] = None,
    word: Annotated[list[str], typer.Option()] = [],  # noqa: B006 - Typer copies it
    folder: Annotated[list[Path], typer.Option()] = [],  # noqa: B006 - Typer copies it
    colour: Annotated[Colour, typer.Option()] = Colour.RED,
    flag: Annotated[bool, typer.Option("--flag")] = False,
) -> None:
    """A command with every kind of parameter."""
    typer.echo(repr((name, more, number, ratio, file, old, word, folder, colour, flag)))


@pytest.mark.parametrize(
    "words",
    [
        ["a"],
        ["a", "b", "c", "--word", "x", "--word", "y=z", "--flag"],
        [""],
        [],
        ["a", "--number", "1"],
        ["a", "--number", "10"],
        ["a", "--number", "0"],
        ["a", "--number", "-3"],
        ["a", "--number", "+3"],
        ["a", "--number", " 3"],
        ["a", "--number", "٣"],
        ["a", "--number", "3.0"],
        ["a", "--number", "3.5"],
        ["a", "--number", "00000000000000000000000000000001"],
        ["a", "--number", "many"],
        ["a", "--ratio", "1e-3"],
        ["a", "--ratio", "half"],
        ["a", "--file", "missing/file"],
        ["a", "--file", ""],
        ["a", "--file", "-"],
        ["a", "--file", "/"],
        ["a", "--old", "missing"],
        ["a", "--old", "/"],
        ["a", "--folder", "x", "--folder", "./x/"],
        ["a", "--colour", "blue"],
        ["a", "--colour", "BLUE"],
        ["a", "--colour", "green"],
        ["a", "--unknown"],
        ["--help"],
    ],
)
def test_a_value_converted_here_equals_typers_and_errors_are_typers(words: list[str]) -> None:
    said: list[tuple[int, str]] = []
    for kind in (TyperCommand, Command):
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(cls=kind)(sample)
        done = CliRunner().invoke(app, words)
        said.append((done.exit_code, done.output))
    assert said[0] == said[1]
    assert (said[0][0] == 2) == ("Error: " in said[0][1])


def test_every_command_is_in_the_help_in_order_and_can_be_loaded() -> None:
    done = subprocess.run([sys.executable, "-m", "ackclock", "--help"], capture_output=True, text=True, check=True)
    listed = [line.split()[0] for line in done.stdout.partition("Commands:\n")[2].splitlines() if line[2:3].strip()]
    assert [name for name in listed if name in COMMANDS] == list(COMMANDS)


def test_a_mistyped_command_is_answered_with_the_nearest_one() -> None:
    done = subprocess.run([sys.executable, "-m", "ackclock", "rnu"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("ackclock: command line: No such command 'rnu'. Did you mean 'run'?; see ")
