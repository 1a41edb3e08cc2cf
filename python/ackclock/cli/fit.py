"""``ackclock capture --fit`` and ``--what-if``: the path that explains a capture, and other senders on it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from ackclock.captures.capture import ends
from ackclock.captures.fitting import Fit, WhatIf, fit
from ackclock.captures.tables import print_fit, print_what_if
from ackclock.cli.common import fail, refusals


def command_fit(
    files: Sequence[str],
    at: str | None,
    flow: str | None,
    limit: int,
    to: Path | None,
    question: tuple[Sequence[str] | None, str, int],
    as_json: bool,
) -> None:
    """Fit a path; write it into ``to``; run it with the stacks in the question, if any.

    Args:
        files: captures.
        at: where they were captured.
        flow: the requested connection.
        limit: the largest number of connections in memory.
        to: file for the scenario.
        question: stacks to try (``None``: no prediction), the stack of the capture's sender, and the number of seeds.
        as_json: print JSON.
    """
    stacks, as_, seeds = question
    if stacks is not None and not stacks:
        fail("command line: key `--what-if`: found no --stack, allowed: at least one; `ackclock stacks` lists them")
    with refusals():
        try:
            found = fit(files, at=at, flow=ends(flow), limit=limit, stack=as_)
            if to is not None:
                found.write(to)
            answer = None if stacks is None else found.what_if(stacks, as_=as_, seeds=seeds)
        except ValueError as error:
            if type(error) is not ValueError:
                raise
            fail(str(error))
    if as_json:
        result = {"fit": found.to_dict()} | ({} if answer is None else {"what_if": answer.to_dict()})
        click.echo(json.dumps(result, indent=2))
        return
    _print(found)
    if to is not None:
        click.echo(f"{to}: written; next: ackclock run {to}")
    if answer is not None:
        _answer(answer)


def _print(found: Fit) -> None:

    print_fit(found)
    for line in found.disagreements:
        click.echo(f"The flows disagree: {line}.")


def _answer(answer: WhatIf) -> None:

    print_what_if(answer)
    for sentence in answer.sentences:
        click.echo(sentence)
