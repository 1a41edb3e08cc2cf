"""The colour of each stack, the same in every figure; none of them is a colour of ``EVENTS``. A new stack is black."""

from __future__ import annotations

REFERENCE = "#000000"
# Okabe & Ito's palette, then Tol's "muted", both made for the colour-blind.
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
}
EVENTS = {"needed": "#D55E00", "needless": "#56B4E9", "ack": "#555555", "dropped": "#000000"}
"""What happened to packets; each has a marker or a line of its own, too."""


def of(stack: str) -> str:
    """The stack's colour; black for one that has none."""
    return STACKS.get(stack, REFERENCE)
