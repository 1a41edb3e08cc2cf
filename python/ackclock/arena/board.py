"""The leaderboard of the arena."""

from __future__ import annotations

import io
import json
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _native, files
from ackclock.arena.scores import Scores, mean
from ackclock.late import pl

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = ("board.csv", "arena.svg", "arena.json", "values.parquet")


class Board(Scores):
    """The leaderboard of the arena.

    Attributes:
        half: ``"design"`` or ``"judgement"``.
        answer: the study behind it, with all values and comparisons.
        others: the goodput of other stacks' flows beside each entry.
    """

    @cached_property
    def table(self) -> pl.DataFrame:
        """A row for each path and stack, with means over the seeds in SI units.

        Columns: ``path``, ``stack``, ``share``, ``goodput``, ``needless``, the same by cause (``needless_fast``,
        ``needless_recovery``, ``needless_probe``, ``needless_timeout``), ``timeouts`` and ``completion_p99``, which is
        null without transfers that end.
        """
        rows = [
            {"path": part.name, "stack": one.stack, "share": self.share(part, one.stack)}
            | {
                key: None if None in by_stack[one.stack] else mean(by_stack[one.stack])
                for key, by_stack in part.values.items()
            }
            for part in self.answer.paths
            for one in self.scores
        ]
        return pl.DataFrame(rows, schema_overrides={"completion_p99": pl.Float64})

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``ackclock arena --json``."""
        asked = self.answer.question
        head = {"ackclock": _native.__version__, "results_revision": _native.results_revision}
        about = {"arena": self.version, "half": self.half, "baseline": asked.baseline}
        seeds = {"first_seed": asked.seeds.first, "seeds": asked.seeds.at_most, "confidence_each": self.answer.level}
        return (
            head
            | about
            | seeds
            | {
                "board": [vars(one) for one in self.scores],
                "paths": self.table.to_dicts(),
                "others": self.harm,
            }
        )

    @cached_property
    def harm(self) -> list[dict[str, Any]]:
        """The goodput of other flows beside each entry, relative to that beside flows of their own kind, less 1."""
        return [
            {"stack": stack, "path": path, "kind": kind, "change": change}
            for stack, one in self.others.items()
            for (path, kind), change in one.each.items()
        ]

    @property
    def json(self) -> str:
        """Return the same as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def plot(self) -> Figure:
        """Draw the share of each stack on each path. Needs matplotlib."""
        from ackclock.arena.figure import draw  # noqa: PLC0415 - needs matplotlib

        return draw(self)

    def write(self, folder: str | PathLike[str]) -> list[Path]:
        """Write board.csv, arena.svg, arena.json and values.parquet. Needs matplotlib.

        Returns:
            The paths of the files.

        Raises:
            OSError: a file could not be written.
        """
        from ackclock.arena.figure import svg  # noqa: PLC0415 - needs matplotlib

        to, values = Path(folder), io.BytesIO()
        to.mkdir(parents=True, exist_ok=True)
        self.answer.values.write_parquet(values)
        content = (self.table.write_csv().encode(), svg(self), self.json.encode(), values.getvalue())
        for name, what in zip(NAMES, content, strict=True):
            files.write(to / name, what)
        return [to / name for name in NAMES]
