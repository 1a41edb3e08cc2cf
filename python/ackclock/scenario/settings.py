"""What several parts have in common.

Made of the JSON Schema by tools/scenario_classes.py: make generated.
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
    """Any time from the first to the second with the same probability, as in `{ uniform = ["0.5 s", "1.5 s"] }`. As
    in "['0.5 s', '1.5 s']".
    """
    constant: str | None = None
    """Always this. As in "200 ms"."""


Per: TypeAlias = Literal["packet", "byte"]
"""To what a probability belongs. ``packet``: A packet of whatever size; ``byte``: A byte on the wire; a packet is
lost with the first of its bytes (ns-2: `ErrorModel`, unit `byte`).
"""


Place: TypeAlias = Literal["entry", "exit"]
"""Where on a link an element acts. ``entry``: Before the queue; ``exit``: After transmission, before the propagation
delay.
"""


Only: TypeAlias = Literal["all", "data", "acks"]
"""Which packets an element sees; the others pass. ``all``: All of them; ``data``: Packets that take up sequence
numbers: data, SYN, FIN, and those of unresponsive sources; ``acks``: Pure ACKs.
"""


Form: TypeAlias = Literal["auto", "queued"]
"""How a link is simulated. ``auto``: Departure times computed where nothing acts on a waiting packet; ``queued``:
Always an explicit queue.
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class Queue(Part):
    """A queue's limit and its convention."""

    limit: str
    """What may wait. As in "65 packets" or "1460 B" or "unlimited"."""
    limit_counts_service: bool | None = None
    """ns-2's convention: the packet in transmission counts against the limit. Default: ``false``."""
