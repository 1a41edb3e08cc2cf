"""The states of our implementation of Robust Recovery: crates/tcp/src/recovery/robust.rs."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

import ackclock
from ackclock import colours
from ackclock.papers.paper import Picture
from ackclock.plot import style
from ackclock.runs.trial import digest

Place = tuple[float, float]
BOX = (2.0, 0.9)
STATES: dict[str, tuple[Place, str, str]] = {
    "open": ((1.3, 3.6), "Open", "cwnd limits"),
    "retreat": ((5.2, 3.6), "Retreat", "a new segment for every\nsecond duplicate"),
    "probe": ((9.1, 3.6), "Probe", "a new segment for every\nduplicate"),
    "loss": ((5.2, 0.7), "Loss", "slow start from one segment"),
}
"""The position of each state, its name, and the rule that releases data."""
ARROWS: tuple[tuple[Place, Place, float, Place, str, str], ...] = (
    ((2.3, 3.75), (4.2, 3.75), 0, (3.25, 3.86), "1", "bottom"),
    ((6.2, 3.6), (8.1, 3.6), 0, (7.15, 3.68), "3", "bottom"),
    ((4.2, 3.4), (2.3, 3.4), 0, (3.25, 3.28), "2", "top"),
    ((9.5, 4.05), (8.7, 4.05), 0.9, (9.1, 4.78), "4, 5", "bottom"),
    ((8.4, 3.15), (1.9, 3.15), -0.22, (6.5, 2.32), "6", "top"),
    ((5.2, 3.15), (5.2, 1.15), 0, (5.05, 2.9), "7", "center"),
    ((9.1, 3.15), (6.2, 0.7), -0.15, (8.75, 1.55), "7", "center"),
    ((4.2, 0.7), (1.3, 3.15), -0.2, (2.2, 1.15), "8", "center"),
)
"""From, to, curvature, position of the number, the number, its alignment."""
RULES = (
    "1  third duplicate, unless a timeout's window is still being repaired: ssthresh is halved, recover = first "
    "unsent,\n    cwnd is kept, ndup = actnum = 0, snd_una is retransmitted",
    "2  ACK of all below recover: cwnd = actnum = ndup / 2 (at least 1); ssthresh is no higher (at least 2): "
    "congestion\n    avoidance follows",
    "3  partial ACK: actnum = ndup / 2, ndup = 0, snd_una is retransmitted; new segments from here on count as sent",
    "4  partial ACK, ndup >= sent in the round before: actnum + 1, snd_una is retransmitted, then one additional new "
    "segment",
    "5  partial ACK, ndup < sent: the difference is lost, too: actnum is reduced by it, recover = first unsent now, "
    "snd_una is retransmitted",
    "6  ACK of all below recover, after 4 or 5 has set it: cwnd = actnum (at least 1), ssthresh as in 2; one segment "
    "goes out",
    "7  timeout: cwnd = 1, ssthresh is halved; 1 is forbidden until all that is outstanding now is acknowledged",
    "8  ACK of all that was outstanding at the timeout",
)


def draw(out: Path) -> Picture:
    """Draw the diagram into the folder ``out``.

    Raises:
        OSError: the folder is missing or not writable.
    """
    figure = Figure(figsize=(style.WIDE_INCHES[0], 4.4), layout="constrained")
    axes = figure.subplots()
    axes.set_xlim(0, 10.4)
    axes.set_ylim(-3.1, 5.1)
    axes.axis("off")
    for place, name, what in STATES.values():
        _box(axes, place, name, what)
    for start, end, bend, at, number, vertical in ARROWS:
        arrow = FancyArrowPatch(
            start,
            end,
            connectionstyle=f"arc3,rad={bend}",
            arrowstyle="-|>",
            mutation_scale=9,
            linewidth=0.9,
            color="#333333",
        )
        axes.add_patch(arrow)
        axes.text(*at, number, ha="center", va=vertical, fontsize=9, fontweight="bold")
    for line, rule in enumerate(RULES):
        axes.text(0, -0.25 - (0.34 * line + 0.2 * (line > 0)), rule, fontsize=6.6, va="top")
    title = "Figures 1 and 2 are lost: the states of Robust Recovery as it is built"
    about = f"Ackclock {ackclock.__version__}"
    svg = style.save(figure, out / "states", {"Title": f"Wang & Shin, {title}", "Description": about})
    return Picture("states", title, CAPTION, svg, (), digest(RULES), "ackclock stacks")


def _box(axes: Axes, place: Place, name: str, what: str) -> None:
    (x, y), (width, height) = place, BOX
    recovery = name in {"Retreat", "Probe"}
    face = colours.PHASES["recovery"] if recovery else colours.PHASES["loss"] if name == "Loss" else "white"
    corner = (x - width / 2, y - height / 2)
    axes.add_patch(
        FancyBboxPatch(corner, width, height, boxstyle="round,pad=0,rounding_size=0.12", facecolor=face, linewidth=0.9)
    )
    axes.text(x, y + 0.2, name, ha="center", va="center", fontsize=9, fontweight="bold")
    axes.text(x, y - 0.17, what, ha="center", va="center", fontsize=6.2)


CAPTION = (
    "Drawn after crates/tcp/src/recovery/robust.rs (docs/decisions/0047), not from a run. The shaded states are one "
    "phase, Recovery. ndup counts duplicates since the last retransmission, actnum is the sender's estimate of "
    "the packets on the path, and the recovery ends at recover. The third duplicate leads from Open to Retreat (1). A "
    "single loss ends there (2); a partial ACK leads on to Probe (3), where each further one ends a round: without "
    "loss (4) or with (5), which moves the end of the recovery. Its ACK leads back to Open (6). A timeout ends either "
    "state (7), and the repair of its window leads back (8). The text and our implementation differ in 4: the text "
    "compares ndup with actnum, and the additional segment would have to be sent first."
)
