"""Figures 6.1 to 7.3: the influence of the set-up, and the thesis's proposals."""

from __future__ import annotations

from matplotlib.figure import Figure

from .chapter5 import GRAPH, LARGE, TALL, WIDE, WINDOW, windows
from .drawing import Mark, Plan, height, outcome, remark, segments
from .measures import per_loss
from .runs import FIRST_LOST, LOST_AT_ONCE, View
from .sender_trace import SEGMENT

MOST = LOST_AT_ONCE[-1]


def _whole(figure: Figure, view: View, name: str, title: str, stack: str = "net2") -> None:
    run, axes = view(name), figure.subplots()
    segments(axes, view.events(name), 0.0, run.acks[-1].at + 0.1, stack)
    axes.set_title(f"{title}: {outcome(run)}", loc="left")
    marks = [
        Mark(t, height(max(a.segment for a in run.acks if a.at <= t)), f"timeout {t:.1f} s", (8, -14))
        for t in run.timeouts
    ]
    remark(axes, marks)


def _fig61(figure: Figure, view: View) -> None:
    _whole(figure, view, "buffer 20", "a buffer of 20")


def _fig62(figure: Figure, view: View) -> None:
    said = {"45 ms": "45 ms one way: {}", "delayed": "50 ms: {}", "55 ms": "55 ms: {}"}
    panels = list(figure.subplots(3, 1, sharex=True))
    windows(panels, view, said)
    panels[0].legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, borderpad=0)


def _fig71(figure: Figure, view: View) -> None:
    _whole(figure, view, "delayed", "Net/2")


def _fig72(figure: Figure, view: View) -> None:
    _whole(figure, view, "estimate", "with the estimate")
    run, (axes,) = view("estimate"), figure.axes
    set_at = next(w for w in run.windows if w.ssthresh != run.windows[0].ssthresh)
    text = f"ssthresh is {set_at.ssthresh / SEGMENT:g} segments, {set_at.ssthresh:,.0f} bytes (thesis: 20, 20480)"
    lost = [Mark(d.at, height(d.segment), "a single loss, repaired", (25, -30)) for d in run.drops]
    remark(
        axes, [Mark(set_at.at, height(max(s.segment for s in run.sends if s.at <= set_at.at)), text, (30, 2)), *lost]
    )


def _fig73(figure: Figure, view: View) -> None:
    run, (top, bottom) = view("hoe"), figure.subplots(2, 1)
    segments(top, view.events("hoe"), 0.0, run.acks[-1].at + 0.1, "hoe")
    top.set_title(f"with the estimate and the new recovery: {outcome(run)}", loc="left")
    top.set_xlabel("")
    remark(top, [Mark(d.at, height(d.segment), "a single loss, repaired", (25, -30)) for d in run.drops])
    name = f"{MOST} lost"
    many = view(name)
    begins = many.fast_retransmits[0]
    segments(bottom, view.events(name), begins - 0.25, begins + 0.12 * MOST, "hoe", legend="")
    bottom.set_title(
        f"{MOST} losses in one window (ours): {per_loss(many, MOST):.2f} round trips each, "
        f"{len(many.timeouts)} timeouts",
        loc="left",
    )
    forced = [s for s in many.sends if s.at > begins and s.nth == 1][len(many.drops) // 2]
    marks = [
        Mark(begins, height(FIRST_LOST), "fast retransmit", (14, -20)),
        Mark(forced.at, height(forced.segment), "a new segment for two duplicates", (24, 22)),
    ]
    remark(bottom, marks)


PLANS = (
    Plan(
        "fig6-1",
        "Figure 6.1: a buffer of 20 packets",
        ("buffer 20",),
        f"{GRAPH} Net/2 with delayed ACKs. With a buffer of one bandwidth-delay product the same happens: a burst, "
        "losses, an insufficient fast retransmit, a timeout.",
        _fig61,
        WIDE,
    ),
    Plan(
        "fig6-2",
        "Figure 6.2: sensitivity to the delay",
        ("delayed", "45 ms", "55 ms"),
        f"{WINDOW} Net/2 with delayed ACKs. A slightly different delay changes everything that follows.",
        _fig62,
        LARGE,
    ),
    Plan(
        "fig7-1",
        "Figure 7.1: Net/2's transfer",
        ("delayed",),
        f"{GRAPH} Delayed ACKs. Each flat part is a wait for the timer.",
        _fig71,
        WIDE,
    ),
    Plan(
        "fig7-2",
        "Figure 7.2: with a measured threshold",
        ("estimate",),
        f"{GRAPH} Delayed ACKs, no eighth of a segment. The SYN's round trip and the spacing of three ACKs give the "
        "first ssthresh; slow start ends before the buffer overflows.",
        _fig72,
        WIDE,
    ),
    Plan(
        "fig7-3",
        "Figure 7.3: with the new recovery as well",
        ("hoe", f"{MOST} lost"),
        f"{GRAPH} Above, delayed ACKs, no eighth: only single losses are left. Below, one of our runs, in which {MOST} "
        "segments of a window are dropped: each partial ACK triggers the next retransmission, and two duplicates "
        "release a new segment.",
        _fig73,
        TALL,
    ),
)
"""The figures in the thesis's order."""
