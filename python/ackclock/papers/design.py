"""The declared design over a paper's open choices: which readings are run, and how they are scored."""

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
"""What a claim adds to a score."""
LETTERS = {
    Verdict.HOLDS: "h",
    Verdict.PARTLY: "p",
    Verdict.UNDECIDED: "u",
    Verdict.DIFFERS: "d",
    Verdict.UNCHECKED: "-",
}
"""How readings.json writes verdicts: a letter for each claim."""
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
    """The first, third, fifth …: a search looks at these alone."""
    held_out: tuple[str, ...]
    """The others."""

    @classmethod
    def of(cls, claims: Iterable[Claim]) -> Split:
        """The halves of a paper's claims."""
        measured = [claim.id for claim in claims if claim.kind is Kind.MEASURED and claim.rule]
        return cls(tuple(measured[::2]), tuple(measured[1::2]))


@dataclass(frozen=True)
class Scored:
    """A reading that was run."""

    reading: Reading
    why: str
    """``taken``, ``single``, ``pair`` or ``search``."""
    verdicts: Mapping[str, Verdict]
    """By claim; all of them."""

    def score(self, claims: Sequence[str]) -> float:
        """How many of these claims hold; one that holds in part counts a half."""
        return sum(POINTS[self.verdicts[claim]] for claim in claims)

    def holding(self, claims: Sequence[str]) -> int:
        """How many of these claims hold."""
        return sum(self.verdicts[claim] is Verdict.HOLDS for claim in claims)


Run = Callable[[Reading, str], Scored]
"""Runs a reading, and says why it is run."""
Expect = Callable[[int], object]
"""Hears how many readings come next."""


def declared(choices: tuple[Choice, ...]) -> list[tuple[Reading, str]]:
    """The reading as taken, every choice made otherwise alone, and every two of them together."""
    singles = [(choice.key, option.key) for choice in choices for option in choice.others]
    readings = [(Reading(choices), TAKEN)]
    readings += [(Reading(choices, {key: option}), SINGLE) for key, option in singles]
    pairs = [dict(pair) for pair in combinations(singles, 2) if pair[0][0] != pair[1][0]]
    return readings + [(Reading(choices, pair), PAIR) for pair in pairs]


def ranked(done: Iterable[Scored], split: Split) -> list[Scored]:
    """The best first, by the scored half; of equals the one with fewer departures, then by name."""
    return sorted(done, key=lambda s: (-s.score(split.scored), len(s.reading.otherwise), s.reading.name))


def explore(choices: tuple[Choice, ...], split: Split, run: Run, expect: Expect) -> list[Scored]:
    """Run the declared design, then search on from its best readings as long as the scored half gains.

    Each step extends the best readings by one more choice. The held-out half is never looked at.

    Args:
        choices: the paper's.
        split: its claims.
        run: runs a reading.
        expect: hears how many come next: the design first, then each step of the search.
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
    """The reading with one more choice made otherwise."""
    free = [choice for choice in reading.choices if choice.key not in reading.otherwise]
    return [
        Reading(reading.choices, {**reading.otherwise, choice.key: option.key})
        for choice in free
        for option in choice.others
    ]


def effects(done: Iterable[Scored], claims: Sequence[str]) -> dict[tuple[str, str], list[float]]:
    """What an option changes: the score with it less that without it, in each pair of readings that differ in it alone.

    Args:
        done: the readings.
        claims: the scored ones.
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
        """``row`` is what the file has."""
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
        """Both halves."""
        return [*self.split.scored, *self.split.held_out]

    def says(self, claim: str) -> str:
        """Under how many readings a claim holds, and which single choices, made otherwise, make it hold."""
        holds = [one for one in self.done if one.verdicts[claim] is Verdict.HOLDS]
        said = f"It holds under {len(holds)} of {len(self.done)} readings of the text."
        alone = [one.reading.name for one in holds if one.why == SINGLE]
        if self.done[0].verdicts[claim] is Verdict.HOLDS or not alone:
            return said
        return f"{said} One choice made otherwise is enough: {' or '.join(alone)}."

    def _scored(self, one: Mapping[str, Any]) -> Scored:
        known = {letter: verdict for verdict, letter in LETTERS.items()}
        each = zip(self.row["claims"], one["verdicts"], strict=True)
        verdicts = {claim: known[letter] for claim, letter in each}
        return Scored(Reading(self.choices, one["otherwise"]), one["why"], verdicts)
