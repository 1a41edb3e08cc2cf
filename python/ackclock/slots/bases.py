"""Which base class belongs to which slot."""

from __future__ import annotations

from ackclock.slots.base import Algorithm
from ackclock.slots.congestion import Congestion
from ackclock.slots.detector import Detector
from ackclock.slots.disorder import Disorder
from ackclock.slots.recovery import Recovery
from ackclock.slots.rto import Rto
from ackclock.slots.spurious import Spurious
from ackclock.slots.startup import Startup
from ackclock.slots.threshold import DupThresh
from ackclock.slots.timeout import Timeout
from ackclock.slots.undo import Undo

BASES: dict[str, type[Algorithm]] = {
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
}
"""The base class of each slot, by its path in a stack."""
