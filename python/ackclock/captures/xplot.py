"""A captured connection in the format of tcptrace's xplot: a time-sequence graph for ``xplot`` and ``jplot``.

Source: the commands of xplot (Shepard 1991), as tcptrace 6.6.7 writes them (``tcptrace -S``). Here the colour of a
retransmission is its verdict: red for needed, magenta for needless, orange for refused, pink for unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

COLOURS = {"needed": "red", "needless": "magenta", "refused": "orange", "undecided": "pink"}
FIN, SYN, PSH = 1, 2, 8


def lines(packets: pl.DataFrame, retransmissions: pl.DataFrame, flow: str) -> Iterator[str]:
    """Yield the lines of the file: sequence numbers as on the wire, times since 1970.

    Args:
        packets: the result of ``Capture.packets``.
        retransmissions: the verdicts, by frame.
        flow: the title, ``A:p > B:p``.
    """
    verdicts = dict(retransmissions.select("frame", "verdict").iter_rows())
    yield from ("timeval double", "title", f"{flow.replace(' > ', '_==>_')} (time sequence graph)")
    yield from ("xlabel", "time", "ylabel", "sequence number")
    acks = _Acks()
    # Sequence numbers continue beyond 2**32, so that no line jumps back.
    zero: int | None = None
    for packet in packets.sort("frame").iter_rows(named=True):
        if packet["own"]:
            if zero is None:
                zero = packet["seq"] - packet["offset"]
            yield from _segment(packet, zero, verdicts.get(packet["frame"]))
        elif packet["ack"] is not None and zero is not None:
            yield from acks.next(packet, zero)
    yield "go"


def _time(packet: dict[str, Any]) -> str:
    seconds, nanos = divmod(packet["at_ns"], 10**9)
    return f"{seconds}.{nanos // 1000:06d}"


def _segment(packet: dict[str, Any], zero: int, verdict: str | None) -> Iterator[str]:
    """A bar from the first byte to the last, with arrows at its ends; a diamond above pushed data."""
    at, flags = _time(packet), packet["flags"]
    begin = zero + packet["offset"]
    end = begin + packet["len"]
    if flags & SYN:
        yield from ("orange", f"diamond {at} {begin}", f"atext {at} {begin + 1}", "SYN")
        yield from (f"uarrow {at} {begin + 1}", f"line {at} {begin} {at} {begin + 1}")
        return
    if verdict is not None:
        yield from (COLOURS[verdict], f"atext {at} {end}", "R")
    yield "white" if verdict is None else COLOURS[verdict]
    yield f"darrow {at} {begin}"
    if flags & PSH and packet["len"]:
        yield from (f"diamond {at} {end} white", f"dot {at} {end} white")
    else:
        yield f"uarrow {at} {end}"
    if packet["len"]:
        yield f"line {at} {begin} {at} {end}"
    if flags & FIN:
        yield from ("orange", f"line {at} {end} {at} {end + 1}", f"box {at} {end + 1}", f"atext {at} {end + 1}", "FIN")


class _Acks:
    """Stairs of the acknowledged data and of the receive window; SACK blocks beside them."""

    def __init__(self) -> None:
        self._last: tuple[str, int, int] | None = None

    def next(self, packet: dict[str, Any], zero: int) -> Iterator[str]:
        at, ack = _time(packet), zero + packet["ack"]
        allowed = ack + packet["window"]
        if self._last is not None:
            then, before, limit = self._last
            yield from ("green", f"line {then} {before} {at} {before}")
            yield f"dtick {at} {ack}" if ack == before else f"line {at} {before} {at} {ack}"
            yield from ("yellow", f"line {then} {limit} {at} {limit}")
            yield f"utick {at} {allowed}" if allowed == limit else f"line {at} {limit} {at} {allowed}"
        for block in packet["sack"].split():
            left, right = (zero + int(edge) for edge in block.split(":"))
            yield from ("purple", f"line {at} {left} {at} {right}", f"htick {at} {left}", f"htick {at} {right}")
            yield from (f"atext {at} {right}", "S")
        self._last = (at, ack, allowed)
