"""The slot ``detect``: what is lost."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ackclock._native import Cause, Verdict
from ackclock.slots.base import Algorithm

if TYPE_CHECKING:
    from ackclock._native import Ack, Board, Context, Sample, Segment, Window, Xmit


class Detector(Algorithm):
    """A judge of loss: it marks segments on the board and says what it thinks; it never sends and never cuts.

    It judges in Recovery, too. With a detector in Python a stack has no slot ``detect.threshold``. Windows are in bytes
    and only for reading, times in nanoseconds.
    """

    watches_sends: bool = False
    """Whether :meth:`on_sent` is called for new data, too. Read at the start; of a class with :meth:`deadline` also
    after every ACK, after its own timer and after a send that it heard of (decision 0044)."""
    owns_rto: bool = False
    """Whether it takes the retransmission timer's place. Read when the object has been made."""
    began_by: Cause = Cause.FAST
    """What an episode that its verdict of loss begins counts as: ``Cause.RTO`` if so much is lost that it is one. Read
    after each ``Verdict.lost``."""

    @abstractmethod
    def on_ack(self, ack: Ack, w: Window, board: Board, cx: Context) -> Verdict:
        """Read an ACK; mark on the board what is held to be lost."""

    def on_timer(self, w: Window, board: Board, cx: Context) -> Verdict:
        """The deadline has come; mark what is held to be lost."""
        return Verdict.CLEAR

    def deadline(self) -> int | None:
        """When it wants to look again; asked often. A class without this method keeps no time, which is faster."""
        return None

    def hold_until(self) -> int | None:
        """Nothing may be sent before this; asked only while :attr:`watches_sends`, and in repairs."""
        return None

    def on_sent(self, x: Xmit, segment: Segment, cx: Context) -> None:
        """A segment was sent; of one sent again every detector hears."""

    def on_reorder(self, sample: Sample, w: Window, cx: Context) -> None:
        """Reordering was measured."""

    def on_recovered(self, cx: Context) -> None:
        """A Recovery or Loss phase ended."""

    def on_cut(self, w: Window, cx: Context) -> None:
        """The window was reduced; ``w`` is the window after it."""

    def on_stall(self, idle: int, w: Window, cx: Context) -> None:
        """In Disorder a duplicate let nothing out though there was something to send; nothing went for ``idle`` ns."""

    def on_rto(self, dup_run: int, w: Window, cx: Context) -> None:
        """The retransmission timer fired in the middle of ``dup_run`` duplicates."""

    def after_rto(self, board: Board, cx: Context) -> None:
        """The owner of Loss has marked what it holds to be lost; a detector that judges by time may mark more."""

    def dupthresh(self, w: Window, cx: Context) -> int | None:
        """The duplicates that now make it declare a loss, for the trace; None if it counts none."""
        return None
