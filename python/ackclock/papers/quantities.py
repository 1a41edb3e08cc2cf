"""How much was simulated, in words."""

from __future__ import annotations

from ackclock.papers.lab import Spent

MINUTE_S, HOUR_S = 60, 3600
MILLION = 10**6


def count(n: float) -> str:
    """As in ``1,234`` or ``5.68 million``."""
    if n < MILLION:
        return f"{n:,.0f}"
    millions = n / MILLION
    return f"{millions:.2f} million" if millions < 10 else f"{millions:,.0f} million"  # noqa: PLR2004 - three digits


def duration(seconds: float) -> str:
    """As in ``3.4 s``, ``5 min 20 s`` or ``1,068 h``."""
    if round(seconds, 1) < MINUTE_S:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < HOUR_S:
        return f"{whole // MINUTE_S} min {whole % MINUTE_S} s"
    hours = seconds / HOUR_S
    return f"{hours:.1f} h" if hours < 10 else f"{hours:,.0f} h"  # noqa: PLR2004 - two digits


def words(spent: Spent) -> dict[str, str]:
    """Each of its numbers, to be read."""
    return {
        "points": count(spent.points),
        "runs": count(spent.runs),
        "simulated": duration(spent.simulated_s),
        "packets": count(spent.packets),
        "processor": duration(spent.processor_s),
        "wall": duration(spent.wall_s),
        "speed": count(spent.packets / spent.processor_s) if spent.processor_s else "–",  # noqa: RUF001 - nothing
    }
