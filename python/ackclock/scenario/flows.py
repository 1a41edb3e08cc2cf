"""Flows: the data that they send, and how their receivers answer.

Generated from the JSON Schema: make generated.
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
    """The stack's own rule."""

    TAG: ClassVar = ("ack", "stack")

    sack: bool | None = None
    """Whether it supports selective acknowledgments (RFC 2018). Default: the stack's value."""
    dsack: bool | None = None
    """Whether it reports duplicates by DSACK (RFC 2883). Default: the stack's value; no without SACK."""
    timestamps: bool | None = None
    """Whether it supports timestamps (RFC 7323). Default: the stack's value."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AckEvery(Part):
    """An ACK for each segment."""

    TAG: ClassVar = ("ack", "every")

    sack: bool | None = None
    """Whether it supports selective acknowledgments (RFC 2018). Default: the stack's value."""
    dsack: bool | None = None
    """Whether it reports duplicates by DSACK (RFC 2883). Default: the stack's value; no without SACK."""
    timestamps: bool | None = None
    """Whether it supports timestamps (RFC 7323). Default: the stack's value."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AckDelayed(Part):
    """An ACK for every second segment, or after a delay (RFC 1122 §4.2.3.2)."""

    TAG: ClassVar = ("ack", "delayed")

    delay: str | None = None
    """Longest delay of the ACK for a single segment. As in "200 ms". Default: ``"200 ms"``."""
    sack: bool | None = None
    """Whether it supports selective acknowledgments (RFC 2018). Default: the stack's value."""
    dsack: bool | None = None
    """Whether it reports duplicates by DSACK (RFC 2883). Default: the stack's value; no without SACK."""
    timestamps: bool | None = None
    """Whether it supports timestamps (RFC 7323). Default: the stack's value."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AckDelayedReordered(Part):
    """As "delayed", but also for segments out of order: neither a gap nor its filling is answered at once (Lee, Park & Choi 2002; Leung & Ma 2005 §II)."""

    TAG: ClassVar = ("ack", "delayed-reordered")

    delay: str | None = None
    """Longest delay of the ACK for a single segment. As in "200 ms". Default: ``"200 ms"``."""
    sack: bool | None = None
    """Whether it supports selective acknowledgments (RFC 2018). Default: the stack's value."""
    dsack: bool | None = None
    """Whether it reports duplicates by DSACK (RFC 2883). Default: the stack's value; no without SACK."""
    timestamps: bool | None = None
    """Whether it supports timestamps (RFC 7323). Default: the stack's value."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AckHeartbeat(Part):
    """An ACK for every second segment, or at the next beat of the host's clock (BSD)."""

    TAG: ClassVar = ("ack", "heartbeat")

    interval: str | None = None
    """Time between beats. As in "200 ms". Default: ``"200 ms"``."""
    phase: str | None = None
    """Offset of the beats within the interval (`t mod interval = phase`). As in "200 ms". Default: ``"0 s"``."""
    sack: bool | None = None
    """Whether it supports selective acknowledgments (RFC 2018). Default: the stack's value."""
    dsack: bool | None = None
    """Whether it reports duplicates by DSACK (RFC 2883). Default: the stack's value; no without SACK."""
    timestamps: bool | None = None
    """Whether it supports timestamps (RFC 7323). Default: the stack's value."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AckWindowUpdate(Part):
    """A window update as soon as the window can move by two full segments, or at the next beat of the host's clock (BSD Net/2; Hoe §3.2.3)."""

    TAG: ClassVar = ("ack", "window-update")

    interval: str | None = None
    """Time between beats. As in "200 ms". Default: ``"200 ms"``."""
    phase: str | None = None
    """Offset of the beats within the interval (`t mod interval = phase`). As in "200 ms". Default: ``"0 s"``."""
    sack: bool | None = None
    """Whether it supports selective acknowledgments (RFC 2018). Default: the stack's value."""
    dsack: bool | None = None
    """Whether it reports duplicates by DSACK (RFC 2883). Default: the stack's value; no without SACK."""
    timestamps: bool | None = None
    """Whether it supports timestamps (RFC 7323). Default: the stack's value."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AckLinux(Part):
    """As Linux: at once for more than a full segment, else after an adaptive delay.

    At the start, after a pause and after a repetition, an ACK for each segment. Duplicate ACKs are compressed.
    """

    TAG: ClassVar = ("ack", "linux")

    delay: str | None = None
    """Shortest delay of an ACK; the delay adapts from there (`TCP_ATO_MIN`). Default: 40 ms. As in "200 ms".
    Default: ``"40 ms"``.
    """
    max_delay: str | None = None
    """Longest delay of an ACK (`TCP_DELACK_MAX`); at most a tick below the shortest retransmission timeout of 200
    ms. Default: 200 ms. As in "200 ms". Default: ``"200 ms"``.
    """
    quick: int | None = None
    """Most ACKs sent without delay at the start, after a pause and after a repetition; never more than half the
    segments of the window (`TCP_MAX_QUICKACKS`). Default: 16. At least 0. Default: ``16``.
    """
    pingpong: int | None = None
    """Replies with data after which both sides count as talking in turn, so that ACKs wait for a reply to ride on
    (`tcp_pingpong_thresh`). Default: 1. At least 1. Default: ``1``.
    """
    compress: int | None = None
    """Most duplicates merged into one SACK; with 0 each has its own (`tcp_comp_sack_nr`). Default: 44. At least 0.
    Default: ``44``.
    """
    compress_delay: str | None = None
    """Longest time that a SACK waits to be merged; a twentieth of the RTT if that is less
    (`tcp_comp_sack_delay_ns`). Default: 1 ms. As in "200 ms". Default: ``"1 ms"``.
    """
    compress_slack: str | None = None
    """Slack of that timer: how late it may fire and, on an idle processor, does (`tcp_comp_sack_slack_ns`). Default:
    100 us. As in "200 ms". Default: ``"100 us"``.
    """
    hz: int | None = None
    """Ticks of the kernel's clock per second, 1 to 1000. Default: 250. At least 0. Default: ``250``."""
    sack: bool | None = None
    """Whether it supports selective acknowledgments (RFC 2018). Default: the stack's value."""
    dsack: bool | None = None
    """Whether it reports duplicates by DSACK (RFC 2883). Default: the stack's value; no without SACK."""
    timestamps: bool | None = None
    """Whether it supports timestamps (RFC 7323). Default: the stack's value."""


Receiver: TypeAlias = AckStack | AckEvery | AckDelayed | AckDelayedReordered | AckHeartbeat | AckWindowUpdate | AckLinux
"""When a receiver sends ACKs, and which options its TCP supports. An option is used if both ends support it."""


Wire: TypeAlias = Literal["ipv4", "ns2"]
"""How sizes on the wire are computed. ``ipv4``: Real headers with the options that a packet carries; ``ns2``: A
fixed header; ACKs have 40 bytes, plus 8 for each SACK block.
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class Bulk(Part):
    """An endless stream."""

    TAG: ClassVar = ("kind", "bulk")

    start: str | None = None
    """When it begins. As in "200 ms". Default: ``"0 s"``."""
    jitter: str | None = None
    """Adds a random time below this to the start, different for each seed. As in "200 ms". Default: ``"0 s"``."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Fixed(Part):
    """A fixed number of bytes."""

    TAG: ClassVar = ("kind", "fixed")

    size: str
    """Amount of data: segments, as in `"100 packets"`, or bytes. As in "65 packets" or "1460 B"."""
    start: str | None = None
    """When it begins. As in "200 ms". Default: ``"0 s"``."""
    jitter: str | None = None
    """Adds a random time below this to the start, different for each seed. As in "200 ms". Default: ``"0 s"``."""


Connections: TypeAlias = Literal["new", "one"]
"""How transfers in a row use connections. ``new``: Each transfer on a new connection, with its own handshake if the
flow has one; ``one``: All transfers on one connection.
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class TransfersInARow(Part):
    """Consecutive transfers, like replies to requests: the next begins when the last byte of the previous one is acknowledged and a think time has passed.

    The result has the duration of each transfer, from its start (its SYN, if it has one) to that acknowledgment.
    """

    TAG: ClassVar = ("kind", "transfers")

    size: str
    """Payload of each: segments, as in `"10 packets"`, or bytes. As in "65 packets" or "1460 B"."""
    count: int
    """How many. At least 1, at most 60000."""
    think: Gap | None = None
    """Time from the end of one to the start of the next. Default: none."""
    connections: Connections | None = None
    """How transfers use connections. Default: ``"new"``."""
    start: str | None = None
    """When the first begins. As in "200 ms". Default: ``"0 s"``."""
    jitter: str | None = None
    """Adds a random time below this to the first start, different for each seed. As in "200 ms". Default: ``"0 s"``."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Writes(Part):
    """Writes of data at intervals, whether or not earlier ones were delivered; the sender is often idle."""

    TAG: ClassVar = ("kind", "writes")

    size: str
    """Payload of each: segments, as in `"10 packets"`, or bytes. As in "65 packets" or "1460 B"."""
    gap: Gap
    """Time from one write to the next."""
    count: int | None = None
    """Number of writes. Default: no limit. At least 1, at most 1000000000."""
    start: str | None = None
    """When the first is written. As in "200 ms". Default: ``"0 s"``."""
    jitter: str | None = None
    """Adds a random time below this to the first write, different for each seed. As in "200 ms". Default: ``"0 s"``."""


App: TypeAlias = Bulk | Fixed | TransfersInARow | Writes
"""What is sent."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Flow(Part):
    """A flow between two nodes, or `count` identical flows."""

    from_: str
    """The sender's node. As in "R1"."""
    to: str
    """The receiver's node. As in "R1"."""
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
