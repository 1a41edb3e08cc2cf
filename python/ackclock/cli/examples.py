"""``ackclock examples``; the files are in ``ackclock.shared``, which is loaded when the command is called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ackclock.cli.common import fail, refusals

EXAMPLES = """\b
Examples:
  ackclock examples
  ackclock examples scenarios/bundle.toml --copy-to .
  ackclock examples papers/hoe-1995 captures --copy-to lab
"""


def _complete(incomplete: str) -> list[str]:
    """Names of examples, and of their folders."""
    from ackclock import shared  # noqa: PLC0415 - start-up time

    every = shared.files()
    known = {*every, *(f"{folder}/" for folder in shared.folders(every))}
    depth = incomplete.count("/")
    return sorted(name for name in known if name.startswith(incomplete) and name[:-1].count("/") == depth)


def examples(
    name: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="File or folder, as listed. Default: all.", autocompletion=_complete),
    ] = None,
    copy_to: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Copy them into this folder. Existing files are kept."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List or copy what comes with Ackclock: scenarios, the papers' folders, plans, captures, conformance scripts."""
    from ackclock import shared  # noqa: PLC0415 - start-up time

    with refusals():
        chosen = shared.chosen(name or [])
    if copy_to is None:
        _list(shared.about(chosen), as_json)
        return
    try:
        made, kept = shared.copy(chosen, copy_to)
    except OSError as error:
        fail(str(error), 1)
    if as_json:
        typer.echo(json.dumps({"made": [str(path) for path in made], "kept": [str(path) for path in kept]}, indent=2))
        return
    left = f"; {len(kept)} existing ones are kept" if kept else ""
    said = str(made[0]) if len(made) == 1 else f"{len(made)} files in {copy_to}"
    typer.echo(f"{said}: written{left}")


def _list(about: dict[str, str], as_json: bool) -> None:
    if as_json:
        rows = [{"name": name, "about": text} for name, text in about.items()]
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    from ackclock.tables.printed import print_examples  # noqa: PLC0415 - start-up time

    print_examples(about)
