"""The answer of a study on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.study.page import cells, head
from ackclock.study.words import sentences
from ackclock.tables.terminal import console, empty_table

if TYPE_CHECKING:
    from ackclock.study.found import Found


def show(found: Found) -> None:
    """Print the question, the answer in sentences, and the ranking on each path."""
    out = console()
    out.print(found.question.question, style="bold", markup=False)
    for sentence in sentences(found):
        out.print(f"- {sentence}", markup=False, soft_wrap=True)
    for part in found.parts:
        heads = head(found)
        table = empty_table(heads, left={heads[1]}, title=part.name)
        for row in cells(found, part):
            table.add_row(*row)
        out.print()
        out.print(table)
