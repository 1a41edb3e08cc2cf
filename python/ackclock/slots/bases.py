"""Which base class belongs to which slot."""

from __future__ import annotations

from ackclock.slots.base import Algorithm
from ackclock.slots.threshold import DupThresh

BASES: dict[str, type[Algorithm]] = {"detect.threshold": DupThresh}
"""The base class of each slot, by its path in a stack."""
