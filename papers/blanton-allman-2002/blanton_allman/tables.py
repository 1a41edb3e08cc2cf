"""The numbers behind Figures 4 to 9."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ackclock.papers.paper import Table

from .measures import View
from .points import Scheme
from .schemes import ALL, ALPHAS, FIG9_SWAPS, SWAPS, XS, ewma, fraction


def numbers(v: View) -> Iterator[Table]:
    """Yield a table for each quantity, with a line for each scheme."""
    for what, of, digits in (
        ("Mean throughput, kB/s", lambda scheme, n: v.throughput(scheme, n) / 1e3, 1),
        ("Median of needless retransmissions", v.median, 1),
        ("Their median deviation", v.deviation, 1),
        ("Mean of timeouts", v.timeouts, 2),
    ):
        rows = list(_lines(of, digits))
        yield Table(f"{what}, an event every 1 s", ("scheme", *(f"{n} swaps" for n in SWAPS)), rows)
    rows = [[f"x = {fraction(x)}", *(f"{v.median(ewma(a, x), FIG9_SWAPS):g}" for a in ALPHAS)] for x in XS]
    title = f"Median of EWMA's needless retransmissions at {FIG9_SWAPS} swaps (Figure 9)"
    yield Table(title, ("", *(f"gain {a:g}" for a in ALPHAS)), rows)


def _lines(of: Callable[[Scheme, int], float], digits: int) -> Iterator[list[str]]:
    for scheme in ALL:
        yield [scheme.label, *(f"{of(scheme, n):.{digits}f}" for n in SWAPS)]
