"""What a reproduced paper is, or a page that belongs to none: the seam to the command and the pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.papers.causes import Cause
from ackclock.papers.claims import Finding
from ackclock.papers.design import Readings
from ackclock.papers.reading import Reading
from ackclock.runs.laboratory import Laboratory, Spent
from ackclock.runs.trial import Document, Effort, Ran, Trial, events, run, runs_of
from ackclock.statistics import Verdict as Agreement

if TYPE_CHECKING:
    import polars as pl

README = "README.md"
"""What a paper's folder may have: its section "Set-up" stands on the paper's page."""
AS_TAKEN = Reading()


@dataclass(frozen=True)
class Work:
    """What a paper gets to reproduce itself with."""

    folder: Path
    """The paper's: scenarios, claims, reference values. An extra page gets the folder that all papers' are in."""
    out: Path
    """Where its files go; it is there."""
    effort: Effort
    lab: Laboratory
    """Makes runs, none of them twice."""
    reading: Reading = AS_TAKEN
    """How the paper is read."""

    def run(self, what: str, trials: Sequence[Trial], effort: Effort | None = None) -> dict[Trial, Ran]:
        """The runs of each of these under the reading; kept runs are not made again.

        Args:
            what: what they are for, in a few words, for the progress.
            trials: the points, as taken; a point that stands here twice is run once.
            effort: how many runs of each, and how long. Default: the paper's.

        Raises:
            OSError: a scenario is missing, or a result cannot be kept.
            ScenarioError, ValueError: a scenario makes no sense.
        """
        read = {trial: self.read(trial) for trial in trials}
        ran = run(self.lab, what, self.folder, list(read.values()), effort or self.effort)
        return {trial: Ran(trial, ran[one].runs) for trial, one in read.items()}

    def read(self, trial: Trial) -> Trial:
        """A point under the reading.

        Raises:
            OSError, ValueError: its scenario cannot be read.
        """
        return self.reading.of(trial, self.folder)

    def document(self, trial: Trial) -> Document:
        """The scenario that a point runs under the reading, as TOML has it.

        Raises:
            OSError, ValueError: it cannot be read.
        """
        return self.read(trial).document(self.folder)

    def events(self, trial: Trial, seed: int = 1, duration_s: int | None = None) -> pl.DataFrame:
        """The packets, windows and phases of one run under the reading, as in docs/trace.md.

        Raises:
            OSError: the scenario is missing, or there is no room for the trace.
            ScenarioError, ValueError: the scenario makes no sense.
        """
        return events(self.read(trial), self.folder, seed, duration_s)


@dataclass(frozen=True)
class Picture:
    """A figure of the paper, drawn from our runs."""

    name: str
    """As in ``fig2``."""
    title: str
    caption: str
    """What is shown, and how to read it; whole sentences."""
    svg: Path
    scenarios: Sequence[str]
    """The scenario files that its runs vary, as seen from ``Work.folder``."""
    runs: str
    """Hash over the identities of its runs."""
    point: str
    """The command that runs one of its points."""


@dataclass(frozen=True)
class Table:
    """A table for the pages."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Reference:
    """Our runs beside those of another simulator; the table's title names it."""

    summary: Sequence[str]
    """Whole sentences: how many points agree, and how well."""
    good: bool
    """Whether nothing lies outside what chance allows."""
    table: Table
    """Cells that are a :class:`~ackclock.statistics.Verdict`'s words are counted as such."""

    @property
    def simulator(self) -> str:
        """As the title names it."""
        return self.table.title.removeprefix("Beside ")

    @property
    def sentences(self) -> list[str]:
        """The summary's, each with its full stop."""
        return [sentence.rstrip(".") + "." for sentence in self.summary]

    def compared(self) -> list[Agreement]:
        """How each value of the table agrees."""
        known = {verdict.value: verdict for verdict in Agreement}
        return [known[cell] for row in self.table.rows for cell in row if cell in known]


@dataclass(frozen=True)
class Outcome:
    """All that came out of a paper's runs."""

    findings: Sequence[Finding]
    """One for each claim, in the order of claims.csv."""
    pictures: Sequence[Picture]
    tables: Sequence[Table]
    """The numbers behind the figures."""
    runs: int
    """How many runs the figures and claims are made of."""
    seeds: tuple[int, int]
    """The first and the last."""
    durations_s: tuple[float, float]
    """Simulated seconds of the shortest run and of the longest."""
    digest: str
    """Hash over the identities of all runs."""
    references: Sequence[Reference] = ()
    """Our runs beside those of other simulators."""

    @classmethod
    def of(
        cls,
        ran: Iterable[Ran],
        findings: Sequence[Finding],
        pictures: Sequence[Picture] = (),
        tables: Sequence[Table] = (),
        references: Sequence[Reference] = (),
    ) -> Outcome:
        """What came out of these points; how many runs there are, and with which seeds, is read off them.

        Args:
            ran: all points that figures and claims are made of, at least one; a run that several have is counted once.
            findings: one for each claim, in the order of claims.csv.
            pictures: figures.
            tables: the numbers behind them.
            references: our runs beside those of other simulators.
        """
        points = list(ran)
        runs = {run["identity"]: run for one in points for run in one.runs}.values()
        seeds, durations = ([run[key] for run in runs] for key in ("seed", "duration_s"))
        span, lengths = (min(seeds), max(seeds)), (min(durations), max(durations))
        return cls(findings, pictures, tables, len(runs), span, lengths, runs_of(points), references)

    @property
    def span(self) -> str:
        """How long runs are, as in ``6 to 100 s``."""
        return " to ".join(dict.fromkeys(f"{seconds:g}" for seconds in self.durations_s)) + " s"


@dataclass(frozen=True)
class Paper:
    """A published paper that can be run again."""

    key: str
    """Its name on the command line, and its page's."""
    title: str
    """As one speaks of it, with the year."""
    cite: str
    """Authors, title, where it was published."""
    year: int
    """Of publication: papers stand in this order."""
    about: str
    """What it asks, in a sentence or two."""
    full: Effort
    quick: Effort
    readings: Effort
    """Of each of the declared readings."""
    folder: Path
    """Its scenarios, claims, reference values and code."""
    code: Path
    """The Python file that has ``reproduce``: it takes a ``Work`` and answers an ``Outcome``."""


@dataclass(frozen=True)
class Section:
    """A part of an extra page: sentences, then figures, then tables."""

    title: str
    sentences: Sequence[str] = ()
    """Whole ones; a paragraph each."""
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()


@dataclass(frozen=True)
class Extra:
    """A page that belongs to no paper."""

    key: str
    """Its name on the command line, and its page's."""
    title: str
    about: str
    """What it asks, in a sentence or two."""
    full: Effort
    quick: Effort
    folder: Path
    """It stands in the folder of all papers' folders."""
    code: Path
    """The Python file that has ``sections``: it takes a ``Work`` and answers what stands on the page."""


@dataclass(frozen=True)
class Reproduced:
    """A paper that was run again."""

    paper: Paper
    outcome: Outcome
    spent: Spent
    own: bool
    """Whether it stands among Ackclock's papers, for which the lab page has presets."""
    readings: Readings | None = None
    """What came out under other readings; None where nobody asked."""
    section: Section | None = None
    """The same, to be read."""
    causes: Mapping[str, Cause] = field(default_factory=dict)
    """Why claims differ, by claim."""


@dataclass(frozen=True)
class Shown:
    """An extra page that was made."""

    extra: Extra
    sections: Sequence[Section]
    spent: Spent


@dataclass(frozen=True)
class Done:
    """All that one command made."""

    papers: Sequence[Reproduced]
    extras: Sequence[Shown]

    @property
    def good(self) -> bool:
        """Whether no value lies outside what another simulator's allow."""
        return all(reference.good for one in self.papers for reference in one.outcome.references)
