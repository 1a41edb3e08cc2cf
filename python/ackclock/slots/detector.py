"""The slot ``detect``: which segments are lost."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ackclock._native import Cause, Verdict
from ackclock.slots.base import Algorithm

if TYPE_CHECKING:
    from ackclock._native import Ack, Board, Context, Sample, Segment, Window, Xmit


class Detector(Algorithm):
    """A loss detector: it marks segments on the board and returns a verdict; it never sends and never cuts.

    It is also used in Recovery. With a detector in Python a stack has no slot ``detect.threshold``. Windows are in
    bytes and read-only; times are in nanoseconds.
    """

    watches_sends: bool = False
    """Whether :meth:`on_sent` is also called for new data. Read at the start. In a class with :meth:`deadline` this
    attribute is also read after every ACK, after the class's own timer, and after each transmission of which it was
    notified (decision 0094)."""
    owns_rto: bool = False
    """Whether the detector replaces the retransmission timer. Read once the object has been created."""
    began_by: Cause = Cause.FAST
    """The cause of an episode that starts with its loss verdict: ``Cause.RTO`` if the loss is large enough to count as
    a timeout. Read after each ``Verdict.lost``."""

    @abstractmethod
    def on_ack(self, ack: Ack, w: Window, board: Board, cx: Context) -> Verdict:
        """Process an ACK; mark segments considered lost on the board."""

    def on_timer(self, w: Window, board: Board, cx: Context) -> Verdict:
        """Process the expiry of the deadline; mark segments considered lost."""
        return Verdict.CLEAR

    def deadline(self) -> int | None:
        """Return the time of its next timer; called often. Classes without it have no timer and are faster."""
        return None

    def hold_until(self) -> int | None:
        """Return the time before which nothing may be sent; called only with :attr:`watches_sends`, and in repairs."""
        return None

    def on_sent(self, x: Xmit, segment: Segment, cx: Context) -> None:
        """A segment was sent; every detector is told about retransmissions."""

    def on_reorder(self, sample: Sample, w: Window, cx: Context) -> None:
        """Reordering was measured."""

    def on_recovered(self, cx: Context) -> None:
        """A Recovery or Loss phase ended."""

    def on_cut(self, w: Window, cx: Context) -> None:
        """The window was reduced; ``w`` is the new window."""

    def on_stall(self, idle: int, w: Window, cx: Context) -> None:
        """In Disorder a duplicate ACK released nothing although data were waiting; nothing was sent for ``idle`` ns."""

    def on_rto(self, dup_run: int, w: Window, cx: Context) -> None:
        """The retransmission timer fired in the middle of ``dup_run`` duplicates."""

    def after_rto(self, board: Board, cx: Context) -> None:
        """The ``timeout`` component has marked losses at the start of Loss; a time-based detector may mark more."""

    def dupthresh(self, w: Window, cx: Context) -> int | None:
        """Return the number of duplicates that now means a loss, for the trace; ``None`` if it counts none."""
        return None
