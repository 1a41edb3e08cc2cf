"""Progress and time left: a bar on a terminal, lines elsewhere, both on standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import rich.progress

BAR_AFTER_S = 1.0
"""Shorter work gets no bar."""
LINE_EVERY_S = 10.0
TELL = "ACKCLOCK_SHARE"
"""The environment variable that a kernel in virtual time sets: the file for the share that is done."""


@dataclass(frozen=True)
class Progress:
    """The progress of some work."""

    done: float
    """Finished runs; fractional while a single run reports its share."""
    runs: int
    """Wanted runs; a stop rule may add more later."""
    kept: int
    """Finished runs that had been stored before."""
    unit: str = "run"
    """The unit of the counts."""


Report = Callable[[Progress], object]
"""Called with the progress at the start and after each step."""
Show = Callable[[str], AbstractContextManager[Report]]
"""Shows the progress of named work until the context ends."""


def unshown(_: str) -> AbstractContextManager[Report]:
    """Shows nothing."""
    return nullcontext(lambda _: None)


def animated() -> bool:
    """Whether standard error is a terminal that may be sent control characters."""
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM", "dumb") in {"dumb", "unknown"}
    return sys.stderr.isatty() and not plain


@contextmanager
def shown(what: str, at_once: bool = False) -> Iterator[Report]:
    """Show the progress of ``what`` on standard error, with the time left.

    Work that is already complete at the start is not shown.

    Args:
        what: its name.
        at_once: announce the work immediately, not only after one second (a bar) or ten (a line).
    """
    file = os.environ.get(TELL)
    display = _Told(file) if file else _Bar(what, at_once) if animated() else _Lines(what, at_once)
    try:
        yield display.report
    finally:
        display.close()


@contextmanager
def shown_share(what: str) -> Iterator[Callable[[float], object]]:
    """Show the share of ``what`` that is done; as for :func:`shown`."""
    with shown(what) as report:
        yield lambda share: report(Progress(share, 1, 0))


class _Pace:
    """The speed since the start, in runs per second."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self._before: float | None = None

    def rate(self, progress: Progress) -> float:
        """The current speed; 0 until a run is finished."""
        if self._before is None:
            self.began, self._before = time.monotonic(), progress.done
        since = time.monotonic() - self.began
        return (progress.done - self._before) / since if since > 0 else 0.0


class _Told:
    """A file that is read outside of the kernel, where there is a real clock."""

    def __init__(self, file: str) -> None:
        self._file, self._last = file, 0

    def report(self, progress: Progress) -> None:
        """Write the share if it has changed by a hundredth."""
        now = int(100 * progress.done / progress.runs) if progress.runs else 0
        if now != self._last:
            self._last = now
            Path(self._file).write_text(str(now / 100), encoding="ascii")

    def close(self) -> None:
        """Do nothing: the file goes with the run's folder."""


class _Lines:
    """Lines of text."""

    def __init__(self, what: str, at_once: bool) -> None:
        self._what, self._first = what, at_once
        self._pace = _Pace()
        self._last = time.monotonic()

    def report(self, progress: Progress) -> None:
        """Print a line if one is due."""
        rate, now = self._pace.rate(progress), time.monotonic()
        if progress.done >= progress.runs:
            return
        if self._first:
            self._first = False
            kept = f", {progress.kept:,} kept" if progress.kept else ""
            self._print(
                f"{progress.runs - progress.kept:,} {progress.unit}{'s' * (progress.runs - progress.kept != 1)}{kept}"
            )
        if rate and now - self._last >= LINE_EVERY_S:
            self._last = now
            left = round((progress.runs - progress.done) / rate)
            self._print(f"{_how_far(progress, rate)}, {left // 60}:{left % 60:02} left")

    def close(self) -> None:
        """Do nothing: lines need no clean-up."""

    def _print(self, text: str) -> None:
        print(f"{self._what}: {text}", file=sys.stderr, flush=True)


class _Bar:
    """A bar that is removed at the end."""

    def __init__(self, what: str, at_once: bool) -> None:
        self._what, self._after = what, 0.0 if at_once else BAR_AFTER_S
        self._pace = _Pace()
        self._bar: rich.progress.Progress | None = None

    def report(self, progress: Progress) -> None:
        """Move the bar; create it first if it is due."""
        rate = self._pace.rate(progress)
        if self._bar is None:
            if progress.done >= progress.runs or time.monotonic() - self._pace.began < self._after:
                return
            self._bar = self._begun()
        (task,) = self._bar.task_ids
        self._bar.update(task, completed=progress.done, total=progress.runs, how_far=_how_far(progress, rate))

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def _begun(self) -> rich.progress.Progress:
        import rich.progress  # noqa: PLC0415 - takes longer than a short run
        from rich.console import Console  # noqa: PLC0415 - likewise

        text, left = rich.progress.TextColumn, rich.progress.TimeRemainingColumn()
        columns = (text("{task.description}"), rich.progress.BarColumn(), text("{task.fields[how_far]}"), left)
        # The estimate covers the last minute, because points differ in length.
        bar = rich.progress.Progress(*columns, console=Console(stderr=True), transient=True, speed_estimate_period=60)
        bar.add_task(self._what, total=None, how_far="")
        bar.start()
        return bar


def _how_far(progress: Progress, rate: float) -> str:
    if progress.runs == 1:
        return f"{100 * progress.done:.0f} %"
    return f"{progress.done:,} of {progress.runs:,} {progress.unit}s" + (f", {rate:,.1f} a second" if rate else "")
