"""``recovery``: what may be sent to repair?"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ackclock._native import Gate
from ackclock.slots.base import Algorithm

if TYPE_CHECKING:
    from ackclock._native import Ack, Board, Context, Episode, Flow, Segment, Window, Xmit


class Recovery(Algorithm):
    """Owner of the Recovery phase: which segment goes and how many, until when, and what becomes of the window."""

    open_gate: Gate = Gate.WINDOW
    """By what new data are counted in Open. Read when the object has been made."""
    inflation: float = 0.0
    """Bytes now added to the window when sending, for the trace only. Read after each method but :meth:`next`."""

    @abstractmethod
    def enter(self, ack: Ack | None, ep: Episode, w: Window, board: Board, cx: Context) -> Flow:
        """The episode begins; ``w.ssthresh`` is already cut, ``w.cwnd`` is not: ``ep.target`` is what it should become.

        ``ack`` is None when a timer began it. The answer is neither ``Flow.BEGIN`` nor ``Flow.REWIND``.
        """

    @abstractmethod
    def on_ack(self, ack: Ack, lost: int, ep: Episode, w: Window, board: Board, cx: Context) -> Flow:
        """An ACK arrived; ``lost`` bytes were newly marked by the detector. The answer is not ``Flow.REWIND``."""

    @abstractmethod
    def next(self, w: Window, board: Board, cx: Context) -> Xmit | None:
        """What to send now: a pure question, asked until the answer is None. See :meth:`Window.admits`."""

    def on_sent(self, x: Xmit, segment: Segment, cx: Context) -> None:
        """It was sent."""
