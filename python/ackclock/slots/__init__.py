"""Algorithms in Python: a base class for each slot of a stack, and how scenarios name what is made of them."""

from __future__ import annotations

from ackclock._native import Ack, Board, Context, Newest, Phase, Sample, Segment, Window
from ackclock.slots.base import Algorithm
from ackclock.slots.registry import Given, given, register, setting
from ackclock.slots.source import source_hash
from ackclock.slots.threshold import DupThresh
from ackclock.slots.travel import pickled, unpacked, used

__all__ = [
    "Ack",
    "Algorithm",
    "Board",
    "Context",
    "DupThresh",
    "Given",
    "Newest",
    "Phase",
    "Sample",
    "Segment",
    "Window",
    "given",
    "pickled",
    "register",
    "setting",
    "source_hash",
    "unpacked",
    "used",
]
