"""Elements, which act on packets.

Generated from the JSON Schema: make generated.
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
    "Off",
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
"""Which two packets are swapped. ``slots``: Two slots of the queue, drawn uniformly; nothing happens if one is empty
or both are the same. The queue needs a limit in packets; ``literal``: Two different waiting packets, drawn
uniformly; ``neighbours``: A waiting packet and the one behind it.
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class Swap(Part):
    """Swaps queued packets at random times (Blanton & Allman §2.2). Needs a rate."""

    TAG: ClassVar = ("kind", "swap")

    mode: SwapMode
    """Which two packets are swapped."""
    count: int | None = None
    """Number of swaps at each event, all at the same instant. At least 1, at most 100000. Default: ``1``."""
    gap: Gap
    """Time between events."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Bernoulli(Part):
    """Drops each packet with the same probability, or with a probability that grows with its size."""

    TAG: ClassVar = ("kind", "bernoulli")

    p: float
    """The probability of a loss. At least 0, at most 1."""
    per: Per | None = None
    """The unit to which the probability applies. Default: ``"packet"``."""
    at: Place | None = None
    """Where on the link. Default: ``"entry"``."""
    only: Only | None = None
    """The packets that the element acts on. Default: all packets."""


@dataclass(frozen=True, kw_only=True, repr=False)
class GilbertElliott(Part):
    """Loss in bursts: a channel with a good and a bad state that changes per packet (`p`, `r`) or over time (`good_for`, `bad_for`)."""

    TAG: ClassVar = ("kind", "gilbert-elliott")

    p: float | None = None
    """Probability that the channel turns bad after a packet. Above 0, at most 1."""
    r: float | None = None
    """Probability that it turns good again: a bad period lasts 1 / `r` packets on average. Above 0, at most 1."""
    good_for: str | None = None
    """Mean length of a good period. As in "200 ms"."""
    bad_for: str | None = None
    """Mean length of a bad period. As in "200 ms"."""
    good_loss: float | None = None
    """Loss probability in the good state. At least 0, at most 1. Default: ``0.0``."""
    bad_loss: float | None = None
    """Loss probability in the bad state. At least 0, at most 1. Default: ``1.0``."""
    at: Place | None = None
    """Where on the link. Default: ``"entry"``."""
    only: Only | None = None
    """The packets that the element acts on. Default: all packets."""


@dataclass(frozen=True, kw_only=True, repr=False)
class DelaySpike(Part):
    """Holds packets that arrive during a spike until it ends, then releases them in order."""

    TAG: ClassVar = ("kind", "delay-spike")

    times: Sequence[str] | None = None
    """Start times, as in `["5 s", "20 s"]`."""
    gap: Gap | None = None
    """Time from the end of one interruption to the start of the next, at least 1 ms."""
    length: str
    """How long each lasts. As in "200 ms"."""
    at: Place | None = None
    """Where on the link. At the exit, waiting packets do not fill the queue. Default: ``"exit"``."""
    only: Only | None = None
    """The packets that the element acts on. Default: all packets. The others overtake packets that a delay spike
    holds back.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Outage(Part):
    """Drops packets that arrive during an outage."""

    TAG: ClassVar = ("kind", "outage")

    times: Sequence[str] | None = None
    """Start times, as in `["5 s", "20 s"]`."""
    gap: Gap | None = None
    """Time from the end of one interruption to the start of the next, at least 1 ms."""
    length: str
    """How long each lasts. As in "200 ms"."""
    at: Place | None = None
    """Where on the link. At the exit, waiting packets do not fill the queue. Default: ``"exit"``."""
    only: Only | None = None
    """The packets that the element acts on. Default: all packets. The others overtake packets that a delay spike
    holds back.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Red(Part):
    """Random early detection as in ns-2 (Floyd & Jacobson 1993). Needs a rate. The queue's `limit` also applies."""

    TAG: ClassVar = ("kind", "red")

    min: str
    """Average queue length below which nothing is dropped, in packets or bytes on the wire. As in "65 packets" or
    "1460 B".
    """
    max: str
    """Average queue length from which everything is dropped; with `gentle`, from twice this length. Above `min`, in
    the same unit. As in "65 packets" or "1460 B".
    """
    max_p: float | None = None
    """Drop probability at `max`, before drops are spaced. The default is that of ns-2 (`linterm_ 10`). Above 0, at
    most 1. Default: ``0.1``.
    """
    weight: float | None = None
    """Weight of the current length in the average. The default is from Floyd & Jacobson 1993 §8. Above 0, at most 1.
    Default: ``0.002``.
    """
    gentle: bool | None = None
    """Whether the probability rises from `max_p` at `max` to 1 at twice `max`. The default is that of ns-2 since
    2001; the paper's RED has no such region. Default: ``true``.
    """
    wait: bool | None = None
    """Whether drops are at least 1 / p packets apart. The default is that of ns-2; the paper spaces them evenly from
    1 to 1 / p. Default: ``true``.
    """
    per: Per | None = None
    """The unit to which the probability applies. Default: ``"packet"``."""
    mean_packet: str | None = None
    """Size of a typical packet on the wire. It scales idle time and, with `per = "byte"`, packet sizes. The default
    is that of ns-2. As in "1460 B". Default: ``"500 B"``.
    """
    ecn: bool | None = None
    """Whether ECN-capable packets are marked instead of dropped while the average is below `max` (RFC 3168 §5).
    Flows whose stack has `options.ecn = true` send such packets. Default: ``false``.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Late(Part):
    """One arrival to delay."""

    nth: int
    """Number of the arrival, from 0. At least 0."""
    by: str
    """Length of the delay. As in "200 ms"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Script(Part):
    """Drops, duplicates or delays chosen arrivals, numbered from 0, retransmissions included.

    At least one must be chosen.
    """

    TAG: ClassVar = ("kind", "script")

    drop: Sequence[int] | None = None
    """Arrivals to drop, as in `[14, 26]`. Default: ``[]``."""
    duplicate: Sequence[int] | None = None
    """Arrivals to duplicate. Default: ``[]``."""
    delay: Sequence[Late] | None = None
    """Arrivals to delay; later packets overtake them. Default: ``[]``."""
    at: Place | None = None
    """Where on the link. Default: ``"entry"``."""
    only: Only | None = None
    """The packets that are counted. Default: all packets."""
    flow: int | None = None
    """The flow whose packets are counted, by its number from 0 as traces have it. Default: all traffic. At least 0."""


BelowZero: TypeAlias = Literal["again", "zero"]
"""Handling of a drawn delay that is not above zero. ``again``: Draws again; ``zero``: Uses zero."""


Draws: TypeAlias = Literal["own", "link"]
"""Whether the directions of a link share draws. ``own``: Each direction draws for itself; ``link``: Both directions
of the link get the same draws if their keys are the same.
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class RedrawnDelay(Part):
    """Adds a delay that is redrawn from a normal distribution, so packets overtake each other (Leung & Ma 2005 §IV-A)."""

    TAG: ClassVar = ("kind", "redrawn-delay")

    mean: str
    """Mean of the distribution, above zero. Leung & Ma 2005 Table 1: 200 f ms, f from 1 to 4. As in "200 ms"."""
    deviation: str
    """Standard deviation of the distribution. Leung & Ma 2005 Table 1: 200 f / 3 ms. As in "200 ms"."""
    every: str
    """Time between draws; the first is at 0 s. Leung & Ma 2005 Table 1: 50 ms or 100 ms. As in "200 ms"."""
    below_zero: BelowZero | None = None
    """Handling of a draw that is not above zero. The source does not say. Default: ``"again"``."""
    overtaking: bool | None = None
    """Whether a packet may arrive before one that left earlier. The source needs it. Default: ``true``."""
    draws: Draws | None = None
    """Whether both directions share draws. The source does not say. Default: ``"own"``."""


SplitChoice: TypeAlias = Literal["turns", "random", "flows"]
"""How a split chooses a path. ``turns``: Weighted round robin, packet by packet; ``random``: An independent random
choice for each packet; ``flows``: A hash of the flow chooses one path for all its packets; the hash differs between
seeds.
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class SplitPath(Part):
    """One of the paths of a split. Keys that are not given are taken from the link."""

    weight: int
    """Its share of the packets is this weight divided by the sum of all weights. At least 0, at most 1000000."""
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
class Off(Part):
    """When all packets take the first path. Default: never."""

    times: Sequence[str] | None = None
    """Start times, as in `["5 s", "20 s"]`."""
    gap: Gap | None = None
    """Time from the end of one to the start of the next, at least 1 ms."""
    length: str
    """How long each lasts. As in "200 ms"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Split(Part):
    """Replaces this direction by several parallel paths (Leung & Ma 2005 §IV-B).

    Only elements that act before the queue may be used beside it.
    """

    TAG: ClassVar = ("kind", "split")

    choice: SplitChoice | None = None
    """How a packet's path is chosen. Default: ``"turns"``."""
    paths: Sequence[SplitPath]
    """The paths. At least one needs a weight above 0."""
    off: Off | None = None
    """When all packets take the first path. Default: never."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Demote(Part):
    """Repeatedly moves the head of the queue back (Fukuda, Nobayashi & Ikenaga 2018 §3). Needs a rate."""

    TAG: ClassVar = ("kind", "demote")

    interval: int
    """Number of places to move it, whenever more packets wait. No other packet is moved until this one has been
    transmitted. The source uses 4 to 100. At least 1, at most 1000000.
    """
    device: str | None = None
    """Number of waiting packets to consider. Default: all packets. The source does not say. As in "65 packets"."""


Distribution: TypeAlias = Literal["uniform", "normal"]
"""Distribution of netem's delay. ``uniform``: Uniform, at most `jitter` below or above `delay`; ``normal``: Normal,
truncated near four standard deviations.
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class Netem(Part):
    """Linux's network emulator, before the queue (tc-netem(8))."""

    TAG: ClassVar = ("kind", "netem")

    delay: str | None = None
    """Delay of each packet. As in "200 ms". Default: ``"0 s"``."""
    jitter: str | None = None
    """Variation of the delay: half the width of the range, or the standard deviation. At most 2147483647 ns. As in
    "200 ms". Default: ``"0 s"``.
    """
    jitter_correlation: float | None = None
    """Correlation of each random number with the one before it. At least 0, at most 1. Default: ``0.0``."""
    distribution: Distribution | None = None
    """Distribution of the delay. Default: ``"uniform"``."""
    reorder: float | None = None
    """Probability that a packet skips the delay. Default: 0, or 1 if `gap` is given. At least 0, at most 1."""
    gap: int | None = None
    """At most one in this many packets skips the delay. Default: 1 if `reorder` is given. At least 1, at most
    1000000.
    """
    rate: str | None = None
    """Rate at which packets follow each other. Default: no limit. As in "5 Mbps" or "unlimited"."""
    reorder_correlation: float | None = None
    """Correlation of each random number for skipping with the one before it. At least 0, at most 1. Default:
    ``0.0``.
    """
    limit: str | None = None
    """Capacity of the emulator's queue. As in "65 packets". Default: ``"1000 packets"``."""


@dataclass(frozen=True, kw_only=True, repr=False)
class PathTrace(Part):
    """Delay, loss and rate follow a comma-separated table.

    Its first line names the columns: `time_s`, and any of `delay_ms` (added to the link's delay), `loss` (a
    probability), `rate_mbps` (replaces the link's rate; 0 stops transmission). Each row applies until the next; the
    first has time 0.
    """

    TAG: ClassVar = ("kind", "path-trace")

    file: str | None = None
    """The table's file, relative to the scenario file."""
    data: str | None = None
    """The table itself."""
    repeat: str | None = None
    """Time after which the table starts again. Default: the last row stays in force. As in "200 ms"."""
    at: Place | None = None
    """Where packets are dropped. Default: ``"exit"``."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Deliveries(Part):
    """Replaces the rate by delivery opportunities in mahimahi's format (Netravali 2015): each line is a time in milliseconds.

    The trace starts again after its last line.
    """

    TAG: ClassVar = ("kind", "deliveries")

    file: str | None = None
    """The trace's file, relative to the scenario file."""
    data: str | None = None
    """The trace itself."""
    bytes: str | None = None
    """Bytes on the wire that each opportunity delivers, 1 B to 1 MiB. As in "1460 B". Default: ``"1500 B"``."""


Shape: TypeAlias = Literal["sine", "square"]
"""Shape of a periodic delay. ``sine``: A sine wave that starts at its mean and rises; ``square``: High in the first
half of each period, low in the second.
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class Wobble(Part):
    """Adds a periodic delay: from 0 to twice `amplitude` and back in each period."""

    TAG: ClassVar = ("kind", "wobble")

    shape: Shape | None = None
    """Shape of the wave. Default: ``"sine"``."""
    amplitude: str
    """Largest difference of the delay from its mean. As in "200 ms"."""
    period: str
    """Length of a period, above zero. As in "200 ms"."""
    overtaking: bool | None = None
    """Whether a packet may arrive before one that left earlier. Default: ``true``."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Priority(Part):
    """Short packets, or packets of one class, overtake other waiting packets (tc-prio(8)). Needs a rate."""

    TAG: ClassVar = ("kind", "priority")

    ahead: Only | None = None
    """The packets that go ahead. Default: all packets that are short enough."""
    up_to: str | None = None
    """Largest packet that goes ahead, in bytes on the wire. Default: any size. As in "1460 B"."""


Excess: TypeAlias = Literal["wait", "drop"]
"""Handling of packets that find too few tokens. ``wait``: Packets wait for tokens, in order (shaping); ``drop``:
Packets are dropped (policing).
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class TokenBucket(Part):
    """A token bucket limits packets to a rate with bursts; packets that exceed both wait or are dropped (RFC 2697, tc-tbf(8))."""

    TAG: ClassVar = ("kind", "token-bucket")

    rate: str
    """Rate at which tokens arrive: the long-term rate. As in "5 Mbps"."""
    burst: str
    """Size of the bucket: the largest burst, in bytes on the wire, at most 1 GB. Larger packets are dropped. As in
    "1460 B".
    """
    excess: Excess | None = None
    """Handling of a packet that finds too few tokens. Default: ``"wait"``."""
    limit: str | None = None
    """Largest number of waiting packets. Further packets are dropped. As in "65 packets". Default: ``"1000
    packets"``.
    """
    at: Place | None = None
    """Where on the link. Default: ``"entry"``."""
    only: Only | None = None
    """The packets that the element acts on. Default: all packets. The others overtake waiting packets."""


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
"""An element that acts on the packets of one direction. Or a subclass of ``ackclock.Element``; with parameters
``ackclock.slots.given``.
"""
