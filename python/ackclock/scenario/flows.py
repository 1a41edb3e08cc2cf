"""Flows: what they send, and how their receivers answer.

Made of the JSON Schema by tools/scenario_classes.py: make generated.
"""

# ruff: noqa: E501 - a first sentence is one line

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from ackclock.scenario.part import Part
from ackclock.scenario.settings import Gap

__all__ = [
    "AckDelayed",
    "AckDelayedReordered",
    "AckEvery",
    "AckHeartbeat",
    "AckLinux",
    "AckStack",
    "AckWindowUpdate",
    "App",
    "Bulk",
    "Connections",
    "Fixed",
    "Flow",
    "Receiver",
    "TransfersInARow",
    "Wire",
    "Writes",
]


@dataclass(frozen=True, kw_only=True, repr=False)
class AckStack(Part):
    """When the stack says."""

    TAG: ClassVar = ("ack", "stack")

    sack: bool | None = None
    """Whether it knows selective acknowledgments (RFC 2018). Default: as the stack says."""
    dsack: bool | None = None
    """Whether it reports duplicates by DSACK (RFC 2883). Default: as the stack says; no without SACK."""
    timestamps: bool | None = None
    """Whether it knows timestamps (RFC 7323). Default: as the stack says."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AckEvery(Part):
    """An ACK for each segment."""

    TAG: ClassVar = ("ack", "every")

    sack: bool | None = None
    """Whether it knows selective acknowledgments (RFC 2018). Default: as the stack says."""
    dsack: bool | None = None
    """Whether it reports duplicates by DSACK (RFC 2883). Default: as the stack says; no without SACK."""
    timestamps: bool | None = None
    """Whether it knows timestamps (RFC 7323). Default: as the stack says."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AckDelayed(Part):
    """Every second segment, or after a delay (RFC 1122 §4.2.3.2)."""

    TAG: ClassVar = ("ack", "delayed")

    delay: str | None = None
    """Longest wait of a single segment. As in "200 ms". Default: ``"200 ms"``."""
    sack: bool | None = None
    """Whether it knows selective acknowledgments (RFC 2018). Default: as the stack says."""
    dsack: bool | None = None
    """Whether it reports duplicates by DSACK (RFC 2883). Default: as the stack says; no without SACK."""
    timestamps: bool | None = None
    """Whether it knows timestamps (RFC 7323). Default: as the stack says."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AckDelayedReordered(Part):
    """The same for segments out of order, too: neither a gap nor its filling is answered at once (Lee, Park & Choi 2002; Leung & Ma 2005 §II)."""

    TAG: ClassVar = ("ack", "delayed-reordered")

    delay: str | None = None
    """Longest wait of a single segment. As in "200 ms". Default: ``"200 ms"``."""
    sack: bool | None = None
    """Whether it knows selective acknowledgments (RFC 2018). Default: as the stack says."""
    dsack: bool | None = None
    """Whether it reports duplicates by DSACK (RFC 2883). Default: as the stack says; no without SACK."""
    timestamps: bool | None = None
    """Whether it knows timestamps (RFC 7323). Default: as the stack says."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AckHeartbeat(Part):
    """Every second segment, or at the next beat of a clock shared by the host (BSD)."""

    TAG: ClassVar = ("ack", "heartbeat")

    interval: str | None = None
    """Time between beats. As in "200 ms". Default: ``"200 ms"``."""
    phase: str | None = None
    """Where in the interval the beats lie (`t mod interval = phase`). As in "200 ms". Default: ``"0 s"``."""
    sack: bool | None = None
    """Whether it knows selective acknowledgments (RFC 2018). Default: as the stack says."""
    dsack: bool | None = None
    """Whether it reports duplicates by DSACK (RFC 2883). Default: as the stack says; no without SACK."""
    timestamps: bool | None = None
    """Whether it knows timestamps (RFC 7323). Default: as the stack says."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AckWindowUpdate(Part):
    """As soon as two full segments could be announced anew, a window update, or at the next beat of the host's clock (BSD Net/2; Hoe §3.2.3)."""

    TAG: ClassVar = ("ack", "window-update")

    interval: str | None = None
    """Time between beats. As in "200 ms". Default: ``"200 ms"``."""
    phase: str | None = None
    """Where in the interval the beats lie (`t mod interval = phase`). As in "200 ms". Default: ``"0 s"``."""
    sack: bool | None = None
    """Whether it knows selective acknowledgments (RFC 2018). Default: as the stack says."""
    dsack: bool | None = None
    """Whether it reports duplicates by DSACK (RFC 2883). Default: as the stack says; no without SACK."""
    timestamps: bool | None = None
    """Whether it knows timestamps (RFC 7323). Default: as the stack says."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AckLinux(Part):
    """As Linux: more than a full segment at once, else after a time that adapts; each at the start, after a pause and after a repetition; SACKs held back together."""

    TAG: ClassVar = ("ack", "linux")

    delay: str | None = None
    """Shortest time that an ACK is delayed by; the time adapts from there (`TCP_ATO_MIN`). Default 40 ms. As in "200
    ms". Default: ``"40 ms"``.
    """
    max_delay: str | None = None
    """Longest (`TCP_DELACK_MAX`; a tick below the shortest retransmission timeout, 200 ms, at most). Default 200 ms.
    As in "200 ms". Default: ``"200 ms"``.
    """
    quick: int | None = None
    """Most ACKs without delay at the start, after a pause and after a repetition; never more than half the window
    has segments (`TCP_MAX_QUICKACKS`). Default 16. At least 0. Default: ``16``.
    """
    pingpong: int | None = None
    """Data sent in answer before both sides count as talking in turn, and ACKs wait for an answer to ride on
    (`tcp_pingpong_thresh`). Default 1. At least 1. Default: ``1``.
    """
    compress: int | None = None
    """Most duplicates that one SACK answers together; with 0 each has its own (`tcp_comp_sack_nr`). Default 44. At
    least 0. Default: ``44``.
    """
    compress_delay: str | None = None
    """Longest time that a SACK waits for others; a twentieth of the round trip if that is less
    (`tcp_comp_sack_delay_ns`). Default 1 ms. As in "200 ms". Default: ``"1 ms"``.
    """
    compress_slack: str | None = None
    """By which its timer may be late and, on an idle processor, is (`tcp_comp_sack_slack_ns`). Default 100 us. As in
    "200 ms". Default: ``"100 us"``.
    """
    hz: int | None = None
    """Ticks of the kernel's clock in a second, 1 to 1000. Default 250. At least 0. Default: ``250``."""
    sack: bool | None = None
    """Whether it knows selective acknowledgments (RFC 2018). Default: as the stack says."""
    dsack: bool | None = None
    """Whether it reports duplicates by DSACK (RFC 2883). Default: as the stack says; no without SACK."""
    timestamps: bool | None = None
    """Whether it knows timestamps (RFC 7323). Default: as the stack says."""


Receiver: TypeAlias = AckStack | AckEvery | AckDelayed | AckDelayedReordered | AckHeartbeat | AckWindowUpdate | AckLinux
"""When a receiver answers, and what its TCP knows: an option is in use where both ends have it."""


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


Connections: TypeAlias = Literal["new", "one"]
"""On which connections transfers in a row are made. ``new``: Each on a new one, with a handshake of its own if the
flow has one; ``one``: All on one.
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class TransfersInARow(Part):
    """Transfers in a row, as of requests that are answered: the next one begins when the last byte of the one before is acknowledged and a think time has passed.

    How long each took, from its beginning (its SYN, where it has one) to that acknowledgment, is a result.
    """

    TAG: ClassVar = ("kind", "transfers")

    size: str
    """Payload of each: segments, as in `"10 packets"`, or bytes. As in "65 packets" or "1460 B"."""
    count: int
    """How many. At least 1, at most 60000."""
    think: Gap | None = None
    """From the end of one to the beginning of the next. Default: none."""
    connections: Connections | None = None
    """On which connections. Default: ``"new"``."""
    start: str | None = None
    """When the first begins. As in "200 ms". Default: ``"0 s"``."""
    jitter: str | None = None
    """The first begins later by a random time below this, another in each seed. As in "200 ms". Default: ``"0 s"``."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Writes(Part):
    """A piece of data now and then, whatever became of the one before: the sender is often idle."""

    TAG: ClassVar = ("kind", "writes")

    size: str
    """Payload of each: segments, as in `"10 packets"`, or bytes. As in "65 packets" or "1460 B"."""
    gap: Gap
    """From one to the next."""
    count: int | None = None
    """How many. Default: without end. At least 1, at most 1000000000."""
    start: str | None = None
    """When the first is written. As in "200 ms". Default: ``"0 s"``."""
    jitter: str | None = None
    """The first is written later by a random time below this, another in each seed. As in "200 ms". Default: ``"0
    s"``.
    """


App: TypeAlias = Bulk | Fixed | TransfersInARow | Writes
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
    """When the receiver answers, and what its TCP knows, as in `{ sack = false, timestamps = false }`. Default: as
    the stack says.
    """
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
