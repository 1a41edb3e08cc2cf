"""One flow of one run on one sheet: time-sequence graph, window, queue."""

from __future__ import annotations

import io
from pathlib import Path

from matplotlib.figure import Figure

from ackclock import files
from ackclock.plot import style
from ackclock.plot.frames import ArrowTable, polars
from ackclock.plot.queue import longest, queue
from ackclock.plot.time_sequence import time_sequence
from ackclock.plot.window import window

SIZE_INCHES = (7.2, 7.0)


def course(
    events: ArrowTable,
    *,
    flow: int = 0,
    stack: str | None = None,
    title: str = "",
    start: float | None = None,
    stop: float | None = None,
) -> Figure:
    """Draw the time-sequence graph, the window below it, and the longest queue that can fill, if there is one.

    Arguments are those of :func:`ackclock.plot.time_sequence`.
    """
    events = polars(events)
    link = longest(events)
    heights = (3.2, 1.3, 1.0) if link is not None else (3.2, 1.3)
    with style.paper():
        figure = Figure(figsize=SIZE_INCHES, layout="constrained")
        panels = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    time_sequence(events, flow=flow, stack=stack, start=start, stop=stop, ax=panels[0])
    window(events, flow=flow, stack=stack, start=start, stop=stop, ax=panels[1])
    if link is not None:
        queue(events, link=link, start=start, stop=stop, ax=panels[2])
    for panel in panels[:-1]:
        panel.set_xlabel("")
    with style.paper():
        panels[0].set_title(title)
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write the figure, complete or not at all. The extension of ``path`` selects the format.

    Raises:
        OSError: the folder is missing or not writable, or the disk is full.
    """
    image = io.BytesIO()
    kind = path.suffix[1:].lower()
    with style.paper():
        figure.savefig(image, format=kind, dpi=style.PRINT_DPI, metadata={"Date": None} if kind == "svg" else None)
    files.write(path, image.getvalue())
