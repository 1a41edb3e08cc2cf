"""The declared design over a paper's open choices: the readings to run, and how they are scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ackclock.papers.claims import Claim, Kind, Verdict
from ackclock.papers.reading import Choice, Option, Reading

POINTS = {
    Verdict.HOLDS: 1.0,
    Verdict.PARTLY: 0.5,
    Verdict.UNDECIDED: 0.0,
    Verdict.DIFFERS: 0.0,
    Verdict.UNCHECKED: 0.0,
}
"""Points that a claim adds to a score."""
LETTERS = {
    Verdict.HOLDS: "h",
    Verdict.PARTLY: "p",
    Verdict.UNDECIDED: "u",
    Verdict.DIFFERS: "d",
    Verdict.UNCHECKED: "-",
}
"""The letters that stand for verdicts in readings.json."""
TAKEN, SINGLE, PAIR, SEARCH = "taken", "single", "pair", "search"
"""Why a reading is run."""
BEAM = 3
"""How many of the best readings each step of the search extends."""
BEST = 5
"""How many of the best readings are run in full."""


@dataclass(frozen=True)
class Split:
    """The measured claims in two halves, fixed by their order in claims.csv."""

    scored: tuple[str, ...]
    """The first, third, fifth …: only these guide a search."""
    held_out: tuple[str, ...]
    """The second, fourth, sixth …"""

    @classmethod
    def of(cls, claims: Iterable[Claim]) -> Split:
        """Split a paper's claims into the halves."""
        measured = [claim.id for claim in claims if claim.kind is Kind.MEASURED and claim.rule]
        return cls(tuple(measured[::2]), tuple(measured[1::2]))


@dataclass(frozen=True)
class Scored:
    """A reading with its verdicts."""

    reading: Reading
    why: str
    """``taken``, ``single``, ``pair`` or ``search``."""
    verdicts: Mapping[str, Verdict]
    """The verdict of every claim."""

    def score(self, claims: Sequence[str]) -> float:
        """Score these claims: one point for each that holds, half a point if it holds in part."""
        return sum(POINTS[self.verdicts[claim]] for claim in claims)

    def holding(self, claims: Sequence[str]) -> int:
        """Count these claims that hold."""
        return sum(self.verdicts[claim] is Verdict.HOLDS for claim in claims)


Run = Callable[[Reading, str], Scored]
"""Runs a reading, given the reason for the run."""
Expect = Callable[[int], object]
"""Called with the number of readings that come next."""


def declared(choices: tuple[Choice, ...]) -> list[tuple[Reading, str]]:
    """The reading as taken, each alternative alone, and each pair of alternatives."""
    singles = [(choice.key, option.key) for choice in choices for option in choice.others]
    readings = [(Reading(choices), TAKEN)]
    readings += [(Reading(choices, {key: option}), SINGLE) for key, option in singles]
    pairs = [dict(pair) for pair in combinations(singles, 2) if pair[0][0] != pair[1][0]]
    return readings + [(Reading(choices, pair), PAIR) for pair in pairs]


def ranked(done: Iterable[Scored], split: Split) -> list[Scored]:
    """Sort readings by their score on the scored half, best first; ties by fewer departures, then by name."""
    return sorted(done, key=lambda s: (-s.score(split.scored), len(s.reading.otherwise), s.reading.name))


def explore(choices: tuple[Choice, ...], split: Split, run: Run, expect: Expect) -> list[Scored]:
    """Run the declared design, then extend its best readings for as long as the scored half improves.

    Each step changes one more choice of the best readings. The held-out half is never used.

    Args:
        choices: the paper's choices.
        split: its claims.
        run: runs a reading.
        expect: called with the number of readings to come: first for the design, then for each step of the search.
    """
    design = declared(choices)
    expect(len(design))
    done = {reading.name: run(reading, why) for reading, why in design}
    best = ranked(done.values(), split)[:BEAM]
    while True:
        before = best[0].score(split.scored)
        step = {one.name: one for each in best for one in _further(each.reading) if one.name not in done}
        expect(len(step))
        done |= {name: run(one, SEARCH) for name, one in step.items()}
        best = ranked(done.values(), split)[:BEAM]
        if best[0].score(split.scored) <= before:
            return list(done.values())


def _further(reading: Reading) -> list[Reading]:
    """The readings that change one more choice."""
    free = [choice for choice in reading.choices if choice.key not in reading.otherwise]
    return [
        Reading(reading.choices, {**reading.otherwise, choice.key: option.key})
        for choice in free
        for option in choice.others
    ]


def effects(done: Iterable[Scored], claims: Sequence[str]) -> dict[tuple[str, str], list[float]]:
    """The effect of each option: the score with it minus the score without it, for all pairs that differ only in it.

    Args:
        done: the readings.
        claims: the scored claims.
    """
    by_name = {one.reading.name: one for one in done}
    found: dict[tuple[str, str], list[float]] = {}
    for one in by_name.values():
        for key, option in one.reading.otherwise.items():
            rest = {k: v for k, v in one.reading.otherwise.items() if k != key}
            without = by_name.get(Reading(one.reading.choices, rest).name)
            if without is not None:
                found.setdefault((key, option), []).append(one.score(claims) - without.score(claims))
    return found


class Readings:
    """The readings of a paper, read from readings.json."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        """Keep ``row``, the content of the file."""
        self.row = row
        self.choices = tuple(
            Choice(c["key"], c["question"], c["taken"], tuple(Option(o["key"], o["text"]) for o in c["options"]))
            for c in row["choices"]
        )
        self.split = Split(tuple(row["scored"]), tuple(row["held_out"]))
        self.done = [self._scored(one) for one in row["readings"]]
        self.full = [self._scored(one) for one in row["in_full"]]

    @property
    def measured(self) -> list[str]:
        """The measured claims of both halves."""
        return [*self.split.scored, *self.split.held_out]

    def says(self, claim: str) -> str:
        """State under how many readings a claim holds, and which single alternatives make it hold."""
        holds = [one for one in self.done if one.verdicts[claim] is Verdict.HOLDS]
        said = f"It holds under {len(holds)} of {len(self.done)} readings of the text."
        alone = [one.reading.name for one in holds if one.why == SINGLE]
        if self.done[0].verdicts[claim] is Verdict.HOLDS or not alone:
            return said
        return f"{said} One different choice is enough: {' or '.join(alone)}."

    def _scored(self, one: Mapping[str, Any]) -> Scored:
        known = {letter: verdict for verdict, letter in LETTERS.items()}
        each = zip(self.row["claims"], one["verdicts"], strict=True)
        verdicts = {claim: known[letter] for claim, letter in each}
        return Scored(Reading(self.choices, one["otherwise"]), one["why"], verdicts)
