"""Counts and durations in words."""

from __future__ import annotations

MINUTE_S, HOUR_S = 60, 3600
MILLION = 10**6


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
