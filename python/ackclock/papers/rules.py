"""The written rule: the values that a claim's words accept, and the outcome for a measured value.

A claim's line in claims.csv names the rule for its words, one for each measured value, separated by ``;``. Bounds
follow only from the word and the published number. The table of all words is in docs/verdicts.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

Interval = tuple[float, float]

NUMBER, ABOUT, ROUGHLY = 0.1, 0.2, 0.3
"""Relative deviation allowed from a plain number, from one after "about", and from one after "roughly"."""
ORDER = 2.0
"""The factor that "on the order of" allows."""
SAME = 0.01
"""Relative difference allowed between two values that are "the same"; in an order, values this close are a tie."""
SLIGHT = 0.1
"""The largest slight effect; a larger one is significant."""
DRASTIC = 0.5
"""The smallest share by which a drastic effect lowers a value; a drastic increase doubles it."""
MONOTONE = 0.9
"""The smallest rank correlation of a curve that rises."""
PER_CENT = 100


class Part(Enum):
    """The outcome of a measured value for its part of a claim."""

    HOLDS = "holds"
    UNDECIDED = "undecided"
    DIFFERS = "differs"


@dataclass(frozen=True)
class Bound:
    """A range of accepted values."""

    low: float = -math.inf
    high: float = math.inf
    open: bool = False
    """Whether the end points are excluded."""

    def accepts(self, value: float) -> bool:
        """Whether the value is within the bound. NaN never is."""
        return self.low < value < self.high if self.open else self.low <= value <= self.high

    def judge(self, value: float, reach: Interval | None) -> Part:
        """Judge a value, given the interval that chance allows for it.

        Args:
            value: the measured value.
            reach: the smallest and the largest plausible value; ``None`` if the value does not depend on chance.
        """
        if math.isnan(value):
            return Part.DIFFERS
        low, high = reach or (value, value)
        if self.accepts(low) and self.accepts(high):
            return Part.HOLDS
        if high < self.low or low > self.high or (self.open and (high <= self.low or low >= self.high)):
            return Part.DIFFERS
        return Part.UNDECIDED

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.low:.4g}"
        if math.isinf(self.low):
            return f"{'below' if self.open else 'at most'} {self.high:.4g}"
        if math.isinf(self.high):
            return f"{'above' if self.open else 'at least'} {self.low:.4g}"
        return f"{'between' if self.open else 'from'} {self.low:.4g} {'and' if self.open else 'to'} {self.high:.4g}"


def _within(share: float) -> Callable[..., Bound]:
    def bound(low: float, high: float | None = None) -> Bound:
        top = low if high is None else high
        return Bound(low - share * abs(low), top + share * abs(top))

    return bound


def _effect(share: float, base: float) -> float:
    """Convert a share to a ratio (base 1), or to a difference in per cent (base 0)."""
    return share if base else share * PER_CENT


def _slightly(base: float, sign: int) -> Bound:
    far = base + sign * _effect(SLIGHT, base)
    return Bound(min(base, far), max(base, far))


def _by(share: float, base: float, sign: int) -> Bound:
    limit = base + sign * _effect(share, base)
    return Bound(low=limit) if sign > 0 else Bound(high=limit)


@dataclass(frozen=True)
class Word:
    """One entry of the written rule."""

    words: str
    """Examples of a paper's words."""
    accepts: str
    """The accepted values, in words."""
    numbers: tuple[int, ...]
    """The counts of numbers that may follow the word."""
    bound: Callable[..., Bound]
    bases: bool = False
    """Whether the number is the base of comparison: 1 for ratios, 0 for differences in per cent."""


def _word(words: str, accepts: str, bound: Callable[..., Bound], numbers: tuple[int, ...] = (1,)) -> Word:
    return Word(words, accepts, numbers, bound)


def _based(words: str, accepts: str, bound: Callable[..., Bound]) -> Word:
    return Word(words, accepts, (1,), bound, bases=True)


WORDS: Mapping[str, Word] = {
    "exactly": _word("a count or a size that involves no chance", "values that round to it", lambda n: Bound(n, n)),
    "number": _word("a number or a range on its own; similar, very close", "± 10 %", _within(NUMBER), (1, 2)),
    "about": _word("about, around, approximately; more or less the same", "± 20 %", _within(ABOUT), (1, 2)),
    "roughly": _word("roughly", "± 30 %", _within(ROUGHLY), (1, 2)),
    "order": _word("on the order of", "from half to twice the number", lambda n: Bound(n / ORDER, n * ORDER)),
    "same": _word("the same", "± 1 %", _within(SAME)),
    "over": _word("over, more than, higher", "larger values", lambda n: Bound(low=n, open=True)),
    "under": _word("under, fewer than, lower", "smaller values", lambda n: Bound(high=n, open=True)),
    "at least": _word("at least, not fewer, or more", "the number, or larger", lambda n: Bound(low=n)),
    "at most": _word("at most, never more, none", "the number, or smaller", lambda n: Bound(high=n)),
    "within about": _word("within about", "up to the number plus 20 %", lambda n: Bound(high=n * (1 + ABOUT))),
    "slightly over": _based("slightly higher", "higher by up to 10 %", lambda base: _slightly(base, 1)),
    "slightly under": _based("slightly lower", "lower by up to 10 %", lambda base: _slightly(base, -1)),
    "significantly over": _based(
        "significantly, clearly, considerably higher", "higher by at least 10 %", lambda base: _by(SLIGHT, base, 1)
    ),
    "significantly under": _based(
        "significantly, clearly, considerably lower", "lower by at least 10 %", lambda base: _by(SLIGHT, base, -1)
    ),
    "drastically under": _based("drastically lower", "at most half", lambda base: _by(DRASTIC, base, -1)),
    "slight": _word(
        "very little impact, insensitive", "a spread of up to 10 %", lambda: Bound(high=PER_CENT * SLIGHT), (0,)
    ),
    "rather slight": _word("rather insensitive", "a spread of up to 20 %", lambda: Bound(high=PER_CENT * ABOUT), (0,)),
    "rising": _word("rises, grows with", "a rank correlation of at least 0.9", lambda: Bound(low=MONOTONE), (0,)),
    "falling": _word("falls with", "a rank correlation of at most -0.9", lambda: Bound(high=-MONOTONE), (0,)),
    "before": _word(
        "an order",
        "a ratio to the next below 0.99; up to 1.01 is a tie, which is not evidence either way",
        lambda: Bound(high=1 - SAME),
        (0,),
    ),
}
"""Every word of the rule, by its name in claims.csv."""
DRAW = "draw"
"""Prefix of a rule whose published number comes from a single run."""
TEXT = "= "
"""Prefix of a text that the scenarios must have."""


@dataclass(frozen=True)
class Rule:
    """The rule for one measured value."""

    word: str
    """One of ``WORDS``."""
    numbers: tuple[float, ...]
    draw: bool = False
    digits: int = 0
    """Digits of the number after the decimal point, for ``exactly``."""

    @property
    def bound(self) -> Bound:
        """The accepted values."""
        if self.word == "exactly":
            half = 0.5 * 10.0**-self.digits
            return Bound(self.numbers[0] - half, self.numbers[0] + half)
        return WORDS[self.word].bound(*self.numbers)

    def judge(self, value: float, interval: Interval | None = None, spread: Interval | None = None) -> Part:
        """Judge a measured value.

        Args:
            value: the mean, or the median for a single draw.
            interval: its 95 % interval; ``None`` if it does not depend on chance.
            spread: the 5th to the 95th percentile of our runs; required only for a single draw.

        Raises:
            ValueError: the rule is for a single draw, and there is no spread.
        """
        if self.draw:
            return self._drawn(value, spread)
        if self.word == "before" and 1 - SAME < value <= 1 + SAME:
            return Part.UNDECIDED
        return self.bound.judge(value, interval)

    def _drawn(self, value: float, spread: Interval | None) -> Part:
        """Judge a single published run: outside our range it differs; inside, our median decides or leaves it open."""
        if spread is None:
            raise ValueError("the rule is one for a single draw, so the range of our runs is needed")
        if math.isinf(self.bound.low) or math.isinf(self.bound.high):
            return self.bound.judge(value, spread)
        if not spread[0] <= self.numbers[0] <= spread[1]:
            return Part.DIFFERS
        return Part.HOLDS if self.bound.accepts(value) else Part.UNDECIDED

    def __str__(self) -> str:
        return f"a single draw, {self.bound}" if self.draw else str(self.bound)


_SHAPE = re.compile(r"(?P<word>[a-z]+(?: [a-z]+)*)(?P<numbers>(?: -?\d+(?:\.\d+)?)*)")


def parse(text: str) -> tuple[Rule, ...]:
    """Parse a line of claims.csv into its rules, one for each measured value; an empty text has none.

    Raises:
        ValueError: the text is invalid; the message says what was found and what is allowed.
    """
    return tuple(_one(part.strip()) for part in text.split(";")) if text.strip() else ()


def _one(text: str) -> Rule:
    allowed = f"{', '.join(WORDS)}, each also behind `{DRAW}`"
    found = _SHAPE.fullmatch(text)
    if found is None:
        raise ValueError(f"found the rule {text!r}, allowed: {allowed}; then numbers")
    word, numbers = found["word"], found["numbers"].split()
    draw = word.startswith(f"{DRAW} ")
    word = word.removeprefix(f"{DRAW} ")
    if word not in WORDS:
        raise ValueError(f"found the rule {word!r}, allowed: {allowed}")
    entry = WORDS[word]
    if len(numbers) not in entry.numbers:
        many = " or ".join(map(str, entry.numbers))
        raise ValueError(f"found {len(numbers)} numbers behind the rule {word!r}, allowed: {many}")
    values = tuple(map(float, numbers))
    if entry.bases and values[0] not in (0, 1):
        raise ValueError(
            f"found {numbers[0]} behind the rule {word!r}, allowed: 1 for a ratio, 0 for a difference in %"
        )
    if draw and len(values) != 1:
        raise ValueError(f"found the rule {text!r}, allowed behind `{DRAW}`: a rule with one number")
    digits = max((len(number.partition(".")[2]) for number in numbers), default=0)
    return Rule(word, values, draw, digits)
