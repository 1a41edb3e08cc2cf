"""``rto``: how long is too long?"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ackclock.slots.base import Algorithm

if TYPE_CHECKING:
    from ackclock._native import Ack, Segment


class Rto(Algorithm):
    """An estimator of the retransmission timeout (RFC 6298).

    What it has come to stands in the attributes, which the engine reads when the object has been made and after each of
    its methods. Times are whole nanoseconds; a timeout is at least a microsecond.
    """

    srtt: int | None = None
    """Smoothed round-trip time; None before the first sample."""
    base: int = 1_000_000_000
    """Timeout without back-off."""
    longest: int = 60_000_000_000
    """What back-off does not go beyond (RFC 6298 section 2.5)."""
    backoff_count: int = 0
    """Times backed off since the last valid sample."""

    @property
    def backed_off(self) -> int:
        """Timeout with back-off: by default doubled for each time (RFC 6298 section 5.5)."""
        return max(self.base, min(self.base << min(self.backoff_count, 40), self.longest))

    @abstractmethod
    def on_ack(self, ack: Ack, now: int) -> None:
        """An ACK of new data: perhaps a sample, and the end of back-off by a valid one."""

    def on_sent(self, segment: Segment) -> None:
        """A segment was sent (for those that time one segment at a time)."""

    def on_sample(self, rtt: int) -> None:
        """A round trip measured elsewhere: by the handshake, or by a judge of mistakes that times what was sent twice."""

    def on_spurious_timeout(self, fired: int) -> None:
        """The timer fired for nothing, at ``fired``: the path is slower than it thought (RFC 4015 section 3.1 (11))."""

    def back_off(self) -> None:
        """The timer fired: by default it is counted."""
        self.backoff_count += 1

    def deadline(self, set: int) -> int:
        """When a timer set at ``set`` fires, after it; by default that is ``set + backed_off``."""
        return set + self.backed_off
