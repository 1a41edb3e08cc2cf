"""The slot ``rto``: the retransmission timeout."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ackclock.slots.base import Algorithm

if TYPE_CHECKING:
    from ackclock._native import Ack, Segment


class Rto(Algorithm):
    """An estimator of the retransmission timeout (RFC 6298).

    The state is in the attributes. The engine reads them when the object has been created and after each of its
    methods. Times are whole nanoseconds; a timeout is at least one microsecond.
    """

    srtt: int | None = None
    """Smoothed round-trip time; ``None`` before the first sample."""
    base: int = 1_000_000_000
    """Timeout without back-off."""
    longest: int = 60_000_000_000
    """Upper limit of the timeout with back-off (RFC 6298 section 2.5)."""
    backoff_count: int = 0
    """The number of back-offs since the last valid sample."""

    @property
    def backed_off(self) -> int:
        """Return the timeout with back-off. Default: doubled for each time (RFC 6298 section 5.5)."""
        return max(self.base, min(self.base << min(self.backoff_count, 40), self.longest))

    @abstractmethod
    def on_ack(self, ack: Ack, now: int) -> None:
        """Process an ACK of new data, which may give a sample; a valid sample ends back-off."""

    def on_sent(self, segment: Segment) -> None:
        """A segment was sent; needed by estimators that time one segment at a time."""

    def on_sample(self, rtt: int) -> None:
        """An RTT was measured elsewhere: by the handshake, or by a ``spurious`` judge that times retransmitted data."""

    def on_spurious_timeout(self, fired: int) -> None:
        """The timer that fired at ``fired`` was spurious: the path is slower than estimated (RFC 4015 section 3.1)."""

    def back_off(self) -> None:
        """The timer fired. Default: count it."""
        self.backoff_count += 1

    def deadline(self, armed: int) -> int:
        """Return the expiry, later than ``armed``, of a timer set at ``armed``. Default: ``armed + backed_off``."""
        return armed + self.backed_off
