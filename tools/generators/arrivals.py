"""The scripts of conformance/arrival.

Each script sends segments in some order, or over pieces that are held already, and expects the acknowledgments that the
receiver below computes. It is written from the RFCs alone and shares nothing with the engine: RFC 9293 §3.10.7.4 (which
data are accepted), RFC 2018 §4 (order of SACK blocks), RFC 2883 §4 (duplicates), RFC 7323 §4.3 (which timestamp is
echoed).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, permutations
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "conformance/arrival"
LENGTHS = (700, 1100, 400, 1300, 900)
"""The segments of the arrival orders, bytes. No two are equal, so that no block can be taken for another."""
STEP = 90
"""The edges of the overlaps lie this many bytes apart."""
EDGES = 16
HELD = ((5, 7), (9, 11), (12, 14))
"""The pieces that an overlap meets, in units of STEP; everything before the third edge has arrived in order."""
IN_ORDER = 3

Range = tuple[int, int]


@dataclass
class Receiver:
    """A receiver that answers every segment at once."""

    timestamps: bool
    next: int = 1
    """RCV.NXT."""
    held: list[Range] = field(default_factory=list)
    """The data that have arrived above it; the piece with the newest segment comes first."""
    recent: int = 0
    """TS.Recent."""
    acknowledged: int = 1
    """Last.ACK.sent."""

    def arrives(self, left: int, right: int, stamp: int) -> list[Range]:
        """Take a segment; return the blocks of its acknowledgment."""
        # RFC 7323 §5.3 R3: only a segment that is acceptable and begins at or before the last acknowledgment.
        if right > self.next and left <= self.acknowledged:
            self.recent = stamp
        twice = self._duplicate(left, right)
        new = (max(left, self.next), right)
        if new[0] < new[1]:
            touched = [piece for piece in self.held if piece[0] <= new[1] and new[0] <= piece[1]]
            joined = (min(new[0], *(p[0] for p in touched)), max(new[1], *(p[1] for p in touched))) if touched else new
            others = [piece for piece in self.held if piece not in touched]
            if joined[0] == self.next:
                self.next, self.held = joined[1], others
            else:
                self.held = [joined, *others]
        self.acknowledged = self.next
        # RFC 2018 §3: three blocks beside timestamps, else four. RFC 2883 §4: the duplicate is the first of them.
        return [*([twice] if twice else []), *self.held][: 3 if self.timestamps else 4]

    def _duplicate(self, left: int, right: int) -> Range | None:
        """Return the first part of a segment that had arrived before."""
        if left < self.next:
            return left, min(right, self.next)
        found = [(max(left, a), min(right, b)) for a, b in sorted(self.held) if a < right and left < b]
        return found[0] if found else None


@dataclass
class Script:
    """A conversation with the receiver, as text."""

    timestamps: bool
    ipv6: bool
    clock: int = 0
    """Milliseconds since the SYN."""
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.receiver = Receiver(self.timestamps)

    def opening(self, title: str, why: str) -> None:
        """Write the header and the handshake."""
        mss = 1440 if self.ipv6 else 1460
        offer = "sackOK,TS val 1000 ecr 0" if self.timestamps else "nop,nop,sackOK"
        answer = "sackOK,TS val 100 ecr 1000" if self.timestamps else "nop,nop,sackOK"
        self.receiver.recent = 1010  # of the ACK that ends the handshake
        self.lines += [
            f"// {title}",
            f"// {why}",
            "// Written by tools/generators/arrivals.py.",
            *(["--ip_version=ipv6"] if self.ipv6 else []),
            # Timestamps are compared only where their unit is known.
            *(["--tcp_ts_tick_usecs=1000"] if self.timestamps else []),
            "",
            "   0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3",
            "  +0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0",
            "  +0 bind(3, ..., ...) = 0",
            "  +0 listen(3, 1) = 0",
            f"  +0 < S 0:0(0) win 65535 <mss {mss},{offer},nop,wscale 7>",
            f"  +0 > S. 0:0(0) ack 1 <mss {mss},{answer},nop,wscale 7>",
        ]
        self.clock = 10
        self.lines += [f"+.01 < . 1:1(0) ack 1 win 512{self._options(1010, 100)}", "  +0 accept(3, ..., ...) = 4"]

    def arrives(self, left: int, right: int, note: str, sent: int | None = None) -> None:
        """A segment arrives 10 ms after the last and is answered. `sent`: when it was sent, on the script's clock."""
        self.clock += 10
        stamp = 1000 + (self.clock if sent is None else sent)
        # RFC 5681 §4.2: only data that arrive in order and fill no hole may have a delayed ACK.
        when = "+0~+.2" if left == self.receiver.next and not self.receiver.held else "  +0"
        blocks = self.receiver.arrives(left, right, stamp)
        self.lines.append(
            f"+.01 < P. {left}:{right}({right - left}) ack 1 win 512{self._options(stamp, 100)} // {note}"
        )
        options = self._options(100 + self.clock, self.receiver.recent, blocks)
        self.lines.append(f"{when} > . 1:1(0) ack {self.receiver.next}{options}")

    def _options(self, value: int, echo: int, blocks: list[Range] | None = None) -> str:
        parts = [f"nop,nop,TS val {value} ecr {echo}"] if self.timestamps else []
        if blocks:
            parts.append("nop,nop,sack " + " ".join(f"{a}:{b}" for a, b in blocks))
        return f" <{','.join(parts)}>" if parts else ""

    def text(self) -> str:
        """Everything has arrived: the application reads it, and the connection ends."""
        end = self.receiver.next
        assert not self.receiver.held
        self.lines.append(f"  +0 read(4, ..., 100000) = {end - 1}")
        return "\n".join(self.lines) + "\n"


def order(which: tuple[int, ...], number: int) -> str:
    """Return the script for the segments in one order of arrival."""
    script = Script(timestamps=bool(number % 2), ipv6=not (number + 1) % 3)
    arrivals = ", ".join(map(str, which))
    script.opening(
        f"RFC 2018 §4: five segments that arrive in the order {arrivals} are reported as they arrive.",
        "The block of the newest segment comes first; adjacent blocks merge; data in order need no block.",
    )
    for segment in which:
        left = 1 + sum(LENGTHS[: segment - 1])
        # The sender sent them in order, a millisecond apart.
        script.arrives(left, left + LENGTHS[segment - 1], f"segment {segment}", sent=11 + segment)
    return script.text()


def overlap(left: int, right: int, number: int) -> str:
    """Return the script for a segment between two edges, over three pieces that are held."""
    script = Script(timestamps=number % 2 == 0, ipv6=number % 3 == 0)
    at = [1 + STEP * edge for edge in range(EDGES)]
    script.opening(
        f"RFC 2883 §4: {bracket(left, right)}",
        "The duplicate is the first block, only its first part, and once; then come the pieces, the newest first.",
    )
    script.arrives(at[0], at[IN_ORDER], "in order")
    pieces = list(permutations(HELD))[number % 6]
    for a, b in pieces:
        script.arrives(at[a], at[b], "beyond a hole")
    script.arrives(at[left], at[right], "the segment in question")
    if script.receiver.next < at[EDGES - 1]:
        script.arrives(script.receiver.next, at[EDGES - 1], "the rest")
    return script.text()


def bracket(left: int, right: int) -> str:
    """Describe a segment by the data that it covers."""
    met = [f"piece {n}" for n, (a, b) in enumerate(HELD, 1) if a < right and left < b]
    old = left < IN_ORDER
    if old and right <= IN_ORDER:
        return "a segment that was already acknowledged is reported."
    parts = [*(["acknowledged data"] if old else []), *met]
    if not parts:
        return "a segment that repeats nothing is not reported as a duplicate."
    whole = ", ".join(parts[:-1]) + (" and " if parts[1:] else "") + parts[-1]
    return f"a segment that repeats some of {whole} is reported."


def files() -> Iterator[tuple[Path, str]]:
    """Each script."""
    for number, which in enumerate(permutations(range(1, 6))):
        yield FOLDER / f"order-{''.join(map(str, which))}.pkt", order(which, number)
    for number, (left, right) in enumerate(combinations(range(EDGES), 2)):
        yield FOLDER / f"overlap-{left:02}-{right:02}.pkt", overlap(left, right, number)
