"""Values between two ends, in steps or drawn: the same on every machine and with every Python.

Whatever is computed is computed in decimal numbers, whose rounding, logarithms and powers do not depend on a platform's
library; what is drawn comes from SHA-256.
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
"""How many decimals of a unit are whole numbers of the smallest one; of the others none."""
_DIGITS = 12
"""Between two ends; units have fewer."""
_BITS = 53
_EXACT = Context(prec=60, rounding=ROUND_HALF_EVEN)


def unit_interval(seed: int, path: str, sample: int) -> Decimal:
    """A number from 0 to 1 (not included) that depends on these three and on nothing else.

    It is the first 53 bits of SHA-256 over the three, a line each: so further samples, and further parameters, leave
    what was drawn before as it was.
    """
    digest = hashlib.sha256(f"{seed}\n{path}\n{sample}".encode()).digest()
    return share(int.from_bytes(digest[:8], "big") >> (64 - _BITS), 1 << _BITS)


def share(part: int, whole: int) -> Decimal:
    """A part of a whole."""
    return _EXACT.divide(Decimal(part), Decimal(whole))


def place(way: Decimal, count: int) -> int:
    """Which of so many a share of the way falls on."""
    return int(_EXACT.multiply(way, Decimal(count)))


@dataclass(frozen=True)
class Span:
    """From one value to another."""

    low: Decimal
    high: Decimal
    unit: str | None
    log: bool
    whole: bool
    """Whether values are rounded to whole numbers of their unit."""
    counts: bool
    """Whether both ends were written as whole numbers without unit."""

    def at(self, way: Decimal) -> Value:
        """The value at a share of the way from one to the other."""
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
    """So many digits: what comes out whole, or short, is."""
    return number.quantize(Decimal(1).scaleb(number.adjusted() - digits + 1)) if number else number


def span(low: Node, high: Node, log: bool, whole: bool) -> Span:
    """From one value to the other.

    Raises:
        ScenarioError: one is no quantity, they differ in their unit, the second is not above the first, or the first
            is not above zero where the scale is logarithmic.
    """
    (a, unit), (b, other) = _quantity(low), _quantity(high)
    if unit != other:
        raise high.refuse(f"the unit of the other end, {unit}" if unit else "a number without unit, as the other end")
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
