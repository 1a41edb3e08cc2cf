"""Links.

Generated from the JSON Schema: make generated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ackclock.scenario.elements import Element
from ackclock.scenario.part import Part
from ackclock.scenario.settings import Form, Queue

__all__ = ["Back", "Link"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Back(Part):
    """Keys that differ in the other direction: any of `rate`, `delay`, `queue`, `elements`, `form`."""

    rate: str | None = None
    """Bits or bytes per second, or `"unlimited"`: transmission takes no time. As in "5 Mbps" or "unlimited"."""
    delay: str | None = None
    """Propagation delay, at most an hour. As in "200 ms"."""
    queue: str | Queue | None = None
    """Capacity of the queue, in packets or in bytes on the wire; or a table with the limit and its convention. As in
    "65 packets" or "1460 B" or "unlimited".
    """
    elements: Sequence[Element] | None = None
    """The elements that act on packets, in order."""
    form: Form | None = None
    """How the link is simulated. Both forms give the same results."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Link(Part):
    """A link between two nodes. Both directions are the same except for the keys in `back`."""

    from_: str
    """One end. Any name that a link uses is a node. As in "R1"."""
    to: str
    """The other end. As in "R1"."""
    rate: str
    """Bits or bytes per second, or `"unlimited"`: transmission takes no time. As in "5 Mbps" or "unlimited"."""
    delay: str
    """Propagation delay, at most an hour. As in "200 ms"."""
    queue: str | Queue | None = None
    """Capacity of the queue, in packets or in bytes on the wire; or a table with the limit and its convention. As in
    "65 packets" or "1460 B" or "unlimited". Default: ``"unlimited"``.
    """
    elements: Sequence[Element] | None = None
    """The elements that act on packets, in order. Default: ``[]``."""
    form: Form | None = None
    """How the link is simulated. Both forms give the same results. Default: ``"auto"``."""
    back: Back | None = None
    """Keys that differ in the other direction: any of `rate`, `delay`, `queue`, `elements`, `form`."""
