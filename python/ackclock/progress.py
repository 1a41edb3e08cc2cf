"""Progress and time left: a bar on a terminal, lines elsewhere, both on standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

BAR_AFTER_S = 1.0
"""Shorter work gets no bar."""
LINE_EVERY_S = 10.0


@dataclass(frozen=True)
class Told:
    """The progress of some work."""

    done: float
    """Finished runs; fractional while a single run reports its share."""
    runs: int
    """Wanted runs; a stop rule may add more later."""
    kept: int
    """Finished runs that had been stored before."""
    unit: str = "run"
    """The unit of the counts."""


Tell = Callable[[Told], object]
"""Called with the progress at the start and after each step."""
Show = Callable[[str], AbstractContextManager[Tell]]
"""Shows the progress of named work until the context ends."""


def unshown(_: str) -> AbstractContextManager[Tell]:
    """Shows nothing."""
    return nullcontext(lambda _: None)


def animated() -> bool:
    """Whether standard error is a terminal that may be sent control characters."""
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM", "dumb") in {"dumb", "unknown"}
    return sys.stderr.isatty() and not plain


@contextmanager
def shown(what: str, at_once: bool = False) -> Iterator[Tell]:
    """Show the progress of ``what`` on standard error, with the time left.

    Work that is already complete at the start is not shown.

    Args:
        what: its name.
        at_once: announce the work immediately, not only after one second (a bar) or ten (a line).
    """
    display = _Bar(what, at_once) if animated() else _Lines(what, at_once)
    try:
        yield display.tell
    finally:
        display.close()


class _Pace:
    """The speed since the start, in runs per second."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self._before: float | None = None

    def rate(self, told: Told) -> float:
        """The current speed; 0 until a run is finished."""
        if self._before is None:
            self.began, self._before = time.monotonic(), told.done
        since = time.monotonic() - self.began
        return (told.done - self._before) / since if since > 0 else 0.0


class _Lines:
    """Lines of text."""

    def __init__(self, what: str, at_once: bool) -> None:
        self._what, self._first = what, at_once
        self._pace = _Pace()
        self._last = time.monotonic()

    def tell(self, told: Told) -> None:
        """Print a line if one is due."""
        rate, now = self._pace.rate(told), time.monotonic()
        if told.done >= told.runs:
            return
        if self._first:
            self._first = False
            kept = f", {told.kept:,} kept" if told.kept else ""
            self._print(f"{told.runs - told.kept:,} {told.unit}{'s' * (told.runs - told.kept != 1)}{kept}")
        if rate and now - self._last >= LINE_EVERY_S:
            self._last = now
            left = round((told.runs - told.done) / rate)
            self._print(f"{_how_far(told, rate)}, {left // 60}:{left % 60:02} left")

    def close(self) -> None:
        """Do nothing: lines need no clean-up."""

    def _print(self, said: str) -> None:
        print(f"{self._what}: {said}", file=sys.stderr, flush=True)


class _Bar:
    """A bar that is removed at the end."""

    def __init__(self, what: str, at_once: bool) -> None:
        self._what, self._after = what, 0.0 if at_once else BAR_AFTER_S
        self._pace = _Pace()
        self._bar: Progress | None = None

    def tell(self, told: Told) -> None:
        """Move the bar; create it first if it is due."""
        rate = self._pace.rate(told)
        if self._bar is None:
            if told.done >= told.runs or time.monotonic() - self._pace.began < self._after:
                return
            self._bar = self._begun()
        self._bar.update(self._bar.task_ids[0], completed=told.done, total=told.runs, said=_how_far(told, rate))

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def _begun(self) -> Progress:
        # Importing rich takes longer than a short run.
        from rich.console import Console  # noqa: PLC0415 - see above
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415 - likewise

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[said]}"))
        # The estimate covers the last minute, because points differ in length.
        bar = Progress(
            *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True, speed_estimate_period=60
        )
        bar.add_task(self._what, total=None, said="")
        bar.start()
        return bar


def _how_far(told: Told, rate: float) -> str:
    if told.runs == 1:
        return f"{100 * told.done:.0f} %"
    return f"{told.done:,} of {told.runs:,} {told.unit}s" + (f", {rate:,.1f} a second" if rate else "")
