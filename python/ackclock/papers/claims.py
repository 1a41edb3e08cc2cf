"""Published claims, the verdicts of our runs on them, and the uncertainty of these verdicts."""

from __future__ import annotations

import csv
import json
import math
import random
import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path

from ackclock import files
from ackclock.document import refusal
from ackclock.papers.rules import TEXT, Bound, Interval, Part, Rule, parse

RESAMPLES = 1000
LONG = 1e4


class Verdict(Enum):
    """The verdict of our runs on a claim."""

    HOLDS = "holds"
    PARTLY = "partly"
    """Some of its parts hold, and at least one differs."""
    UNDECIDED = "undecided"
    """No part differs, but chance may change at least one part."""
    DIFFERS = "differs"
    UNCHECKED = "cannot be checked"

    def counted(self, n: int) -> str:
        """A number of verdicts in words, as in `2 hold, 1 differs`."""
        verb = self in (Verdict.HOLDS, Verdict.DIFFERS)
        return f"{n} {self.value.removesuffix('s') if verb and n != 1 else self.value}"

    @classmethod
    def of(cls, parts: Sequence[Part]) -> Verdict:
        """Derive the verdict from the outcomes of its parts, of which there is at least one."""
        if Part.DIFFERS in parts:
            return cls.PARTLY if Part.HOLDS in parts else cls.DIFFERS
        return cls.UNDECIDED if Part.UNDECIDED in parts else cls.HOLDS


class Kind(Enum):
    """The kind of evidence behind a claim."""

    MEASURED = "measured"
    """A run could have contradicted it."""
    SETUP = "set-up"
    """It is read from the scenarios, or true by construction."""
    CALIBRATED = "calibrated"
    """We made a choice knowing the published number."""


@dataclass(frozen=True)
class Claim:
    """A line of claims.csv."""

    id: str
    where: str
    """Section and figure of the paper."""
    quantity: str
    """The measured quantity."""
    published: str
    rule: str
    """The rule for the paper's words, one for each measured value, separated by ``;`` (``ackclock.papers.rules``).

    ``= text`` for a text; empty if nothing can be measured.
    """
    unit: str
    kind: Kind
    provenance: str
    """The paper's words behind the rule, our own part of it, and the reason for the claim's kind."""

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Parse the rule of each value; a text has none.

        Raises:
            ValueError: a rule is invalid; the message says what was found and what is allowed.
        """
        return () if self.rule.startswith(TEXT) else parse(self.rule)

    def judge(
        self,
        measured: Sequence[float] | str,
        intervals: Sequence[Interval | None] = (),
        spreads: Sequence[Interval | None] = (),
    ) -> tuple[Part, ...]:
        """Judge each measured value; a text is one part.

        Args:
            measured: the values, or a text.
            intervals: their 95 % intervals. Default: none, if nothing depends on chance.
            spreads: the 5th to the 95th percentile of our runs, for rules about a single draw.

        Raises:
            ValueError: there are more or fewer values than rules, or a single draw has no spread.
        """
        if isinstance(measured, str):
            if not self.rule.startswith(TEXT):
                raise ValueError(f"{self.id}: a text is measured, so = and a text are needed, not {self.rule!r}")
            return (Part.HOLDS if self.rule.removeprefix(TEXT) == measured else Part.DIFFERS,)
        n = len(self.rules)
        if len(measured) != n or len(intervals) not in (0, n) or len(spreads) not in (0, n):
            raise ValueError(f"{self.id}: {len(measured)} values for {n} rules, {self.rule!r}")
        each = zip(self.rules, measured, intervals or [None] * n, spreads or [None] * n, strict=True)
        return tuple(rule.judge(value, interval, spread) for rule, value, interval, spread in each)

    def accepts(self, measured: Sequence[float] | str) -> bool:
        """Whether the rules accept the values alone, without their intervals.

        Raises:
            ValueError: there are more or fewer values than rules.
        """
        if isinstance(measured, str):
            return self.judge(measured) == (Part.HOLDS,)
        return all(rule.bound.accepts(value) for rule, value in zip(self.rules, measured, strict=True))


def read(path: Path) -> list[Claim]:
    """Read every claim of a file.

    Raises:
        OSError: the file is missing.
        ScenarioError: the columns are wrong, a line has too many or too few cells, or a kind or a rule is invalid.
    """
    columns, found = list(Claim.__dataclass_fields__), []
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        head = next(rows, [])
        if head != columns:
            raise refusal(str(path), 1, None, f"the columns {', '.join(head) or 'none'}", ", ".join(columns))
        for row in filter(None, rows):
            if len(row) != len(columns):
                raise refusal(str(path), rows.line_num, None, f"{len(row)} cells", f"{len(columns)}, one a column")
            cells = dict(zip(columns, row, strict=True))
            kinds = {kind.value: kind for kind in Kind}
            kind = kinds.get(cells.pop("kind"))
            if kind is None:
                raise refusal(str(path), rows.line_num, "kind", row[columns.index("kind")], ", ".join(kinds))
            claim = Claim(**cells, kind=kind)
            try:
                claim.rules  # noqa: B018 - parsed here so that an error names its line
            except ValueError as error:
                found_, allowed = str(error).removeprefix("found ").split(", allowed", 1)
                raise refusal(str(path), rows.line_num, "rule", found_, allowed.lstrip(": ")) from error
            found.append(claim)
    return found


@dataclass(frozen=True)
class Finding:
    """The result for a claim."""

    claim: Claim
    verdict: Verdict
    measured: tuple[float, ...] | str | None = None
    intervals: tuple[Interval | None, ...] = ()
    """95 % intervals of the measured values; ``None`` for a value that does not depend on chance."""
    note: str = ""
    """Further remarks, in whole sentences."""
    spreads: tuple[Interval | None, ...] = ()
    """The 5th to the 95th percentile of our runs, where the published value comes from a single run."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """The outcome of each value; empty if nothing was measured."""
        return () if self.measured is None else self.claim.judge(self.measured, self.intervals, self.spreads)

    @property
    def why(self) -> str:
        """The verdict's reason, and the values behind it; whole sentences."""
        return " ".join(part for part in (self.reason, self.note) if part)

    @property
    def brief(self) -> str:
        """The reason, and the note's first sentence."""
        more = re.split(r"(?<=\.)\s+(?=[A-Z])", self.note, maxsplit=1)[0]
        return " ".join(part for part in (self.reason, more) if part)

    @property
    def reason(self) -> str:
        """The values and the bounds, in one or two sentences; empty if nothing was measured."""
        measured = self.measured
        if measured is None:
            return ""
        if isinstance(measured, str):
            same = self.claim.accepts(measured)
            return "The runs have what the paper states." if same else f"The runs have {measured}."
        unit = " %" if self.claim.unit == "%" else ""
        said, parts = [], self.parts
        for rule, value, part in zip(self.claim.rules, measured, parts, strict=True):
            unsure = UNSURE if part is Part.UNDECIDED else ""
            said.append(f"{shown(value)}{unit} {_beside(rule.bound, value)}{unit}{unsure}")
        return f"{'; '.join(said)}.{self._open(parts)}"

    def _open(self, parts: Sequence[Part]) -> str:
        """The range that undecided parts leave open, and why a single run differs."""
        unsure = [rule for rule, part in zip(self.claim.rules, parts, strict=True) if part is Part.UNDECIDED]
        single = any(rule.draw for rule in unsure)
        tie = any(rule.word == "before" for rule in unsure) and not self.intervals
        more = " The published value is a single run, within the range of our runs." if single else ""
        outside = any(r.draw and p is Part.DIFFERS for r, p in zip(self.claim.rules, parts, strict=True))
        more += (
            " The published value of a single run is outside the range of nine in ten of our runs." if outside else ""
        )
        more += " Values within 1 % of each other are a tie." if tie else ""
        chance = any(not rule.draw for rule in unsure) and not tie
        return more + (" The 95 % interval includes the bound: other seeds may decide differently." if chance else "")

    def row(self) -> dict[str, object]:
        """The finding as an entry of claims.json; a single value is not put in a list."""
        c, measured = self.claim, self.measured
        numbers = [_rounded(v) for v in measured] if isinstance(measured, tuple) else measured
        single = isinstance(numbers, list) and len(numbers) == 1

        def ranges(each: Sequence[Interval | None]) -> object:
            listed = [None if i is None else [_rounded(end) for end in i] for i in each]
            return (listed[0] if single else listed) if listed else None

        return {
            "id": c.id,
            "verdict": self.verdict.value,
            "kind": c.kind.value,
            "published": c.published,
            "rule": c.rule or None,
            "measured": numbers[0] if single and isinstance(numbers, list) else numbers,
            "interval": ranges(self.intervals),
            "spread": ranges(self.spreads),
            "parts": [part.value for part in self.parts],
            "note": self.why,
            "unit": c.unit or None,
            "where": c.where,
            "quantity": c.quantity,
        }


UNSURE = " (undecided)"


def _rounded(value: float) -> float | None:
    """Round to six digits; infinity becomes ``None`` because JSON has none."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


def judge(
    claim: Claim,
    measured: tuple[float, ...] | str,
    intervals: tuple[Interval | None, ...] = (),
    note: str = "",
    spreads: tuple[Interval | None, ...] = (),
) -> Finding:
    """Judge a measurement; the verdict follows from the claim's rules alone.

    Raises:
        ValueError: there are more or fewer values than rules, or a single draw has no spread.
    """
    return Finding(claim, Verdict.of(claim.judge(measured, intervals, spreads)), measured, intervals, note, spreads)


def resampled(statistic: Callable[[Sequence[int]], tuple[float, ...]], runs: int) -> tuple[tuple[float, float], ...]:
    """Compute 95 % intervals of each value of a statistic by resampling the runs with replacement.

    Args:
        statistic: takes the indices of the runs to use. Points with the same seeds share a draw.
        runs: the number of runs.
    """
    draw = random.Random(runs)
    columns = zip(*(statistic(draw.choices(range(runs), k=runs)) for _ in range(RESAMPLES)), strict=True)
    tail = RESAMPLES // 40
    return tuple((ordered[tail], ordered[-1 - tail]) for ordered in (sorted(column) for column in columns))


def spread(values: Sequence[float]) -> Interval:
    """Return the 5th and 95th percentiles of one or more values, with linear interpolation."""
    cuts = statistics.quantiles(values, n=20, method="inclusive") if len(values) > 1 else values
    return cuts[0], cuts[-1]


def counts(findings: Iterable[Finding]) -> dict[Verdict, int]:
    """Count the findings of each verdict."""
    listed = list(findings)
    return {verdict: sum(f.verdict is verdict for f in listed) for verdict in Verdict}


def by_kind(findings: Iterable[Finding]) -> dict[Kind, dict[Verdict, int]]:
    """Count the findings of each verdict, for each kind of claim."""
    listed = list(findings)
    return {kind: counts(f for f in listed if f.claim.kind is kind) for kind in Kind}


def headline(findings: Iterable[Finding]) -> str:
    """The share of measured claims that hold, in a sentence."""
    of = by_kind(findings)[Kind.MEASURED]
    checked = sum(of.values()) - of[Verdict.UNCHECKED]
    share = f" ({100 * of[Verdict.HOLDS] / checked:.0f} %)" if checked else ""
    return f"{of[Verdict.HOLDS]} of {checked} measured claims hold{share}."


def kinds(findings: Iterable[Finding]) -> list[str]:
    """The verdicts for each kind of claim, one line each; kinds without claims are left out."""
    lines = []
    for kind, of in by_kind(findings).items():
        if total := sum(of.values()):
            said = ", ".join(verdict.counted(n) for verdict, n in of.items() if n)
            lines.append(f"{kind.value}, {total} claim{'' if total == 1 else 's'}: {said}")
    return lines


def _beside(bound: Bound, value: float) -> str:
    """The relation of a value to a bound, in words."""
    text, inside = str(bound), bound.accepts(value)
    if text.startswith("from "):
        return f"is {'within' if inside else 'outside'} {text.removeprefix('from ')}"
    return f"is {text}" if inside else f"is not {text}"


def shown(value: float) -> str:
    """A value to four significant digits; large values to the unit."""
    return f"{value:,.0f}" if LONG <= abs(value) < math.inf else f"{value:.4g}"


def ours(f: Finding) -> str:
    """The measured values with their intervals and unit, for readers."""
    if f.measured is None:
        return "–"  # noqa: RUF001 - the typographic sign for no value
    if isinstance(f.measured, str):
        return f.measured
    intervals = f.intervals or (None,) * len(f.measured)
    both = zip(f.measured, intervals, strict=True)
    return "; ".join(shown(v) + (f" [{shown(i[0])}, {shown(i[1])}]" if i else "") for v, i in both) + _unit(f.claim)


def published(claim: Claim) -> str:
    """The published value with its unit, for readers. The unit follows the numbers that it belongs to."""
    value, bracket, note = claim.published.partition(" (")
    return value + (_unit(claim) if value[-1:].isdigit() else "") + bracket + note


def _unit(claim: Claim) -> str:
    """The unit, with a space before it, if all values of the claim have one and the same."""
    return f" {claim.unit}" if claim.unit and ";" not in claim.unit and claim.unit not in {"ratio", "share"} else ""


def write(path: Path, findings: Iterable[Finding]) -> None:
    """Write claims.json.

    Raises:
        OSError: the folder is missing or not writable.
    """
    text = json.dumps([f.row() for f in findings], indent=2, ensure_ascii=False, allow_nan=False)
    files.write(path, (text + "\n").encode())
