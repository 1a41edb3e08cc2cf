"""Published claims, what our runs say to each, and how sure that is."""

from __future__ import annotations

import csv
import json
import math
import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from ackclock import files
from ackclock.document import refusal

RESAMPLES = 1000
LONG = 1e4


class Verdict(Enum):
    """What a claim's runs say."""

    HOLDS = "holds"
    DIFFERS = "differs"
    UNCHECKED = "cannot be checked"

    def counted(self, n: int) -> str:
        """As in `2 hold, 1 differs`."""
        return f"{n} {self.value if n == 1 or self is Verdict.UNCHECKED else self.value.removesuffix('s')}"


@dataclass(frozen=True)
class Claim:
    """A line of claims.csv."""

    id: str
    where: str
    """Section and figure of the paper."""
    quantity: str
    """What is measured."""
    published: str
    accept: str
    """What measured values count as reproduced; empty where nothing can be measured.

    For each value, parted by ``;``: ``< 2``, ``<= 2``, ``> 2``, ``>= 2``, ``1 .. 2`` (with the ends);
    for a text, ``= text``.
    """
    unit: str
    provenance: str
    """Whether the paper states it in numbers or in words, and what is ours."""


def read(path: Path) -> list[Claim]:
    """Every claim of a file.

    Raises:
        OSError: the file is missing.
        ScenarioError: its columns are others, or a line has more cells or fewer.
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
            found.append(Claim(*row))
    return found


def accepts(accept: str, measured: Sequence[float] | str) -> bool:
    """Whether measured values, or a text, are what ``Claim.accept`` allows. NaN never is.

    Raises:
        ValueError: ``accept`` is none of the forms, or not as long as ``measured``.
    """
    if isinstance(measured, str):
        if not accept.startswith("= "):
            raise ValueError(f"a text is measured, so = and a text are needed, not {accept!r}")
        return accept[2:] == measured
    pairs = list(zip(accept.split(";"), measured, strict=True))
    return all(_within(one.strip(), value) for one, value in pairs)


def _within(accept: str, value: float) -> bool:
    match accept.split():
        case ["<", limit]:
            return value < float(limit)
        case ["<=", limit]:
            return value <= float(limit)
        case [">", limit]:
            return value > float(limit)
        case [">=", limit]:
            return value >= float(limit)
        case [low, "..", high]:
            return float(low) <= value <= float(high)
    raise ValueError(f"{accept!r} is none of: < 1, <= 1, > 1, >= 1, 1 .. 2")


def _in_words(accept: str) -> str:
    match accept.split():
        case [sign, limit]:
            return f"{ {'<': 'below', '<=': 'at most', '>': 'above', '>=': 'at least'}[sign] } {limit}"
        case [low, _, high]:
            return f"from {low} to {high}"
    return accept


@dataclass(frozen=True)
class Finding:
    """What was found about a claim."""

    claim: Claim
    verdict: Verdict
    measured: tuple[float, ...] | str | None = None
    intervals: tuple[tuple[float, float] | None, ...] = ()
    """95 % intervals of the measured values; None: it does not depend on chance."""
    note: str = ""
    """What else is to be said; whole sentences."""
    tried: tuple[str, ...] = ()
    """What choices of ours, made otherwise, give; whole sentences."""

    @property
    def why(self) -> str:
        """The verdict's reason, and the values behind it; whole sentences."""
        return " ".join(part for part in (self.reason, self.note) if part)

    @property
    def brief(self) -> str:
        """The reason, and what the first choice of ours made otherwise gives, or else the note's first sentence."""
        more = self.tried[0] if self.tried else re.split(r"(?<=\.)\s+(?=[A-Z])", self.note, maxsplit=1)[0]
        return " ".join(part for part in (self.reason, more) if part)

    @property
    def reason(self) -> str:
        """The values and the bound alone, in a sentence or two; empty if nothing was measured."""
        accept, measured = self.claim.accept, self.measured
        if measured is None:
            return ""
        if isinstance(measured, str):
            same = accepts(accept, measured)
            return "The runs have what the paper states." if same else f"The runs have {measured}."
        unit = " %" if self.claim.unit == "%" else ""
        bounds = [one.strip() for one in accept.split(";")]
        intervals = self.intervals or (None,) * len(bounds)
        parts, open_ = [], False
        for bound, value, interval in zip(bounds, measured, intervals, strict=True):
            holds = _within(bound, value)
            parts.append(f"{shown(value)}{unit} is {'' if holds else 'not '}{_in_words(bound)}{unit}")
            open_ |= interval is not None and any(_within(bound, end) is not holds for end in interval)
        chance = " The 95 % interval reaches beyond the bound: other seeds may decide otherwise." if open_ else ""
        return f"{', and '.join(parts)}.{chance}"

    def row(self) -> dict[str, object]:
        """As an entry of claims.json; one value stands alone, several are a list."""
        c, measured = self.claim, self.measured
        numbers = [_rounded(v) for v in measured] if isinstance(measured, tuple) else measured
        bounds = [None if i is None else [_rounded(end) for end in i] for i in self.intervals]
        single = isinstance(numbers, list) and len(numbers) == 1
        return {
            "id": c.id,
            "verdict": self.verdict.value,
            "published": c.published,
            "measured": numbers[0] if single and isinstance(numbers, list) else numbers,
            "interval": (bounds[0] if single else bounds) if bounds else None,
            "note": " ".join([self.why, *self.tried]),
            "accept": c.accept or None,
            "unit": c.unit or None,
            "where": c.where,
            "quantity": c.quantity,
        }


def _rounded(value: float) -> float | None:
    """To six digits; JSON has no infinity."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


def judge(
    claim: Claim,
    measured: tuple[float, ...] | str,
    intervals: tuple[tuple[float, float] | None, ...] = (),
    note: str = "",
) -> Finding:
    """The finding for a measurement: its verdict follows from ``claim.accept`` alone."""
    verdict = Verdict.HOLDS if accepts(claim.accept, measured) else Verdict.DIFFERS
    return Finding(claim, verdict, measured, intervals, note)


def resampled(statistic: Callable[[Sequence[int]], tuple[float, ...]], runs: int) -> tuple[tuple[float, float], ...]:
    """95 % intervals of each of a statistic's values, by drawing the runs again with replacement.

    Args:
        statistic: takes the indices of the runs to be used. Points with the same seeds share a draw.
        runs: how many there are.
    """
    draw = random.Random(runs)
    columns = zip(*(statistic(draw.choices(range(runs), k=runs)) for _ in range(RESAMPLES)), strict=True)
    tail = RESAMPLES // 40
    return tuple((ordered[tail], ordered[-1 - tail]) for ordered in (sorted(column) for column in columns))


def counts(findings: Iterable[Finding]) -> dict[Verdict, int]:
    """How many of each verdict."""
    listed = list(findings)
    return {verdict: sum(f.verdict is verdict for f in listed) for verdict in Verdict}


def shown(value: float) -> str:
    """To four digits, and to the unit what has more."""
    return f"{value:,.0f}" if LONG <= abs(value) < math.inf else f"{value:.4g}"


def ours(f: Finding) -> str:
    """The measured values with their intervals and the unit, to be read."""
    if f.measured is None:
        return "–"  # noqa: RUF001 - the typographic sign for nothing
    if isinstance(f.measured, str):
        return f.measured
    unit = (
        f" {f.claim.unit}"
        if f.claim.unit and ";" not in f.claim.unit and f.claim.unit not in {"ratio", "share"}
        else ""
    )
    intervals = f.intervals or (None,) * len(f.measured)
    both = zip(f.measured, intervals, strict=True)
    return "; ".join(shown(v) + (f" [{shown(i[0])}, {shown(i[1])}]" if i else "") for v, i in both) + unit


def write(path: Path, findings: Iterable[Finding]) -> None:
    """Write claims.json.

    Raises:
        OSError: the folder is missing or not writable.
    """
    text = json.dumps([f.row() for f in findings], indent=2, ensure_ascii=False, allow_nan=False)
    files.write(path, (text + "\n").encode())
