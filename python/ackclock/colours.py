"""The colour, marker and line of each stack, the same in every figure.

The stacks of ``STACKS`` have fixed colours and a solid line. Every other stack gets a colour, a marker and a broken
line derived from its name alone, so its look does not change when stacks are added.
"""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32

REFERENCE = "#000000"
# Okabe & Ito's palette, then Tol's "muted"; both are designed for colour-blind readers.
STACKS = {
    "tahoe": "#999999",
    "reno": "#E69F00",
    "reno-no-bugfix": "#8C5A00",
    "newreno": "#CC79A7",
    "newreno-slow-but-steady": "#AA4499",
    "sack-ff96": "#0072B2",
    "rfc-6675": "#009E73",
    "dsack": "#332288",
    "dsack-inc": "#44AA99",
    "dsack-avg": "#882255",
    "dsack-del": "#999933",
    "dsack-ewma": "#117733",
    "ncr-careful": "#661100",
    "robust": "#1B7837",
    "avg-dev": "#CC6677",
    "rr-tcp": "#6699CC",
}
MARKERS = {
    "tahoe": "X",
    "reno": "<",
    "reno-no-bugfix": ">",
    "newreno": "h",
    "newreno-slow-but-steady": "p",
    "sack-ff96": "o",
    "rfc-6675": "*",
    "dsack": "s",
    "dsack-inc": "^",
    "dsack-avg": "v",
    "dsack-del": "D",
    "dsack-ewma": "P",
    "ncr-careful": "8",
    "robust": "d",
    "avg-dev": "H",
    "rr-tcp": "d",
}
EVENTS = {
    "needed": "#D55E00",
    "refused": "#7A1FA2",
    "needless": "#56B4E9",
    "undecided": "#8C8C8C",
    "stall": "#F3E3D3",
    "ack": "#555555",
    "dropped": "#000000",
    "sack": "#A992D6",
    "dsack": "#EE3377",
    "rwnd": "#BBAA22",
    "cwnd": "#222222",
}
"""Events of packets, and the limits of sending. Each also has a distinct marker or line."""
STANDING = "#888888"
"""Packets in a queue."""
PHASES = {"disorder": "#F7F2CC", "recovery": "#FBDDC6", "loss": "#DADAE8"}
"""Shades behind a flow's graph; Loss is also hatched, for print in grey."""
# A fixed slice, so that a new entry in the table changes no other stack.
_OTHER_COLOURS = tuple(STACKS.values())[:12]
_OTHER_MARKERS = ("o", "s", "^", "v", "D", "P", "X", "<", ">", "h", "p", "*")
_OTHER_LINES = ((0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.2, 1.2, 1.2)), (0, (5, 1.2, 1.2, 1.2, 1.2, 1.2)))

Line = tuple[int, tuple[float, ...]]
WHOLE: Line = (0, ())


class Look(NamedTuple):
    """How a stack is drawn."""

    colour: str
    marker: str
    line: Line


def look(stack: str) -> Look:
    """Return the stack's look; a stack that is not in the table gets one derived from its name."""
    if stack in STACKS:
        return Look(STACKS[stack], MARKERS[stack], WHOLE)
    n = crc32(stack.encode())
    n, colour = divmod(n, len(_OTHER_COLOURS))
    n, marker = divmod(n, len(_OTHER_MARKERS))
    return Look(_OTHER_COLOURS[colour], _OTHER_MARKERS[marker], _OTHER_LINES[n % len(_OTHER_LINES)])


def of(stack: str) -> str:
    """Return the stack's colour."""
    return look(stack).colour
