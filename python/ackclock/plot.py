"""One run as a picture: its time-sequence graph above its congestion window. Imported late: it needs matplotlib."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ackclock import colours
from ackclock.papers import files, style

SIZE_INCHES = (7.0, 5.2)
MANY_POINTS = 5_000
"""From here on points are drawn as an image inside an SVG file, which would else take long to open."""
HEADROOM = 1.1


@dataclass
class Series:
    """Points over time: ``at`` in seconds, ``kb`` in kB (1000 B)."""

    at: list[float] = field(default_factory=list)
    kb: list[float] = field(default_factory=list)

    def add(self, row: dict[str, str], key: str) -> None:
        """Add what a row of a trace says under ``key``; ssthresh is infinite at first, which has no place in a plot."""
        size = float(row[key]) / 1e3
        self.at.append(int(row["time_ns"]) / 1e9)
        self.kb.append(size if size != float("inf") else float("nan"))


@dataclass
class Course:
    """What happened to one flow: see docs/trace.md."""

    first: Series = field(default_factory=Series)
    needed: Series = field(default_factory=Series)
    needless: Series = field(default_factory=Series)
    dropped: Series = field(default_factory=Series)
    acked: Series = field(default_factory=Series)
    cwnd: Series = field(default_factory=Series)
    ssthresh: Series = field(default_factory=Series)

    def take(self, row: dict[str, str]) -> None:
        """Add one row of the flow's trace."""
        match row["event"], row["side"]:
            case "sent", "sender" if row["len"] != "0":
                again = self.needless if row["needless"] == "true" else self.needed
                (self.first if row["sends"] == "1" else again).add(row, "seq")
            case "dropped", "receiver" if row["len"] != "0":
                self.dropped.add(row, "seq")
            case "acked", "sender":
                self.acked.add(row, "ack")
            case "window", "sender":
                if not self.cwnd.at:
                    self.cwnd.add(row | {"time_ns": "0"}, "cwnd_from")
                    self.ssthresh.add(row | {"time_ns": "0"}, "ssthresh_from")
                self.cwnd.add(row, "cwnd")
                self.ssthresh.add(row, "ssthresh")


def read(trace: Path, flow: int = 0) -> Course:
    """The course of a flow, by its position in the scenario, from a trace in CSV."""
    course = Course()
    with trace.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["flow"] == str(flow):
                course.take(row)
    return course


def draw(course: Course, stack: str, title: str) -> Figure:
    """The time-sequence graph above ``cwnd`` and ``ssthresh``, with the stack's colour."""
    with style.paper():
        figure = Figure(figsize=SIZE_INCHES, layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1.3))
        upper.set_title(title)
        _sequence(upper, course, colours.of(stack))
        lower.step(course.cwnd.at, course.cwnd.kb, where="post", color=colours.of(stack), label="cwnd")
        lower.step(
            course.ssthresh.at, course.ssthresh.kb, "--", where="post", color="#555555", linewidth=0.9, label="ssthresh"
        )
        # The first ssthresh may be far above any window; what happens is what is to be seen.
        lower.set_ylim(0, HEADROOM * max(course.cwnd.kb, default=1.0))
        lower.set_ylabel("window (kB)")
        lower.set_xlabel("time (s)")
        lower.set_xlim(left=0)
        upper.legend(loc="upper left", markerscale=1.3)
        lower.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, borderpad=0)
    return figure


def _sequence(axes: Axes, course: Course, colour: str) -> None:
    events = colours.EVENTS
    axes.step(
        course.acked.at, course.acked.kb, where="post", color=events["ack"], linewidth=0.8, label="acknowledged up to"
    )
    marks: list[tuple[str, Series, str, str, float, float]] = [
        ("first transmission", course.first, ".", colour, 8, 0),
        ("retransmission, needed", course.needed, "^", events["needed"], 22, 0.4),
        ("retransmission, needless", course.needless, "D", events["needless"], 18, 0.4),
        ("dropped on the way", course.dropped, "x", events["dropped"], 16, 0.8),
    ]
    for order, (label, series, marker, fill, size, edge) in enumerate(marks, start=3):
        axes.scatter(
            series.at,
            series.kb,
            s=size,
            marker=marker,
            c=fill,
            edgecolors=None if marker == "x" else "black" if edge else "none",
            linewidths=edge,
            zorder=order,
            label=f"{label} ({len(series.at):,})",
            rasterized=len(series.at) > MANY_POINTS,
        )
    axes.set_ylabel("sequence (kB)")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,g}")


def save(figure: Figure, path: Path) -> None:
    """Write the figure; the ending of ``path`` says how.

    Raises:
        OSError: the folder is missing or not writable.
    """
    image = io.BytesIO()
    kind = path.suffix[1:].lower()
    with style.paper():
        figure.savefig(image, format=kind, dpi=style.PRINT_DPI, metadata={"Date": None} if kind == "svg" else None)
    files.write(path, image.getvalue())
