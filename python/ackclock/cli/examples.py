"""``ackclock examples``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ackclock import shared
from ackclock.cli.common import PATH, as_json, fail, refusals
from ackclock.tables.printed import print_examples

EXAMPLES = """\b
Examples:
  ackclock examples
  ackclock examples scenarios/bundle.toml --copy-to .
  ackclock examples papers/hoe-1995 captures --copy-to lab
"""


def _complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of examples, and of their folders."""
    every = shared.files()
    known = {*every, *(f"{folder}/" for folder in shared.folders(every))}
    depth = incomplete.count("/")
    return sorted(name for name in known if name.startswith(incomplete) and name[:-1].count("/") == depth)


@click.command(epilog=EXAMPLES)
@click.argument("name", nargs=-1, shell_complete=_complete, help="File or folder, as listed. Default: all.")
@click.option("--copy-to", type=PATH, metavar="DIR", help="Copy them into this folder. Existing files are kept.")
@as_json()
def examples(name: tuple[str, ...], copy_to: Path | None, as_json: bool) -> None:
    """List or copy what comes with Ackclock.

    These are scenarios, the papers' folders, plans, captures and conformance scripts.
    """
    with refusals():
        chosen = shared.chosen(name)
    if copy_to is None:
        _list(shared.about(chosen), as_json)
        return
    try:
        made, kept = shared.copy(chosen, copy_to)
    except OSError as error:
        fail(str(error), 1)
    if as_json:
        click.echo(json.dumps({"made": [str(path) for path in made], "kept": [str(path) for path in kept]}, indent=2))
        return
    left = f"; {len(kept)} existing ones are kept" if kept else ""
    said = str(made[0]) if len(made) == 1 else f"{len(made)} files in {copy_to}"
    click.echo(f"{said}: written{left}")


def _list(about: dict[str, str], as_json: bool) -> None:
    if as_json:
        rows = [{"name": name, "about": text} for name, text in about.items()]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return

    print_examples(about)
