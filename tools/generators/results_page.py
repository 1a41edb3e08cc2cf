"""docs/results.md: the rows that Rust describes, and then the board of the arena and the measures of studies."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from ackclock.arena.scores import COLUMNS, Score
from ackclock.study.measure import MEASURES

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/results.md"
BOARD = """
## A stack on the arena's board

JSON of [`ackclock arena`](arena.md): `board[]`. Attributes of `ackclock.arena.scores.Score`.

{about}

| column | in tables | meaning |
| --- | --- | --- |
{rows}
"""
STUDY = """
## Measures of a study

Keys of `measure` and `beside` in the file of a [study](studies.md).

| key | in tables | meaning | better | compared by |
| --- | --- | --- | --- | --- |
{rows}
"""


def files() -> Iterator[tuple[Path, str]]:
    """Yield the page and its text."""
    command = ["cargo", "run", "--quiet", "--locked", "--example", "results_page", "--", "page"]
    rust = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    board = [f"| `{name}` | {one.heading} | {one.meaning} |" for name, one in COLUMNS.items()]
    study = [
        f"| `{one.key}` | {one.title} | {one.meaning} | {'more' if one.more_is_better else 'less'} | "
        f"{'ratio' if one.relative else 'difference'} |"
        for one in MEASURES.values()
    ]
    about = " ".join((Score.__doc__ or "").partition("\n\n")[2].split())
    yield PAGE, rust + BOARD.format(about=about, rows="\n".join(board)) + STUDY.format(rows="\n".join(study))
