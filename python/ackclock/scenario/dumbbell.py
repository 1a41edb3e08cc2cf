"""Many flows over one bottleneck.

Generated from the JSON Schema: make generated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.scenario.elements import Element
from ackclock.scenario.flows import App, Receiver, Wire
from ackclock.scenario.links import Back
from ackclock.scenario.part import Part
from ackclock.scenario.settings import Form, Queue

__all__ = ["Dumbbell", "DumbbellFlow", "DumbbellLink"]


@dataclass(frozen=True, kw_only=True, repr=False)
class DumbbellLink(Part):
    """A link whose ends are given."""

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


@dataclass(frozen=True, kw_only=True, repr=False)
class DumbbellFlow(Part):
    """A flow, or `count` identical flows, each with its own sender and receiver."""

    stack: str
    """The sender's TCP; `ackclock stacks` lists them."""
    set: Mapping[str, Any] | None = None
    """Parameters of the stack by path, as with `--set`: one parameter, `"rto.tick" = "500 ms"`; a component by its
    kind, `recovery = "tahoe"`; or a whole component, `recovery = { kind = … }`.
    """
    segment: str | None = None
    """Payload of a full segment, 1 B to 65495 B. As in "1460 B". Default: ``"1460 B"``."""
    window: str | None = None
    """The receiver's window, one segment to 1 GiB (RFC 7323 §2.3). As in "65 packets" or "1460 B". Default: ``"65535
    B"``.
    """
    receiver: Receiver | None = None
    """When the receiver sends ACKs, and which options its TCP supports, as in `{ sack = false, timestamps = false
    }`. Default: the stack's own receiver.
    """
    handshake: bool | None = None
    """Whether the connection begins with a handshake. Without it the connection is established from the start.
    Default: ``false``.
    """
    wire: Wire | None = None
    """How sizes on the wire are computed. With `header`, it is `"ns2"`. Default: ``"ipv4"``."""
    header: str | None = None
    """The fixed header of `wire = "ns2"`. As in "1460 B". Default: ``"40 B"``."""
    name: str | None = None
    """A display name. Default: `flow-1`, …."""
    count: int | None = None
    """Number of identical flows. Two or more are called `name-1`, …. At least 1, at most 65536. Default: ``1``."""
    spread: str | None = None
    """The starts of the flows are spread evenly over this time. As in "200 ms". Default: ``"0 s"``."""
    app: App | None = None
    """The data to send. Default: an endless stream from the start of the run."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Dumbbell(Part):
    """Senders S1, S2, … on one router, receivers D1, D2, … on another."""

    bottleneck: DumbbellLink
    """The link from R1 to R2."""
    access: DumbbellLink
    """The access link of each sender and receiver, from left to right."""
    flows: Sequence[DumbbellFlow]
    """Flows, each with its own sender and receiver."""
