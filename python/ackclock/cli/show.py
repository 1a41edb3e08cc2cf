"""``ackclock show``, ``new``, ``stacks`` and ``schema``: what a scenario says, and what it may say."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from ackclock import _native
from ackclock.cli.common import AllowPython, fail, refusals
from ackclock.cli.scenario import Scenario, Seed, Seeds, Set, complete_stack, scenario_source, set_pairs
from ackclock.permission import allowing

SHOW_EXAMPLES = """\b
Examples:
  ackclock show paths.toml
  ackclock show paths.toml --stack dsack-avg > all.toml
"""
NEW_EXAMPLES = """\b
Examples:
  ackclock new
  ackclock new swaps.toml
  ackclock new - | ackclock run -
"""
STACKS_EXAMPLES = "\b\nExamples:\n  ackclock stacks\n  ackclock stacks --json"
SCHEMA_EXAMPLES = "\b\nExamples:\n  ackclock schema > scenario.schema.json"


def show(
    scenario: Scenario,
    stack: Annotated[
        str | None, typer.Option(help="Stack for every flow.", autocompletion=complete_stack, metavar="NAME")
    ] = None,
    seed: Seed = None,
    seeds: Seeds = None,
    set_: Set = [],  # noqa: B006 - Typer copies it
    allow_python: AllowPython = False,
) -> None:
    """Print a scenario with every default as equivalent TOML."""
    pairs, (file, text) = set_pairs(set_), scenario_source(scenario)
    with refusals(), allowing(allow_python):
        typer.echo(_native.show_toml(file, text, stack, pairs, seed, seeds), nl=False)


def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to create; - is standard output.")] = Path(
        "scenario.toml"
    ),
) -> None:
    """Write a commented scenario to start from. An existing file is kept."""
    from ackclock import api  # noqa: PLC0415 - start-up time

    if str(file) == "-":
        typer.echo(api.starter(), nl=False)
        return
    try:
        api.new(file)
    except FileExistsError:
        fail(f"{file}: found a file, allowed: a name that does not exist yet")
    except OSError as error:
        fail(str(error), 1)
    typer.echo(f"{file}: written; next: ackclock run {shlex.quote(str(file))}")


def stacks(as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False) -> None:
    """List the stacks. Each is a named combination of components."""
    result = _native.stacks_json()
    if as_json:
        typer.echo(result)
    else:
        from ackclock.tables.printed import print_stacks  # noqa: PLC0415 - start-up time

        every: list[dict[str, Any]] = json.loads(result)
        print_stacks(every)


def schema() -> None:
    """Print the JSON Schema of scenario files, for completion and checks in editors."""
    typer.echo(_native.schema_json(), nl=False)
