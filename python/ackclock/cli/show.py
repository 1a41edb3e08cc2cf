"""``ackclock show``, ``new``, ``stacks`` and ``schema``: what a scenario says, and what it may say."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import click

from ackclock import _native
from ackclock.cli.common import PATH, allow_python, as_json, fail, refusals
from ackclock.cli.scenario import (
    complete_stack,
    first_seed,
    number_of_seeds,
    parameters,
    scenario_file,
    scenario_source,
    set_pairs,
)
from ackclock.document.permission import allowing

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
STARTER = "scenario.toml"
SCHEMA_EXAMPLES = "\b\nExamples:\n  ackclock schema > scenario.schema.json"


@click.command(epilog=SHOW_EXAMPLES)
@scenario_file
@click.option("--stack", metavar="NAME", shell_complete=complete_stack, help="Stack for every flow.")
@first_seed
@number_of_seeds
@parameters
@allow_python
def show(
    scenario: str,
    stack: str | None,
    seed: int | None,
    seeds: int | None,
    set_: tuple[str, ...],
    allow_python: bool,
) -> None:
    """Print a scenario with every default as equivalent TOML."""
    pairs, (file, text) = set_pairs(set_), scenario_source(scenario)
    with refusals(), allowing(allow_python):
        click.echo(_native.show_toml(file, text, stack, pairs, seed, seeds), nl=False)


@click.command(epilog=NEW_EXAMPLES)
@click.argument(
    "file", type=PATH, default="scenario.toml", help="File to create; - is standard output.  [default: scenario.toml]"
)
def new(file: Path) -> None:
    """Write a commented scenario to start from. An existing file is kept."""
    from ackclock import api  # noqa: PLC0415 - for this command alone

    if str(file) == "-":
        click.echo(api.starter(), nl=False)
        return
    try:
        api.new(file)
    except FileExistsError:
        fail(f"{file}: found a file, allowed: a name that does not exist yet")
    except OSError as error:
        fail(str(error), 1)
    click.echo(f"{file}: written; next: ackclock run {shlex.quote(str(file))}")


@click.command(epilog=STACKS_EXAMPLES)
@as_json()
def stacks(as_json: bool) -> None:
    """List the stacks. Each is a named combination of components."""
    result = _native.stacks_json()
    if as_json:
        click.echo(result)
    else:
        from ackclock.tables.printed import print_stacks  # noqa: PLC0415 - not with --json

        every: list[dict[str, Any]] = json.loads(result)
        print_stacks(every)


@click.command(epilog=SCHEMA_EXAMPLES)
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors.

    They complete keys with it, and check values.
    """
    click.echo(_native.schema_json(), nl=False)
