"""Flows: what they send, and how their receivers answer.

Made of the JSON Schema by tools/scenario_classes.py: make generated.
"""

# ruff: noqa: E501 - a first sentence is one line

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from ackclock.scenario.part import Part

__all__ = [
    "AckDelayed",
    "AckDelayedReordered",
    "AckEvery",
    "AckHeartbeat",
    "AckQuick",
    "AckWindowUpdate",
    "App",
    "Bulk",
    "Fixed",
    "Flow",
    "Receiver",
    "Wire",
]


@dataclass(frozen=True, kw_only=True, repr=False)
class AckEvery(Part):
    """An ACK for each segment."""

    TAG: ClassVar = ("ack", "every")


@dataclass(frozen=True, kw_only=True, repr=False)
class AckDelayed(Part):
    """Every second segment, or after a delay (RFC 1122 §4.2.3.2)."""

    TAG: ClassVar = ("ack", "delayed")

    delay: str | None = None
    """Longest wait of a single segment. As in "200 ms". Default: ``"200 ms"``."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AckDelayedReordered(Part):
    """The same for segments out of order, too: neither a gap nor its filling is answered at once (Lee, Park & Choi 2002; Leung & Ma 2005 §II)."""

    TAG: ClassVar = ("ack", "delayed-reordered")

    delay: str | None = None
    """Longest wait of a single segment. As in "200 ms". Default: ``"200 ms"``."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AckHeartbeat(Part):
    """Every second segment, or at the next beat of a clock shared by the host (BSD)."""

    TAG: ClassVar = ("ack", "heartbeat")

    interval: str | None = None
    """Time between beats. As in "200 ms". Default: ``"200 ms"``."""
    phase: str | None = None
    """Where in the interval the beats lie (`t mod interval = phase`). As in "200 ms". Default: ``"0 s"``."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AckWindowUpdate(Part):
    """As soon as two full segments could be announced anew, a window update, or at the next beat of the host's clock (BSD Net/2; Hoe §3.2.3)."""

    TAG: ClassVar = ("ack", "window-update")

    interval: str | None = None
    """Time between beats. As in "200 ms". Default: ``"200 ms"``."""
    phase: str | None = None
    """Where in the interval the beats lie (`t mod interval = phase`). As in "200 ms". Default: ``"0 s"``."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AckQuick(Part):
    """Every second segment, or after a delay; but each at the start, after a pause and after a repetition (Linux)."""

    TAG: ClassVar = ("ack", "quick")

    delay: str | None = None
    """Longest wait of a single segment once no ACK needs to be quick. Default 40 ms (Linux). As in "200 ms".
    Default: ``"40 ms"``.
    """
    acks: int | None = None
    """ACKs without delay at the start, after a pause and after a repetition. Default 16 (Linux). At least 1.
    Default: ``16``.
    """
    idle: str | None = None
    """A pause is a time without data that is longer than this. Default 200 ms (Linux's shortest timeout). As in "200
    ms". Default: ``"200 ms"``.
    """


Receiver: TypeAlias = AckEvery | AckDelayed | AckDelayedReordered | AckHeartbeat | AckWindowUpdate | AckQuick
"""When a receiver answers."""


Wire: TypeAlias = Literal["ipv4", "ns2"]
"""Sizes on the wire. ``ipv4``: Real headers with the options that are carried; ``ns2``: A fixed header; ACKs of 40
bytes and 8 for each SACK block.
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class Bulk(Part):
    """It never stops."""

    TAG: ClassVar = ("kind", "bulk")

    start: str | None = None
    """When it begins. As in "200 ms". Default: ``"0 s"``."""
    jitter: str | None = None
    """It begins later by a random time below this, another in each seed. As in "200 ms". Default: ``"0 s"``."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Fixed(Part):
    """A fixed number of bytes."""

    TAG: ClassVar = ("kind", "fixed")

    size: str
    """How much: segments, as in `"100 packets"`, or bytes. As in "65 packets" or "1460 B"."""
    start: str | None = None
    """When it begins. As in "200 ms". Default: ``"0 s"``."""
    jitter: str | None = None
    """It begins later by a random time below this, another in each seed. As in "200 ms". Default: ``"0 s"``."""


App: TypeAlias = Bulk | Fixed
"""What is sent."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Flow(Part):
    """A flow between two nodes, or `count` equal ones."""

    from_: str
    """The sender's node. As in "R1"."""
    to: str
    """The receiver's node. As in "R1"."""
    stack: str
    """The sender's TCP; `ackclock stacks` lists them."""
    set: Mapping[str, Any] | None = None
    """Parameters of the stack by path, as with `--set`: `"rto.tick" = "500 ms"`; `recovery = "tahoe"`, a component
    by its kind; `recovery = { kind = … }`, all of it.
    """
    segment: str | None = None
    """Payload of a full segment, 1 B to 65495 B. As in "1460 B". Default: ``"1460 B"``."""
    window: str | None = None
    """The receiver's window, from one segment to 1 GiB (RFC 7323 §2.3). As in "65 packets" or "1460 B". Default:
    ``"65535 B"``.
    """
    receiver: Receiver | None = None
    """When the receiver answers. Default: as the stack says."""
    handshake: bool | None = None
    """Whether the connection begins with a SYN, or is established at its start. Default: ``false``."""
    wire: Wire | None = None
    """Sizes on the wire. With `header` it is `"ns2"`. Default: ``"ipv4"``."""
    header: str | None = None
    """The fixed header of `wire = "ns2"`. As in "1460 B". Default: ``"40 B"``."""
    name: str | None = None
    """A name for people. Default: `flow-1`, …."""
    count: int | None = None
    """How many equal flows there are. Two or more are called `name-1`, …. At least 1, at most 65536. Default: ``1``."""
    spread: str | None = None
    """Over this time their starts are spread evenly. As in "200 ms". Default: ``"0 s"``."""
    app: App | None = None
    """What is sent. Default: data without end, from the start of the run."""
