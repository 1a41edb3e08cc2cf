"""Parts that several tables share.

Generated from the JSON Schema: make generated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ackclock.scenario.part import Part

__all__ = ["Form", "Gap", "Only", "Per", "Place", "Queue"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Gap(Part):
    """Time between events, above zero."""

    exponential: str | None = None
    """Exponentially distributed with this mean, as in `{ exponential = "1 s" }`. As in "200 ms"."""
    uniform: Sequence[str] | None = None
    """Uniformly distributed between two times, both included, as in `{ uniform = ["0.5 s", "1.5 s"] }`. As in "['0.5
    s', '1.5 s']".
    """
    constant: str | None = None
    """Always this time. As in "200 ms"."""


Per: TypeAlias = Literal["packet", "byte"]
"""The unit to which a probability applies. ``packet``: A packet of any size; ``byte``: A byte on the wire; a packet
is lost if any of its bytes is (ns-2: `ErrorModel`, unit `byte`).
"""


Place: TypeAlias = Literal["entry", "exit"]
"""Where on a link an element acts. ``entry``: Before the queue; ``exit``: After transmission, before the propagation
delay.
"""


Only: TypeAlias = Literal["all", "data", "acks"]
"""The packets that an element acts on; the others pass unchanged. ``all``: All packets; ``data``: Packets that
occupy sequence numbers (data, SYN, FIN) and packets of unresponsive sources; ``acks``: Pure ACKs.
"""


Form: TypeAlias = Literal["auto", "queued"]
"""How a link is simulated. ``auto``: Computes departure times directly where no element acts on waiting packets;
``queued``: Always simulates an explicit queue.
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class Queue(Part):
    """A queue's limit and its convention."""

    limit: str
    """What may wait. As in "65 packets" or "1460 B" or "unlimited"."""
    limit_counts_service: bool | None = None
    """ns-2's convention: the packet in transmission counts against the limit. Default: ``false``."""
