"""A reproduced paper, or an extra page without a paper: the interface between papers, the command and the pages."""

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
"""A file that a paper's folder may have: its section "Set-up" appears on the paper's page."""
AS_TAKEN = Reading()


@dataclass(frozen=True)
class Work:
    """The inputs that a paper uses to reproduce itself."""

    folder: Path
    """The paper's folder: scenarios, claims, reference values. An extra page gets the folder of all papers."""
    out: Path
    """An existing folder for its files."""
    effort: Effort
    lab: Laboratory
    """Makes each run only once."""
    reading: Reading = AS_TAKEN
    """The reading of the paper that is run."""

    def run(self, what: str, trials: Sequence[Trial], effort: Effort | None = None) -> dict[Trial, Ran]:
        """Make the runs of each trial under the reading; stored runs are reused.

        Args:
            what: the purpose of the runs, in a few words, for the progress display.
            trials: the points as taken; duplicates are run once.
            effort: the number of runs of each point, and their duration. Default: the paper's.

        Raises:
            OSError: a scenario is missing, or a result cannot be stored.
            ScenarioError, ValueError: a scenario is invalid.
        """
        read = {trial: self.read(trial) for trial in trials}
        ran = run(self.lab, what, self.folder, list(read.values()), effort or self.effort)
        return {trial: Ran(trial, ran[one].runs) for trial, one in read.items()}

    def read(self, trial: Trial) -> Trial:
        """Return a point under the reading.

        Raises:
            OSError, ValueError: its scenario cannot be read.
        """
        return self.reading.of(trial, self.folder)

    def document(self, trial: Trial) -> Document:
        """Return the scenario that a point runs under the reading, as a TOML document.

        Raises:
            OSError, ValueError: the scenario cannot be read.
        """
        return self.read(trial).document(self.folder)

    def events(self, trial: Trial, seed: int = 1, duration_s: int | None = None) -> pl.DataFrame:
        """The packets, windows and phases of one run under the reading, as in docs/trace.md.

        Raises:
            OSError: the scenario is missing, or the disk is too full for the trace.
                ScenarioError, ValueError: the scenario is invalid.
        """
        return events(self.read(trial), self.folder, seed, duration_s)


@dataclass(frozen=True)
class Picture:
    """A figure of the paper, drawn from our runs."""

    name: str
    """The figure's name, as in ``fig2``."""
    title: str
    caption: str
    """A description of the figure and how to read it, in whole sentences."""
    svg: Path
    scenarios: Sequence[str]
    """The scenario files that its runs vary, relative to ``Work.folder``."""
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
    """Our runs compared with those of another simulator, which the table's title names."""

    summary: Sequence[str]
    """Whole sentences: the number of points that agree, and how well."""
    good: bool
    """Whether every value is within the range that chance allows."""
    table: Table
    """Cells with the words of a :class:`~ackclock.statistics.Verdict` are counted as verdicts."""

    @property
    def simulator(self) -> str:
        """The simulator's name, from the title."""
        return self.table.title.removeprefix("Compared with ")

    @property
    def sentences(self) -> list[str]:
        """The sentences of the summary, each with a full stop."""
        return [sentence.rstrip(".") + "." for sentence in self.summary]

    def compared(self) -> list[Agreement]:
        """The agreement of each value in the table."""
        known = {verdict.value: verdict for verdict in Agreement}
        return [known[cell] for row in self.table.rows for cell in row if cell in known]


@dataclass(frozen=True)
class Outcome:
    """The results of a paper's runs."""

    findings: Sequence[Finding]
    """One for each claim, in the order of claims.csv."""
    pictures: Sequence[Picture]
    tables: Sequence[Table]
    """The numbers behind the figures."""
    runs: int
    """The number of runs behind the figures and claims."""
    seeds: tuple[int, int]
    """The first and the last seed."""
    durations_s: tuple[float, float]
    """Simulated seconds of the shortest run and of the longest."""
    digest: str
    """Hash over the identities of all runs."""
    references: Sequence[Reference] = ()
    """Our runs compared with those of other simulators."""

    @classmethod
    def of(
        cls,
        ran: Iterable[Ran],
        findings: Sequence[Finding],
        pictures: Sequence[Picture] = (),
        tables: Sequence[Table] = (),
        references: Sequence[Reference] = (),
    ) -> Outcome:
        """Assemble the outcome; the number of runs and their seeds are taken from ``ran``.

        Args:
            ran: all points behind figures and claims, at least one; a run that several points share is counted once.
            findings: one for each claim, in the order of claims.csv.
            pictures: the figures.
            tables: the numbers behind them.
            references: our runs compared with those of other simulators.
        """
        points = list(ran)
        runs = {run["identity"]: run for one in points for run in one.runs}.values()
        seeds, durations = ([run[key] for run in runs] for key in ("seed", "duration_s"))
        span, lengths = (min(seeds), max(seeds)), (min(durations), max(durations))
        return cls(findings, pictures, tables, len(runs), span, lengths, runs_of(points), references)

    @property
    def span(self) -> str:
        """The range of the runs' durations, as in ``6 to 100 s``."""
        return " to ".join(dict.fromkeys(f"{seconds:g}" for seconds in self.durations_s)) + " s"


@dataclass(frozen=True)
class Paper:
    """A published paper that can be run again."""

    key: str
    """Its name on the command line and of its page."""
    title: str
    """Its common name, with the year."""
    cite: str
    """Authors, title and place of publication."""
    year: int
    """Year of publication; papers are sorted by it."""
    about: str
    """The paper's question, in a sentence or two."""
    full: Effort
    quick: Effort
    readings: Effort
    """Effort for each of the declared readings."""
    folder: Path
    """Its scenarios, claims, reference values and code."""
    code: Path
    """The Python file with the function ``reproduce``, which takes a ``Work`` and returns an ``Outcome``."""


@dataclass(frozen=True)
class Section:
    """A part of an extra page: sentences, then figures, then tables."""

    title: str
    sentences: Sequence[str] = ()
    """Whole sentences; each becomes a paragraph."""
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()


@dataclass(frozen=True)
class Extra:
    """A page without a paper."""

    key: str
    """Its name on the command line and of its page."""
    title: str
    about: str
    """The page's question, in a sentence or two."""
    full: Effort
    quick: Effort
    folder: Path
    """Its folder, inside the folder of all papers."""
    code: Path
    """The Python file with the function ``sections``, which takes a ``Work`` and returns the page's sections."""


@dataclass(frozen=True)
class Reproduced:
    """A reproduced paper."""

    paper: Paper
    outcome: Outcome
    spent: Spent
    own: bool
    """Whether it is one of Ackclock's papers, which have presets on the lab page."""
    readings: Readings | None = None
    """Results under other readings; ``None`` if they were not requested."""
    section: Section | None = None
    """The same as a section of the page."""
    causes: Mapping[str, Cause] = field(default_factory=dict)
    """Why claims differ, by claim ID."""


@dataclass(frozen=True)
class Shown:
    """A finished extra page."""

    extra: Extra
    sections: Sequence[Section]
    spent: Spent


@dataclass(frozen=True)
class Done:
    """Everything that one command produced."""

    papers: Sequence[Reproduced]
    extras: Sequence[Shown]

    @property
    def good(self) -> bool:
        """Whether every value is within the range that other simulators' results allow."""
        return all(reference.good for one in self.papers for reference in one.outcome.references)
