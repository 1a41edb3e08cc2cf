"""Values between two ends, in steps or random: the same on every machine and with every version of Python.

Computations use decimal numbers, whose rounding, logarithms and powers do not depend on a platform's library. Random
values come from SHA-256.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext

from ackclock.document import Node, Value

QUANTITY = 'a number, or a number with its unit, as in "10 ms"'
_NUMBER_AND_UNIT = re.compile(r"\s*(\d+(?:_\d+)*(?:\.\d+)?|\.\d+)\s*([A-Za-zµ/]+)\s*")
_DECIMALS = {"min": 9, "s": 9, "ms": 6, "us": 3, "µs": 3, "Gbps": 9, "Mbps": 6, "kbps": 3, "GB": 9, "MB": 6, "kB": 3}
"""Decimals of a unit that are whole numbers of the smallest unit; 0 for other units."""
_DIGITS = 12
"""Digits of a value between two ends; units have fewer."""
_BITS = 53
_EXACT = Context(prec=60, rounding=ROUND_HALF_EVEN)


def unit_interval(seed: int, path: str, sample: int) -> Decimal:
    """A number from 0 to 1 (excluded) that depends only on these three arguments.

    It is the first 53 bits of SHA-256 over the three, one line each. So additional samples and parameters do not change
    earlier values.
    """
    digest = hashlib.sha256(f"{seed}\n{path}\n{sample}".encode()).digest()
    return share(int.from_bytes(digest[:8], "big") >> (64 - _BITS), 1 << _BITS)


def share(part: int, whole: int) -> Decimal:
    """The ratio of a part to the whole."""
    return _EXACT.divide(Decimal(part), Decimal(whole))


def place(way: Decimal, count: int) -> int:
    """The index, below ``count``, that corresponds to a share of the way."""
    return int(_EXACT.multiply(way, Decimal(count)))


@dataclass(frozen=True)
class Span:
    """A range from one value to another."""

    low: Decimal
    high: Decimal
    unit: str | None
    log: bool
    whole: bool
    """Whether values are rounded to whole numbers of their unit."""
    counts: bool
    """Whether both ends were written as whole numbers without a unit."""

    def at(self, way: Decimal) -> Value:
        """The value at a share of the way from the low to the high end."""
        with localcontext(_EXACT):
            if way in (0, 1):
                exact = self.high if way else self.low
            else:
                a, b = (self.low.ln(), self.high.ln()) if self.log else (self.low, self.high)
                exact = (1 - way) * a + way * b
                exact = _rounded(exact.exp() if self.log else exact, _DIGITS)
            if self.whole:
                exact = exact.quantize(Decimal(1))
            if self.unit is not None:
                exact = exact.quantize(Decimal(1).scaleb(-_DECIMALS.get(self.unit, 0)))
                text = f"{exact:f}"
                return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {self.unit}"
            if exact == exact.to_integral_value() and (self.whole or self.counts):
                return int(exact)
            return float(exact)


def _rounded(number: Decimal, digits: int) -> Decimal:
    """Round to ``digits`` significant digits; whole and short numbers stay exact."""
    return number.quantize(Decimal(1).scaleb(number.adjusted() - digits + 1)) if number else number


def span(low: Node, high: Node, log: bool, whole: bool) -> Span:
    """Read a range.

    Raises:
        ScenarioError: an end is not a quantity, the units differ, the second end is not above the first, or the first
            end is not above zero on a logarithmic scale.
    """
    (a, unit), (b, other) = _quantity(low), _quantity(high)
    if unit != other:
        raise high.refuse(
            f"the unit of the other end, {unit}" if unit else "a number without a unit, as at the other end"
        )
    if b <= a:
        raise high.refuse(f"more than the other end, {low.written}")
    if log and a <= 0:
        raise low.refuse("more than zero, since the scale is logarithmic")
    counts = isinstance(low.value, int) and isinstance(high.value, int)
    return Span(a, b, unit, log, whole, counts)


def _quantity(node: Node) -> tuple[Decimal, str | None]:
    value = node.value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Decimal(repr(value)), None
    said = _NUMBER_AND_UNIT.fullmatch(value) if isinstance(value, str) else None
    if said is None:
        raise node.refuse(QUANTITY)
    return Decimal(said[1].replace("_", "")), said[2]
