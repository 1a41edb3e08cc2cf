"""How tables look on a terminal. Imported late, because rich takes longer to load than a short run."""

from __future__ import annotations

from collections.abc import Container, Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

PIPE_WIDTH = 200


def console(stderr: bool = False) -> Console:
    """Standard output, or standard error; output into a pipe is not cut to a terminal's width."""
    console = Console(highlight=False, stderr=stderr)
    return console if console.is_terminal else Console(highlight=False, width=PIPE_WIDTH, stderr=stderr)


def empty_table(heads: Iterable[str], left: Container[str], *, title: str | None = None) -> Table:
    """A table without rows. In a narrow terminal its cells are folded, not cut.

    Args:
        heads: what stands above each column.
        left: the heads of the columns that are aligned to the left; the others hold numbers.
        title: what stands above the table.
    """
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for head in heads:
        table.add_column(head, justify="left" if head in left else "right", overflow="fold")
    return table
