"""What acts on packets.

Made of the JSON Schema by tools/scenario_classes.py: make generated.
"""

# ruff: noqa: E501 - a first sentence is one line

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from ackclock.scenario.part import Part
from ackclock.scenario.settings import Form, Gap, Only, Per, Place, Queue
from ackclock.slots.element import Element as PythonElement
from ackclock.slots.registry import Given

__all__ = [
    "BelowZero",
    "Bernoulli",
    "DelaySpike",
    "Deliveries",
    "Demote",
    "Distribution",
    "Draws",
    "Element",
    "Excess",
    "GilbertElliott",
    "Late",
    "Netem",
    "Outage",
    "PathTrace",
    "Priority",
    "Red",
    "RedrawnDelay",
    "Script",
    "Shape",
    "Split",
    "SplitChoice",
    "SplitPath",
    "Swap",
    "SwapMode",
    "TokenBucket",
    "Wobble",
]

SwapMode: TypeAlias = Literal["slots", "literal", "neighbours"]
"""Which two packets change places. ``slots``: Two of the queue's slots, drawn uniformly; nothing happens if one is
empty or both are the same. The queue needs a limit in packets; ``literal``: Two different waiting packets, drawn
uniformly; ``neighbours``: A waiting packet and the one behind it.
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class Swap(Part):
    """At random times waiting packets change places (Blanton & Allman §2.2). Needs a rate."""

    TAG: ClassVar = ("kind", "swap")

    mode: SwapMode
    """Which two change places."""
    count: int | None = None
    """Swaps at each event, all at one instant. At least 1, at most 100000. Default: ``1``."""
    gap: Gap
    """Time between events."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Bernoulli(Part):
    """Each packet is lost with the same probability, or with its bytes' share of it."""

    TAG: ClassVar = ("kind", "bernoulli")

    p: float
    """The probability of a loss. At least 0, at most 1."""
    per: Per | None = None
    """To what the probability belongs. Default: ``"packet"``."""
    at: Place | None = None
    """Where on the link. Default: ``"entry"``."""
    only: Only | None = None
    """Which packets it sees. Default: all."""


@dataclass(frozen=True, kw_only=True, repr=False)
class GilbertElliott(Part):
    """Loss in bursts: a channel that is good or bad, and changes by packets (`p`, `r`) or by time (`good_for`, `bad_for`)."""

    TAG: ClassVar = ("kind", "gilbert-elliott")

    p: float | None = None
    """Probability with which the channel turns bad after a packet. Above 0, at most 1."""
    r: float | None = None
    """Probability with which it turns good again: a bad spell lasts 1 / `r` packets. Above 0, at most 1."""
    good_for: str | None = None
    """How long it is good, on average. As in "200 ms"."""
    bad_for: str | None = None
    """How long it is bad, on average. As in "200 ms"."""
    good_loss: float | None = None
    """Probability with which a packet is lost while it is good. At least 0, at most 1. Default: ``0.0``."""
    bad_loss: float | None = None
    """Probability with which a packet is lost while it is bad. At least 0, at most 1. Default: ``1.0``."""
    at: Place | None = None
    """Where on the link. Default: ``"entry"``."""
    only: Only | None = None
    """Which packets it sees. Default: all."""


@dataclass(frozen=True, kw_only=True, repr=False)
class DelaySpike(Part):
    """Packets that come during a spike wait for its end, then go on in order."""

    TAG: ClassVar = ("kind", "delay-spike")

    times: Sequence[str] | None = None
    """When each begins, as in `["5 s", "20 s"]`."""
    gap: Gap | None = None
    """Time from the end of one to the next, at least 1 ms."""
    length: str
    """How long each lasts. As in "200 ms"."""
    at: Place | None = None
    """Where on the link. At the exit, waiting packets do not fill the queue. Default: ``"exit"``."""
    only: Only | None = None
    """Which packets it sees. Default: all. The others overtake the packets that a delay spike holds back."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Outage(Part):
    """Packets that come during an outage are lost."""

    TAG: ClassVar = ("kind", "outage")

    times: Sequence[str] | None = None
    """When each begins, as in `["5 s", "20 s"]`."""
    gap: Gap | None = None
    """Time from the end of one to the next, at least 1 ms."""
    length: str
    """How long each lasts. As in "200 ms"."""
    at: Place | None = None
    """Where on the link. At the exit, waiting packets do not fill the queue. Default: ``"exit"``."""
    only: Only | None = None
    """Which packets it sees. Default: all. The others overtake the packets that a delay spike holds back."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Red(Part):
    """Random early detection as ns-2's (Floyd & Jacobson 1993). Needs a rate; the queue's `limit` holds besides."""

    TAG: ClassVar = ("kind", "red")

    min: str
    """Below this average of what waits nothing is dropped: packets, or bytes on the wire. As in "65 packets" or
    "1460 B".
    """
    max: str
    """From this average on everything is dropped, or with `gentle` from twice it on. Above `min`, in the same unit.
    As in "65 packets" or "1460 B".
    """
    max_p: float | None = None
    """Probability at `max`, before drops are spaced. The default is ns-2's (`linterm_ 10`). Above 0, at most 1.
    Default: ``0.1``.
    """
    weight: float | None = None
    """Weight of the newest length in the average. The default is from Floyd & Jacobson 1993 §8. Above 0, at most 1.
    Default: ``0.002``.
    """
    gentle: bool | None = None
    """Above `max` the probability goes from `max_p` to 1 at twice `max`. The default is ns-2's since 2001; the
    paper's RED has no such region. Default: ``true``.
    """
    wait: bool | None = None
    """Drops are at least 1 / p packets apart. The default is ns-2's; the paper spaces them evenly from 1 to 1 / p.
    Default: ``true``.
    """
    per: Per | None = None
    """To what the probability belongs. Default: ``"packet"``."""
    mean_packet: str | None = None
    """A typical packet on the wire, by which idle time and, per byte, sizes are measured. The default is ns-2's. As
    in "1460 B". Default: ``"500 B"``.
    """
    ecn: bool | None = None
    """While the average is below `max`, packets that may be marked are marked in place of dropped (RFC 3168 §5);
    flows whose stack has `options.ecn = true` send such packets. Default: ``false``.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Late(Part):
    """One arrival that goes on later."""

    nth: int
    """Which arrival, counted from 0. At least 0."""
    by: str
    """By how much. As in "200 ms"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Script(Part):
    """The n-th arrivals, counted from 0, retransmissions included, are treated by hand; at least one is."""

    TAG: ClassVar = ("kind", "script")

    drop: Sequence[int] | None = None
    """These disappear, as in `[14, 26]`. Default: ``[]``."""
    duplicate: Sequence[int] | None = None
    """These go on twice. Default: ``[]``."""
    delay: Sequence[Late] | None = None
    """These go on later and are overtaken. Default: ``[]``."""
    at: Place | None = None
    """Where on the link. Default: ``"entry"``."""
    only: Only | None = None
    """Which packets are counted. Default: all."""
    flow: int | None = None
    """The flow whose packets are counted, by its number from 0 as traces have it. Default: all traffic."""


BelowZero: TypeAlias = Literal["again", "zero"]
"""What happens to a delay that is not above zero. ``again``: It is drawn again; ``zero``: It is zero."""


Draws: TypeAlias = Literal["own", "link"]
"""Whether the directions of a link share draws. ``own``: The direction's own; ``link``: The link's: both directions
with the same keys draw the same.
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class RedrawnDelay(Part):
    """The delay is redrawn from a normal distribution, on top of the link's own; packets overtake (Leung & Ma 2005 §IV-A)."""

    TAG: ClassVar = ("kind", "redrawn-delay")

    mean: str
    """The distribution's mean, above zero. Leung & Ma 2005 Table 1: 200 f ms, f from 1 to 4. As in "200 ms"."""
    deviation: str
    """Its standard deviation. Leung & Ma 2005 Table 1: 200 f / 3 ms. As in "200 ms"."""
    every: str
    """Time between draws; the first is at 0 s. Leung & Ma 2005 Table 1: 50 ms or 100 ms. As in "200 ms"."""
    below_zero: BelowZero | None = None
    """What happens to a draw that is not above zero. Unsaid in the source. Default: ``"again"``."""
    overtaking: bool | None = None
    """Whether a packet may arrive before one that left earlier. The source needs it. Default: ``true``."""
    draws: Draws | None = None
    """Whose draws they are. Unsaid in the source. Default: ``"own"``."""


SplitChoice: TypeAlias = Literal["turns", "random", "flows"]
"""How a split chooses. ``turns``: Weighted round robin, packet by packet; ``random``: A draw for each packet;
``flows``: A flow keeps to one path, which a hash of the flow chooses; another in each seed.
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class SplitPath(Part):
    """One of the paths of a split. What it does not say is as in the link."""

    weight: int
    """Its share is this over the sum of all. At least 0, at most 1000000."""
    rate: str | None = None
    """Bits or bytes a second, or `"unlimited"`: transmission takes no time. As in "5 Mbps" or "unlimited"."""
    delay: str | None = None
    """Propagation delay, at most an hour. As in "200 ms"."""
    queue: str | Queue | None = None
    """What may wait: packets, or bytes on the wire; or a table with the limit and its convention. As in "65 packets"
    or "1460 B" or "unlimited".
    """
    elements: Sequence[Element] | None = None
    """What acts on packets, in order."""
    form: Form | None = None
    """How the link is simulated; results are equal."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Split(Part):
    """Packets go over several paths side by side, in place of this one (Leung & Ma 2005 §IV-B).

    Beside it may stand only what acts before the queue.
    """

    TAG: ClassVar = ("kind", "split")

    choice: SplitChoice | None = None
    """How a packet's path is chosen. Default: ``"turns"``."""
    paths: Sequence[SplitPath]
    """The paths, at least one of them with a weight above 0."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Demote(Part):
    """The head of the queue is moved back, again and again (Fukuda, Nobayashi & Ikenaga 2018 §3). Needs a rate."""

    TAG: ClassVar = ("kind", "demote")

    interval: int
    """By this many places, whenever more wait; no other packet is moved until it has been sent. The source has 4 to
    100. At least 1, at most 1000000.
    """
    device: str | None = None
    """How many of the waiting packets are looked at. Default: all. Unsaid in the source. As in "65 packets"."""


Distribution: TypeAlias = Literal["uniform", "normal"]
"""How netem's delay varies. ``uniform``: From `delay` less `jitter` to `delay` and `jitter`; ``normal``: Normal, cut
off near four standard deviations.
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class Netem(Part):
    """Linux's network emulator, before the queue (tc-netem(8))."""

    TAG: ClassVar = ("kind", "netem")

    delay: str | None = None
    """Delay of each packet. As in "200 ms". Default: ``"0 s"``."""
    jitter: str | None = None
    """By how much it varies: half the width, or the standard deviation. At most 2147483647 ns. As in "200 ms".
    Default: ``"0 s"``.
    """
    jitter_correlation: float | None = None
    """How much of the random number before is in the next. At least 0, at most 1. Default: ``0.0``."""
    distribution: Distribution | None = None
    """How it varies. Default: ``"uniform"``."""
    reorder: float | None = None
    """Probability with which a packet skips the delay. Default: 0, or 1 beside `gap`. At least 0, at most 1."""
    gap: int | None = None
    """At most one in this many packets skips it. Default: 1 beside `reorder`. At least 1, at most 1000000."""
    rate: str | None = None
    """Packets follow each other at this rate. Default: at once. As in "5 Mbps" or "unlimited"."""
    reorder_correlation: float | None = None
    """How much of the random number for skipping before is in the next. At least 0, at most 1. Default: ``0.0``."""
    limit: str | None = None
    """The emulator's queue. As in "65 packets". Default: ``"1000 packets"``."""


@dataclass(frozen=True, kw_only=True, repr=False)
class PathTrace(Part):
    """Delay, loss and rate follow a table of values with commas between.

    Its first line has the names of the columns: `time_s`, and some of `delay_ms` (on top of the link's), `loss` (a
    probability), `rate_mbps` (in place of the link's; 0 sends nothing). A row is in force until the next; the first has
    time 0.
    """

    TAG: ClassVar = ("kind", "path-trace")

    file: str | None = None
    """The table's file, relative to the scenario's."""
    data: str | None = None
    """The table itself."""
    repeat: str | None = None
    """After this much time it begins again. Default: its last row stays in force. As in "200 ms"."""
    at: Place | None = None
    """Where packets are lost. Default: ``"exit"``."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Deliveries(Part):
    """In place of the rate, instants at which the link delivers, in mahimahi's form (Netravali 2015): each line is a millisecond.

    The trace begins again after its last.
    """

    TAG: ClassVar = ("kind", "deliveries")

    file: str | None = None
    """The trace's file, relative to the scenario's."""
    data: str | None = None
    """The trace itself."""
    bytes: str | None = None
    """What each instant delivers, bytes on the wire, 1 B to 1 MiB. As in "1460 B". Default: ``"1500 B"``."""


Shape: TypeAlias = Literal["sine", "square"]
"""How a periodic delay goes up and down. ``sine``: A sine that begins at its mean and rises; ``square``: High in the
first half of each period, low in the second.
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class Wobble(Part):
    """The delay goes up and down regularly, on top of the link's own: from 0 to twice `amplitude` and back in each period."""

    TAG: ClassVar = ("kind", "wobble")

    shape: Shape | None = None
    """How it goes up and down. Default: ``"sine"``."""
    amplitude: str
    """By how much it differs from its mean at most. As in "200 ms"."""
    period: str
    """How long it takes to come back, above zero. As in "200 ms"."""
    overtaking: bool | None = None
    """Whether a packet may arrive before one that left earlier. Default: ``true``."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Priority(Part):
    """Short packets, or those of a class, overtake the others that wait (tc-prio(8)). Needs a rate."""

    TAG: ClassVar = ("kind", "priority")

    ahead: Only | None = None
    """Which packets go ahead. Default: all, if they are short enough."""
    up_to: str | None = None
    """Only packets of at most this many bytes on the wire go ahead. Default: of any size. As in "1460 B"."""


Excess: TypeAlias = Literal["wait", "drop"]
"""What happens to packets for which there are no tokens. ``wait``: They wait for tokens, in order (shaping);
``drop``: They are dropped (policing).
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class TokenBucket(Part):
    """Packets go on at a rate, and a burst at once; what exceeds both waits or is dropped (RFC 2697, tc-tbf(8))."""

    TAG: ClassVar = ("kind", "token-bucket")

    rate: str
    """How fast tokens come: the rate in the long run. As in "5 Mbps"."""
    burst: str
    """How many bytes on the wire may go at once: the size of the bucket, at most 1 GB. Larger packets are dropped.
    As in "1460 B".
    """
    excess: Excess | None = None
    """What happens to a packet for which there are no tokens. Default: ``"wait"``."""
    limit: str | None = None
    """How many packets may wait. Further ones are dropped. As in "65 packets". Default: ``"1000 packets"``."""
    at: Place | None = None
    """Where on the link. Default: ``"entry"``."""
    only: Only | None = None
    """Which packets it sees. Default: all. The others overtake waiting packets."""


Element: TypeAlias = (
    Swap
    | Bernoulli
    | GilbertElliott
    | DelaySpike
    | Outage
    | Red
    | Script
    | RedrawnDelay
    | Split
    | Demote
    | Netem
    | PathTrace
    | Deliveries
    | Wobble
    | Priority
    | TokenBucket
    | Given
    | type[PythonElement]
)
"""Something that acts on the packets of one direction. Or a subclass of ``ackclock.Element``; with parameters
``ackclock.slots.given``.
"""
