"""Traffic beside the flows.

Made of the JSON Schema by tools/scenario_classes.py: make generated.
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
    """How large transfers are, each kind by its mean, at most 2^50 B."""

    constant: str | None = None
    """All alike. As in "65 packets" or "1460 B"."""
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
    """The node to which it is sent. As in "R1"."""
    start: str | None = None
    """When it begins. As in "200 ms". Default: ``"0 s"``."""
    stop: str | None = None
    """When sources fall silent and no new transfer begins. Default: never. As in "200 ms"."""
    gap: Gap
    """Time from one arrival to the next; exponential gives Poisson arrivals."""
    size: Size
    """Payload of each."""
    most: int | None = None
    """How many run at once at most. Further ones are refused and counted. At least 1, at most 32768. Default:
    ``100``.
    """
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


@dataclass(frozen=True, kw_only=True, repr=False)
class Source(Part):
    """Packets at a rate, whatever happens to them."""

    TAG: ClassVar = ("kind", "source")

    from_: str
    """The node that sends. As in "R1"."""
    to: str
    """The node to which it is sent. As in "R1"."""
    start: str | None = None
    """When it begins. As in "200 ms". Default: ``"0 s"``."""
    stop: str | None = None
    """When sources fall silent and no new transfer begins. Default: never. As in "200 ms"."""
    rate: str
    """Bits or bytes a second on the wire while it sends. As in "5 Mbps"."""
    packet: str | None = None
    """Bytes of each packet on the wire, 1 B to 65535 B. As in "1460 B". Default: ``"1000 B"``."""
    on: Gap | None = None
    """How long it sends at a time; it begins by sending. Without `on` and `off` it always sends."""
    off: Gap | None = None
    """How long it is silent between."""


Background: TypeAlias = Transfers | Source
"""Traffic beside the flows."""
