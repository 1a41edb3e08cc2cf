"""Figures 5.1 to 5.9: the behaviour of Net/2."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ackclock.plot.series import KB

from .drawing import Mark, Plan, height, outcome, remark, segments, window
from .measures import (
    START_S,
    duplicates,
    faded,
    false_retransmit,
    large_ack,
    recovery,
    single_loss,
    table,
)
from .runs import View
from .sender_trace import SenderTrace

LARGE, WIDE, TALL = (7.0, 4.4), (7.0, 3.6), (7.0, 5.6)
GRAPH = (
    "Bars are segments sent, crosses are segments that a full buffer drops; the staircase is the cumulative ACK, "
    "with a tick for each duplicate ACK, and the dashed line is the limit up to which the sender may send."
)
WINDOW = "cwnd with the inflation of fast recovery, as in Net/2; crosses are new thresholds, triangles are timeouts."


def windows(panels: list[Axes], view: View, runs: dict[str, str]) -> None:
    """Draw a window graph for each run, with the length of the longest; ``{}`` in a title stands for its outcome."""
    end = max(view(name).acks[-1].at for name in runs)
    for axes, (name, said) in zip(panels, runs.items(), strict=True):
        window(axes, view(name), 0.0, end)
        axes.set_title(said.format(outcome(view(name))), loc="left")
    for axes in panels[:-1]:
        axes.set_xlabel("")


def _fig1(figure: Figure, view: View) -> None:
    said = {
        "delayed": "with the eighth of a segment: {} (thesis: 12 s, 3, 19)",
        "delayed plain": "without it: {} (thesis: 8.85 s, 1, 13)",
    }
    panels = list(figure.subplots(2, 1, sharex=True))
    windows(panels, view, said)
    panels[1].legend(loc="upper right", ncols=3)
    last = max(d.at for d in view("delayed plain").drops)
    text = f"last loss at {last:.2f} s (thesis: none after 3 s)"
    remark(panels[1], [Mark(last, view("delayed plain").cwnd(last).cwnd / KB, text, (60, 8))])


def _fig2(figure: Figure, view: View) -> None:
    run, (top, bottom) = view("delayed"), figure.subplots(2, 1, sharex=True, height_ratios=(1.3, 1))
    start, stop = 0.65, 3.2
    segments(top, view.events("delayed"), start, stop, legend="lower right")
    top.set_xlabel("")
    window(bottom, run, start, stop)
    bottom.legend(loc="upper right", ncols=3)
    fades = zip(run.fast_retransmits[:3], ("1.15", "1.37", "2.78"), ((-12, 14), (14, 12), (-10, 30)), strict=True)
    marks = [Mark(t, 1, f"fast retransmit {t:.2f} s\n(thesis: {said})", way) for t, said, way in fades]
    for t, said, way in zip(run.fast_retransmits[:2], ("1.3", "1.47"), ((24, -10), (24, 24)), strict=True):
        ack = run.advance(t)
        if ack:
            marks.append(Mark(ack.at, run.cwnd(ack.at).cwnd / KB, f"retracted {ack.at:.2f} s\n(thesis: {said})", way))
    fired = run.timeouts[0]
    marks.append(Mark(fired, 1, f"timeout {fired:.2f} s\n(thesis: 2)", (12, 52)))
    remark(bottom, marks)


def _fig3(figure: Figure, view: View) -> None:
    panels = figure.subplots(2, 1, sharex=True)
    said = {
        "delayed plain": "delayed ACKs: an ACK of two segments releases three",
        "every": "an ACK for every packet: each releases two (after a SYN)",
    }
    for axes, (name, text) in zip(panels, said.items(), strict=True):
        segments(axes, view.events(name), 0.0, 0.8, top=100)
        axes.set_title(text, loc="left")
    panels[0].set_xlabel("")


def _fig4(figure: Figure, view: View) -> None:
    run, axes = view("every"), figure.subplots()
    segments(axes, view.events("every"), 0.0, run.acks[-1].at + 0.1)
    axes.set_title(f"an ACK for every packet, no eighth: {outcome(run)}", loc="left")
    wrong = false_retransmit(run)
    marks = [
        Mark(run.drops[0].at, height(run.drops[0].segment), "many losses in a round trip (Fig. 5.7)", (15, 62)),
        Mark(run.timeouts[0], height(run.drops[1].segment), "timeout", (8, 40)),
        Mark(wrong, height(90), "false fast retransmit (Fig. 5.8)", (40, -4)),
    ]
    lost = single_loss(run)
    if lost:
        text = f"segment {lost.segment} lost alone (Figs. 5.5, 5.6; thesis: 579)"
        marks.append(Mark(lost.at, height(lost.segment), text, (-25, 40)))
    remark(axes, marks)


def _fig5(figure: Figure, view: View) -> None:
    run, (top, bottom) = view("every"), figure.subplots(2, 1, sharex=True, height_ratios=(1.5, 1))
    lost, (asked, full, done) = single_loss(run), recovery(view("every"))
    if lost is None:
        return
    start, stop = lost.at - 0.25, done + 0.25
    segments(top, view.events("every"), start, stop, legend="lower right")
    top.set_xlabel("")
    window(bottom, run, start, stop)
    bottom.legend(loc="upper right", ncols=3)
    acked = height(lost.segment)
    marks = [
        Mark(lost.at, acked, f"{lost.segment} is lost (thesis: 579)", (-14, 22)),
        Mark(asked, acked, f"duplicates from {asked:.2f} s (5.43)", (14, -22)),
        Mark(
            done,
            height(max(a.segment for a in run.acks if a.at <= done)),
            f"ACK of many, {done:.2f} s (5.6)",
            (25, -40),
        ),
    ]
    remark(top, marks)
    remark(bottom, [Mark(full, run.cwnd(full + 1e-6).cwnd / KB, f"old window again {full:.2f} s (5.52)", (-25, 10))])


def _fig6(figure: Figure, view: View) -> None:
    run, axes = view("every"), figure.subplots()
    _, full, done = recovery(run)
    fade = faded(run)
    segments(axes, view.events("every"), full - 0.4, fade + 0.25, legend="lower right")
    at = {t: max(s.segment for s in run.sends if s.at <= t) for t in (full, done, fade)}
    marks = [
        Mark(full, height(at[full]), f"a group is sent from {full:.2f} s (5.52) …", (-10, 66)),
        Mark(done, height(at[done]), f"… to {done:.2f} s (5.6)", (-12, 36)),
        Mark(fade, height(at[fade]), f"no gap between ACKs\nafter {fade:.2f} s (6.2)", (-40, 20)),
    ]
    remark(axes, marks)


def _fig7(figure: Figure, view: View) -> None:
    run, (top, bottom) = view("every"), figure.subplots(2, 1, sharex=True, height_ratios=(1.6, 1))
    start, stop = 0.45, 1.65
    segments(top, view.events("every"), start, stop, legend="lower right")
    top.set_xlabel("")
    window(bottom, run, start, stop)
    bottom.legend(loc="upper right", ncols=3)
    lost = run.drops[0]
    asked = duplicates(run, lost)
    done, fired = run.advance(asked[0].at), run.timeouts[0]
    marks = [
        Mark(lost.at, height(lost.segment), f"{lost.segment} is the first lost,\n{lost.at:.2f} s (0.7)", (-4, 60)),
        Mark(asked[0].at, height(lost.segment - 1), f"first duplicate {asked[0].at:.2f} s (0.83)", (8, -20)),
        Mark(fired, height(run.drops[1].segment), f"timeout {fired:.2f} s (1.5)", (-10, 40)),
    ]
    if done:
        marks.append(Mark(done.at, height(done.segment), f"ACK of {lost.segment}: {done.at:.2f} s (1.0)", (18, 18)))
    remark(top, marks)
    cut = run.fast_retransmits[0]
    remark(bottom, [Mark(cut, run.cwnd(cut).cwnd / KB, f"{run.cwnd(cut).cwnd:,.0f} bytes\n(thesis: 51200)", (-20, 2))])


def _fig8(figure: Figure, view: View) -> None:
    run, axes = view("every"), figure.subplots()
    segments(axes, view.events("every"), run.timeouts[0] - 0.2, run.timeouts[0] + START_S)
    _false(axes, run)
    sent, one, two, again = table(run)
    acked = {a.at: a for a in run.acks}
    marks = [Mark(sent, height(acked[one].segment - 1), f"timeout {sent:.2f} s (1.5)", (-10, 18))]
    marks.append(Mark(one, height(acked[one].segment), f"ACK of {acked[one].segment}, {one:.2f} s (1.61)", (-4, 50)))
    text = f"ACK of {acked[two].segment}, {two:.2f} s (1.73),\nagain {again:.2f} s (1.74)"
    marks.append(Mark(two, height(acked[two].segment), text, (14, -14)))
    remark(axes, marks)


def _false(axes: Axes, run: SenderTrace) -> None:
    wrong, (large, _) = false_retransmit(run), large_ack(run)
    acked = max(a.segment for a in run.acks if a.at <= large)
    marks = [
        Mark(wrong, height(acked + 1), f"false fast retransmit\n{wrong:.2f} s (1.95 to 1.97)", (20, -34)),
        Mark(large, height(acked), f"large ACK {large:.2f} s (1.93)", (-40, 10)),
    ]
    remark(axes, marks)


def _fig9(figure: Figure, view: View) -> None:
    run, panels = view("every"), figure.subplots(2, 1)
    for axes, start, what in zip(panels, (run.begins, run.timeouts[0]), ("begins", "after the timeout"), strict=True):
        segments(axes, view.events("every"), start, start + START_S)
        sent = run.sent(start, start + START_S)
        acked = sum(a.newly for a in run.acks if start <= a.at < start + START_S)
        axes.set_title(f"slow start {what}: {len(sent)} segments sent, {acked} acknowledged", loc="left")
    panels[0].set_xlabel("")
    _false(panels[1], run)


PLANS = (
    Plan(
        "fig5-1",
        "Figure 5.1: the eighth of a segment",
        ("delayed", "delayed plain"),
        f"{WINDOW} Delayed ACKs. Net/2 adds an eighth of a segment to its window with each ACK of congestion "
        "avoidance; without it the window opens by one segment per round trip, and nothing is lost after the start.",
        _fig1,
        WIDE,
    ),
    Plan(
        "fig5-2",
        "Figure 5.2: a part of the upper graph",
        ("delayed",),
        f"{GRAPH} Below, {WINDOW} Each deep dip is a fast retransmit, for which Net/2 closes the window to one "
        "segment. The thesis's times are in brackets.",
        _fig2,
        TALL,
    ),
    Plan(
        "fig5-3",
        "Figure 5.3: delayed ACKs in slow start",
        ("delayed plain", "every"),
        f"{GRAPH} With delayed ACKs the window opens more slowly.",
        _fig3,
        LARGE,
    ),
    Plan(
        "fig5-4",
        "Figure 5.4: a whole transfer",
        ("every",),
        f"{GRAPH} An ACK for every packet, no eighth of a segment: the run of Figures 5.5 to 5.9.",
        _fig4,
        WIDE,
    ),
    Plan(
        "fig5-5",
        "Figure 5.5: recovery from a single loss",
        ("every",),
        f"{GRAPH} Below, {WINDOW} A fast retransmit repairs a single loss; each duplicate opens the window by one "
        "segment, and new segments are sent once it is as large as before. The thesis's times, for another "
        "segment, are in brackets.",
        _fig5,
        TALL,
    ),
    Plan(
        "fig5-6",
        "Figure 5.6: grouping after it",
        ("every",),
        f"{GRAPH} Segments sent in a group are acknowledged in a group, which releases the next group, until the "
        "path is full. The thesis's times are in brackets.",
        _fig6,
        WIDE,
    ),
    Plan(
        "fig5-7",
        "Figure 5.7: several losses end in a timeout",
        ("every",),
        f"{GRAPH} Below, {WINDOW} Slow start sends at twice the bottleneck's rate, so every other packet is lost. A "
        "fast retransmit repairs one loss; then the window is full, nothing more is sent, and the next loss waits "
        "for the timer. The thesis's times are in brackets.",
        _fig7,
        TALL,
    ),
    Plan(
        "fig5-8",
        "Figure 5.8: a false fast retransmit",
        ("every",),
        f"{GRAPH} After the timeout, segments that had arrived are also retransmitted (diamonds). Their duplicate "
        "ACKs trigger a fast retransmit although nothing more was lost. The thesis's times are in brackets.",
        _fig8,
        WIDE,
    ),
    Plan(
        "fig5-9",
        "Figure 5.9: a damped slow start",
        ("every",),
        f"{GRAPH} Above, the first 0.8 s of data; below, 0.8 s from the timeout on: ACKs for two segments and "
        "duplicates open the window more slowly.",
        _fig9,
        TALL,
    ),
)
"""The figures in the thesis's order."""
