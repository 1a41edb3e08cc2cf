"""Counts and durations in words, and the numbers of a scenario's quantities."""

from __future__ import annotations

MINUTE_S, HOUR_S = 60, 3600
MILLION = 10**6
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "Mbps": 1e6 / 8, "B/s": 1.0, "B": 1.0, "packets": 1.0}
"""Units of a scenario in seconds, bytes, bytes per second, or packets."""


def number(text: str) -> float:
    """Convert a quantity of a scenario to seconds, bytes, bytes per second or packets.

    Raises:
        KeyError: the unit is not one of ``UNITS``.
    """
    value, unit = text.split()
    return float(value) * UNITS[unit]


def count(n: float) -> str:
    """Format a count, as in ``1,234`` or ``5.68 million``."""
    if n < MILLION:
        return f"{n:,.0f}"
    millions = n / MILLION
    return f"{millions:.2f} million" if millions < 10 else f"{millions:,.0f} million"  # noqa: PLR2004 - three digits


def duration(seconds: float) -> str:
    """Format a duration, as in ``3.4 s``, ``5 min 20 s`` or ``1,068 h``."""
    if round(seconds, 1) < MINUTE_S:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < HOUR_S:
        return f"{whole // MINUTE_S} min {whole % MINUTE_S} s"
    hours = seconds / HOUR_S
    return f"{hours:.1f} h" if hours < 10 else f"{hours:,.0f} h"  # noqa: PLR2004 - two digits
