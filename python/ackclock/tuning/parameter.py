"""A parameter of the stack to search, and its possible values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from ackclock.document import Node, written
from ackclock.document import Value as Toml
from ackclock.late import optuna
from ackclock.sweep.values import Span, span

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

Value = float | int | str | bool
"""A value of a parameter in a run; a quantity is text with its unit."""
DIGITS = 4
"""Digits of a number that is tried; it is rounded before the run, so that printed values are exact."""
KEYS = ("from", "to", "whole", "spacing", "choice")
WHAT = "{ from = …, to = … } or { choice = [ … ] }"


@dataclass(frozen=True)
class Parameter:
    """A parameter and its values: a range or a list."""

    path: str
    """The path, in the form that ``--set`` takes."""
    span: Span | None
    choices: tuple[Value, ...] = ()

    def distribution(self) -> BaseDistribution:
        """The same for Optuna, with quantities as numbers in their unit."""
        if self.span is None:
            return optuna.distributions.CategoricalDistribution(self.choices)
        low, high = self.span.low, self.span.high
        if self._whole:
            return optuna.distributions.IntDistribution(int(low), int(high), log=self.span.log)
        return optuna.distributions.FloatDistribution(float(low), float(high), log=self.span.log)

    def value(self, asked: Toml) -> Value:
        """The value to run for a value from Optuna."""
        if self.span is None:
            choice: Value = asked
            return choice
        short = Decimal(asked) if self._whole else Decimal(f"{asked:.{DIGITS}g}")
        number = min(max(short, self.span.low), self.span.high)
        if self.span.unit is not None:
            return f"{number.normalize():f} {self.span.unit}"
        return int(number) if self._whole else float(number)

    def asked(self, value: Toml) -> Toml:
        """Optuna's value for a value in a scenario; ``None`` if the search does not include it."""
        if self.span is None:
            return value if value in self.choices else None
        text = str(value)
        if self.span.unit is not None:
            text, _, unit = text.partition(" ")
            if unit != self.span.unit:
                return None
        if isinstance(value, bool | None) or not self.span.low <= Decimal(text) <= self.span.high:
            return None
        return int(text) if self._whole else float(text)

    def ends(self) -> Sequence[Value]:
        """Values to check in place of all others: the smallest and the largest, or every choice."""
        return self.choices if self.span is None else [self.value(self.span.low), self.value(self.span.high)]

    @property
    def _whole(self) -> bool:
        return self.span is not None and self.span.whole


def parameter(path: str, said: Node) -> Parameter:
    """Read the parameter that a plan lists under a path.

    Raises:
        ScenarioError: the parameter is invalid.
    """
    table = said.keys(KEYS, WHAT)
    if "choice" in table:
        for key, node in table.items():
            if key != "choice":
                raise node.refuse("either `choice`, or `from` and `to`")
        return Parameter(path, None, _choices(table["choice"]))
    for key in ("from", "to"):
        if key not in table:
            raise said.refuse(WHAT)
    spacing = table["spacing"].text("linear or log") if "spacing" in table else "linear"
    if spacing not in {"linear", "log"}:
        raise table["spacing"].refuse("linear or log")
    whole = "whole" in table and table["whole"].truth()
    found = span(table["from"], table["to"], spacing == "log", whole)
    for key, end in (("from", found.low), ("to", found.high)):
        if whole and end != end.to_integral_value():
            raise table[key].refuse("a whole number, since `whole` is true")
    return Parameter(path, found)


def _choices(node: Node) -> tuple[Value, ...]:
    what = "a list of different texts, numbers, true and false"
    values = [item.value for item in node.items(what)]
    if not values or any(isinstance(v, list | dict) for v in values) or len(set(map(written, values))) < len(values):
        raise node.refuse(what)
    return tuple(values)
