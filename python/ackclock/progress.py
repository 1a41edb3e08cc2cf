"""How far something is, and how long it will take: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Told = Callable[[float], object]
"""Gets the share that is done, from 0 to 1."""
Progress = Callable[[str], AbstractContextManager[Told]]
"""Shows how far something is, under a name, for as long as it lasts."""
LINE_EVERY_S = 10.0


def animated() -> bool:
    """Whether standard error is a terminal that may be sent control characters."""
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM", "dumb") in {"dumb", "unknown"}
    return sys.stderr.isatty() and not plain


@contextmanager
def shown(what: str) -> Iterator[Told]:
    """Show on standard error how far ``what`` is, with the time left."""
    with _bar(what) if animated() else _lines(what) as told:
        yield told


@contextmanager
def _bar(what: str) -> Iterator[Told]:
    from rich.console import Console  # noqa: PLC0415 - only for terminals
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415 - likewise

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
    left = TimeRemainingColumn(elapsed_when_finished=True)
    # The estimate looks back a minute: points differ in length.
    with Progress(*columns, left, console=Console(stderr=True), transient=True, speed_estimate_period=60) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda share: bar.update(task, completed=share)


@contextmanager
def _lines(what: str) -> Iterator[Told]:
    began = last = time.monotonic()
    print(what, file=sys.stderr, flush=True)

    def tell(share: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= LINE_EVERY_S and 0 < share < 1:
            last = now
            left = (now - began) * (1 - share) / share
            line = f"{what}: {100 * share:.0f} %, {_minutes(left)} left"
            print(line, file=sys.stderr, flush=True)

    yield tell


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
