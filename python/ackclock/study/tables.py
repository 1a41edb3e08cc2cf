"""The answer of a study on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table

from ackclock.study.page import cells, head
from ackclock.study.words import sentences
from ackclock.tables.printed import console

if TYPE_CHECKING:
    from ackclock.study.found import Found


def show(found: Found) -> None:
    """Print the question, the answer in sentences, and the ranking on each path."""
    out = console()
    out.print(found.question.question, style="bold", markup=False)
    for sentence in sentences(found):
        out.print(f"- {sentence}", markup=False, soft_wrap=True)
    for part in found.parts:
        table = Table(title=part.name, box=SIMPLE_HEAD, show_edge=False, pad_edge=False, title_justify="left")
        for at, title in enumerate(head(found)):
            table.add_column(title, justify="left" if at == 1 else "right")
        for row in cells(found, part):
            table.add_row(*row)
        out.print()
        out.print(table)
