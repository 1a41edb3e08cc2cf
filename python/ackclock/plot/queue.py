"""A queue over time, and its drops."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ackclock import colours
from ackclock.plot.frames import ArrowTable, polars
from ackclock.plot.series import Series, limits, series
from ackclock.plot.sheet import LIGHT, dense, legend_above, sheet, time_axis

HEADROOM = 1.15


def queue(
    events: ArrowTable,
    *,
    link: int | None = None,
    start: float | None = None,
    stop: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the number of packets in a queue at each arrival, counting the arriving packet, and mark dropped arrivals.

    Args:
        events: a trace.
        link: the directed link: twice its position in the scenario, plus one for the way back. Default: the link with
            the longest queue.
        start: start of the graph, in seconds. Default: the beginning.
        stop: end of the graph, in seconds. Default: the end.
        ax: the axes to draw on. Default: a new figure.

    Raises:
        ValueError: ``start`` is not before ``stop``, or not before the last event.
    """
    events = polars(events)
    begin, end = limits(events, start, stop)
    link = longest(events) if link is None else link
    length, drops = _read(events, link)
    with sheet(ax, 1.8) as axes:
        stems, crosses = length.during(begin, end), drops.during(begin, end)
        # One stem per arrival: the trace does not describe the time between arrivals.
        axes.vlines(
            stems.at,
            0,
            stems.value,
            colors=colours.STANDING,
            linewidth=LIGHT,
            label="waiting and in service, at each arrival",
            gid="queue",
            rasterized=dense(len(stems.at)),
        )
        axes.scatter(
            crosses.at,
            crosses.value,
            s=16,
            marker="x",
            c=colours.EVENTS["dropped"],
            linewidths=0.9,
            label=f"dropped, queue full ({len(crosses.at):,})",
            gid="drops",
            rasterized=dense(len(crosses.at)),
            zorder=3,
        )
        axes.set_ylim(0, HEADROOM * max(float(stems.value.max()) if len(stems.value) else 0.0, 1.0) + 1)
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.set_ylabel("queue (packets)" if link is None else f"queue of link {link}\n(packets)")
        time_axis(axes, begin, end)
        legend_above(axes, *axes.get_legend_handles_labels())
    return axes


def _read(events: pl.DataFrame, link: int | None) -> tuple[Series, Series]:
    """The queue length at each arrival, and at each drop."""
    # A directed link counts as an element and has its own number.
    gone = (pl.col("event") == "dropped") & (pl.col("why") == "queue") & (pl.col("element") == link)
    drops = series(events.filter(gone), pl.lit(0.0))
    here = events.filter((pl.col("event") == "queue") & (pl.col("link") == link))
    length = series(here, pl.col("queue_packets"))
    if len(length.at):
        before = np.maximum(np.searchsorted(length.at, drops.at, side="right") - 1, 0)
        drops = Series(drops.at, length.value[before])
    return length, drops


def longest(events: pl.DataFrame) -> int | None:
    """The directed link with the longest queue; ``None`` if no queue can fill."""
    by_link = events.filter(pl.col("event") == "queue").group_by("link").agg(pl.col("queue_packets").max())
    top = by_link.sort("queue_packets", "link", descending=[True, False])["link"].head(1).to_list()
    return int(top[0]) if top else None
