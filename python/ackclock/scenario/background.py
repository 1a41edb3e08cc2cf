"""Traffic beside the flows.

Generated from the JSON Schema: make generated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from ackclock.scenario.flows import Receiver, Wire
from ackclock.scenario.part import Part
from ackclock.scenario.settings import Gap

__all__ = ["Background", "Size", "Source", "Transfers"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Size(Part):
    """Size of transfers; each kind is given by its mean, at most 2^50 B."""

    constant: str | None = None
    """All the same size. As in "65 packets" or "1460 B"."""
    exponential: str | None = None
    """Exponentially distributed. As in "65 packets" or "1460 B"."""
    pareto: str | None = None
    """Pareto distributed: a few are very large. As in "65 packets" or "1460 B"."""
    shape: float | None = None
    """The exponent of `pareto`, above 1; with 2 or less the variance is infinite. Above 1."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Transfers(Part):
    """Transfers of finite size that arrive and end, each a new connection."""

    TAG: ClassVar = ("kind", "transfers")

    from_: str
    """The node that sends. As in "R1"."""
    to: str
    """The node that receives. As in "R1"."""
    start: str | None = None
    """When it begins. As in "200 ms". Default: ``"0 s"``."""
    stop: str | None = None
    """Time at which sources stop and no new transfer begins. Default: never. As in "200 ms"."""
    gap: Gap
    """Time from one arrival to the next; exponential gives Poisson arrivals."""
    size: Size
    """Payload of each."""
    most: int | None = None
    """Largest number of simultaneous transfers. Further transfers are refused and counted. At least 1, at most
    32768. Default: ``100``.
    """
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


@dataclass(frozen=True, kw_only=True, repr=False)
class Source(Part):
    """Packets at a fixed rate, regardless of loss."""

    TAG: ClassVar = ("kind", "source")

    from_: str
    """The node that sends. As in "R1"."""
    to: str
    """The node that receives. As in "R1"."""
    start: str | None = None
    """When it begins. As in "200 ms". Default: ``"0 s"``."""
    stop: str | None = None
    """Time at which sources stop and no new transfer begins. Default: never. As in "200 ms"."""
    rate: str
    """Bits or bytes per second on the wire while it sends. As in "5 Mbps"."""
    packet: str | None = None
    """Size of each packet on the wire, 1 B to 65535 B. As in "1460 B". Default: ``"1000 B"``."""
    on: Gap | None = None
    """Length of a sending period; it begins by sending. Default, without `on` and `off`: it always sends."""
    off: Gap | None = None
    """Length of a silent period."""


Background: TypeAlias = Transfers | Source
"""Background traffic beside the flows."""
