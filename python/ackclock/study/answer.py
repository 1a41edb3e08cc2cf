"""The answer of a study: the best stack, its margin, and the uncertainty."""

from __future__ import annotations

import io
import json
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _native, files
from ackclock.late import pl
from ackclock.study import words
from ackclock.study.found import Found, OnPath
from ackclock.study.paired import average

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = ("report.html", "study.svg", "study.json", "ranking.csv", "ranking.tex", "values.parquet")


class Answer(Found):
    """The answer of a study, in words, as tables, and as a report.

    Attributes:
        question: the question.
        level: the confidence of each interval; all statements together have 95 %.
        paths: the results on each path.
    """

    @property
    def sentences(self) -> list[str]:
        """The answer in words: over all paths together, on each path, and its uncertainty."""
        return words.sentences(self)

    @cached_property
    def ranking(self) -> pl.DataFrame:
        """The stacks on each path, and over all paths: a row for each path and stack, the best first.

        Columns: ``path``, ``stack``, ``first`` and ``last`` (the range of its rank, 1 is best), ``seeds``, ``missing``
        (runs without a value), and the mean of each measure in SI units, named by its key; it is geometric for measures
        that are compared by ratios.
        """
        return pl.DataFrame([row for part in self.parts for row in self._rows(part)], infer_schema_length=None)

    @cached_property
    def differences(self) -> pl.DataFrame:
        """All pairs of stacks: a row for each path and pair, by the measure that decides.

        Columns: ``path``, ``one``, ``other``, ``seeds``, ``outcome`` (the result for ``one``: ``better``, ``worse``,
        ``same`` or ``cannot tell``), ``change`` (the difference of ``one`` from ``other``: a share for measures that
        are compared by ratios, else in SI units), ``low`` and ``high`` (the ends of its interval). The last three are
        null if runs lack a value; the sign test decides then.
        """
        rows = [
            {"path": part.name, "one": d.one, "other": d.other, "seeds": d.seeds, "outcome": d.outcome.value}
            | {"change": _rounded(d.change), "low": _rounded(d.low), "high": _rounded(d.high)}
            for part in self.parts
            for d in part.differences
        ]
        kinds = {"change": pl.Float64, "low": pl.Float64, "high": pl.Float64}
        return pl.DataFrame(rows, schema_overrides=kinds)

    @cached_property
    def values(self) -> pl.DataFrame:
        """The measured values: a row for each path, stack and seed.

        Columns: ``path``, ``stack``, ``seed``, and each measure in SI units, named by its key; null if a run has no
        value.
        """
        first = self.question.seeds.first
        rows = [
            {"path": part.name, "stack": stack, "seed": first + i}
            | {key: by_stack[stack][i] for key, by_stack in part.values.items()}
            for part in self.paths
            for stack in self.question.stacks
            for i in range(part.seeds)
        ]
        kinds = dict.fromkeys(self.paths[0].values, pl.Float64)
        return pl.DataFrame(rows, schema_overrides=kinds)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``ackclock study --json``."""
        asked = self.question
        head = {"ackclock": _native.__version__, "results_revision": _native.results_revision, "study": asked.name}
        about = {"question": asked.question, "measure": asked.measure.key, "within": asked.within}
        sure = {"confidence_together": 0.95, "confidence_each": _rounded(self.level), "comparisons": asked.comparisons}
        unused = {part.name: {s: list(keys) for s, keys in part.unused.items()} for part in self.paths if part.unused}
        tables = {"ranking": self.ranking.to_dicts(), "differences": self.differences.to_dicts()}
        return head | about | sure | {"answer": self.sentences} | tables | {"unused_parameters": unused}

    @property
    def json(self) -> str:
        """Return the same as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def plot(self) -> Figure:
        """Draw the stacks on each path with their differences from the best. Needs matplotlib."""
        from ackclock.study.figure import draw  # noqa: PLC0415 - needs matplotlib

        return draw(self)

    def write(self, folder: str | PathLike[str]) -> list[Path]:
        """Write report.html, study.svg, study.json, ranking.csv, ranking.tex and values.parquet.

        Scenarios of paths that the study changes, or that were fitted, are written beside them as ``path-1.toml``.
        Needs matplotlib and Jinja.

        Returns:
            The paths of the files.

        Raises:
            OSError: a file could not be written.
        """
        from ackclock.study import figure, page  # noqa: PLC0415 - needs matplotlib

        to = Path(folder)
        to.mkdir(parents=True, exist_ok=True)
        picture, table = figure.svg(self), io.BytesIO()
        self.values.write_parquet(table)
        content = (
            page.html(self, picture.decode()).encode(),
            picture,
            self.json.encode(),
            self.ranking.write_csv().encode(),
            page.tex(self).encode(),
            table.getvalue(),
        )
        made = dict(zip(NAMES, content, strict=True))
        made |= {name: text.encode() for name, text in page.scenarios(self).items()}
        for name, what in made.items():
            files.write(to / name, what)
        return [to / name for name in made]

    def _rows(self, part: OnPath) -> list[dict[str, Any]]:
        return [
            {"path": part.name, "stack": p.stack, "first": p.first, "last": p.last, "seeds": part.seeds}
            | {"missing": p.missing}
            | {m.key: _rounded(average(part.values[m.key][p.stack], m)) for m in self.measures}
            for p in part.places
        ]

    def __repr__(self) -> str:
        """The first sentence of the answer."""
        return f"<ackclock.Answer: {self.sentences[0]}>"

    def _repr_html_(self) -> str:
        """The answer and the ranking, for notebooks."""
        said = "".join(f"<li>{escape(one)}</li>" for one in self.sentences)
        return f"<ul>{said}</ul>{self.ranking._repr_html_()}"


def _rounded(value: float | None) -> float | None:
    """Round to nine digits, to which logarithms agree between machines."""
    return None if value is None else float(f"{value:.9g}")
