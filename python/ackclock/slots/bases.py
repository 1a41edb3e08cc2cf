"""The base class for each slot, and for path elements."""

from __future__ import annotations

from ackclock.slots.base import Outside
from ackclock.slots.congestion import Congestion
from ackclock.slots.detector import Detector
from ackclock.slots.disorder import Disorder
from ackclock.slots.element import Element
from ackclock.slots.recovery import Recovery
from ackclock.slots.rto import Rto
from ackclock.slots.spurious import Spurious
from ackclock.slots.startup import Startup
from ackclock.slots.threshold import DupThresh
from ackclock.slots.timeout import Timeout
from ackclock.slots.undo import Undo

BASES: dict[str, type[Outside]] = {
    "rto": Rto,
    "detect": Detector,
    "detect.threshold": DupThresh,
    "disorder": Disorder,
    "recovery": Recovery,
    "timeout": Timeout,
    "congestion": Congestion,
    "startup": Startup,
    "spurious": Spurious,
    "undo": Undo,
    "element": Element,
}
"""The base class for each slot, by the slot's path in a stack; and for path elements."""

__all__ = [
    "BASES",
    "Congestion",
    "Detector",
    "Disorder",
    "DupThresh",
    "Element",
    "Recovery",
    "Rto",
    "Spurious",
    "Startup",
    "Timeout",
    "Undo",
]
