"""A second reader of captures: what a person counts who reads packet by packet, without verdicts.

It shares no code with the package. It reads pcap and pcapng, plain or gzip, with raw IP, Ethernet or cooked frames.
"""

from __future__ import annotations

import gzip
import ipaddress
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

WRAP = 1 << 32
FIN, SYN, RST, ACK = 1, 2, 4, 16
LINKS = {1: 14, 12: 0, 101: 0, 113: 16, 276: 20, 228: 0, 229: 0}
"""The bytes before the IP header, by link type."""
VLANS = (b"\x81\x00", b"\x88\xa8", b"\x91\x00")


@dataclass
class Direction:
    """What was counted of the data of one direction."""

    segments: int = 0
    repeats: int = 0
    """Segments all of whose bytes had been seen."""
    fills: int = 0
    """Segments below the highest byte seen, of which some bytes had not been seen."""
    first: float | None = None
    last: float | None = None
    acked: float | None = None
    """When payload was last acknowledged for the first time."""
    syns: int = 0
    fins: int = 0
    resets: int = 0
    zero_windows: int = 0
    """Packets of this direction that announce a window of zero."""
    base: int | None = None
    una: int | None = None
    ranges: list[tuple[int, int]] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """The payload bytes seen, each counted once."""
        return sum(to - start for start, to in self.ranges)

    @property
    def duration(self) -> float:
        """From the first data to the last acknowledgment of new data, or else to the last data."""
        end = self.acked if self.acked is not None else self.last
        return 0.0 if end is None or self.first is None else max(0.0, end - self.first)

    @property
    def top(self) -> int:
        """The end of the highest byte seen."""
        return self.ranges[-1][1] if self.ranges else 0

    def offset(self, number: int) -> int:
        """The place of a sequence number in the stream, near the highest byte."""
        assert self.base is not None
        return self.top + (number - self.base - self.top + WRAP // 2) % WRAP - WRAP // 2

    def data(self, at: float, number: int, length: int) -> None:
        """Count a segment with payload."""
        self.base = number if self.base is None else self.base
        start = self.offset(number)
        to = start + length
        self.segments += 1
        self.first = at if self.first is None else self.first
        self.last = at
        known = sum(max(0, min(to, b) - max(start, a)) for a, b in self.ranges)
        if known == length:
            self.repeats += 1
        elif start < self.top:
            self.fills += 1
        merged: list[tuple[int, int]] = []
        for a, b in sorted([*self.ranges, (start, to)]):
            if merged and a <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(b, merged[-1][1]))
            else:
                merged.append((a, b))
        self.ranges = merged

    def acknowledged(self, at: float, number: int) -> None:
        """An acknowledgment number of the other end."""
        if self.base is None or not self.ranges:
            return
        to = self.offset(number)
        before = self.una
        if before is not None and to <= before:
            return
        if any(a < to and (before is None or before < b) for a, b in self.ranges):
            self.acked = at
        self.una = to


@dataclass
class Connection:
    """Both directions, and the times of the handshake."""

    ways: dict[str, Direction] = field(default_factory=dict)
    syns: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    done: float | None = None

    @property
    def initial_rtt(self) -> float | None:
        """From the SYN to the acknowledgment of its answer, if neither was sent twice."""
        if self.done is None or len(self.syns) != 1 or len(self.answers) != 1:
            return None
        return self.done - self.syns[0]


def packets(path: Path) -> Iterator[tuple[float, bytes]]:
    """The IP packets of a file with their times in seconds."""
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    for at, link, frame in _blocks(raw) if raw[:4] == b"\x0a\x0d\x0d\x0a" else _records(raw):
        if link == 1:
            tags = 0
            while frame[12 + tags : 14 + tags] in VLANS:
                tags += 4
            is_ip = frame[12 + tags : 14 + tags] in (b"\x08\x00", b"\x86\xdd")
            yield at, frame[14 + tags :] if is_ip else b""
        elif link in LINKS:
            yield at, frame[LINKS[link] :]


def _records(raw: bytes) -> Iterator[tuple[float, int, bytes]]:
    """The frames of a pcap file."""
    order = "<" if raw[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    unit = 1e9 if raw[:4] in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d") else 1e6
    link = struct.unpack(order + "I", raw[20:24])[0] & 0xFFFF
    at = 24
    while at + 16 <= len(raw):
        seconds, fraction, kept, _ = struct.unpack(order + "IIII", raw[at : at + 16])
        yield seconds + fraction / unit, link, raw[at + 16 : at + 16 + kept]
        at += 16 + kept


def _blocks(raw: bytes) -> Iterator[tuple[float, int, bytes]]:
    """The frames of a pcapng file of one section."""
    order = "<" if raw[8:12] == b"\x4d\x3c\x2b\x1a" else ">"
    interfaces: list[tuple[int, float]] = []
    at = 0
    while at + 12 <= len(raw):
        kind, length = struct.unpack(order + "II", raw[at : at + 8])
        block = raw[at + 8 : at + length - 4]
        if kind == 1:
            interfaces.append((struct.unpack(order + "H", block[:2])[0], _unit(order, block[8:])))
        elif kind == 6:
            interface, high, low, kept, _ = struct.unpack(order + "IIIII", block[:20])
            link, unit = interfaces[interface]
            yield (high << 32 | low) / unit, link, block[20 : 20 + kept]
        at += length


def _unit(order: str, options: bytes) -> float:
    """The ticks of a second of an interface."""
    while len(options) >= 4:
        code, length = struct.unpack(order + "HH", options[:4])
        if code == 9:
            return float(2 ** (options[4] & 127) if options[4] & 128 else 10 ** options[4])
        options = options[4 + (length + 3 & ~3) :]
    return 1e6


def segment(packet: bytes) -> tuple[str, str, bytes, int] | None:
    """The source, the destination, the TCP header and the length of the payload; ``None`` if it is no TCP."""
    if len(packet) >= 20 and packet[0] >> 4 == 4:
        header, total = (packet[0] & 15) * 4, int.from_bytes(packet[2:4], "big")
        if packet[9] != 6 or int.from_bytes(packet[6:8], "big") & 0x3FFF:
            return None
        addresses, tcp, carried = (packet[12:16], packet[16:20]), packet[header:], total - header
    elif len(packet) >= 40 and packet[0] >> 4 == 6 and packet[6] == 6:
        addresses, tcp = (packet[8:24], packet[24:40]), packet[40:]
        carried = int.from_bytes(packet[4:6], "big")
    else:
        return None
    if len(tcp) < 20:
        return None
    ports = struct.unpack(">HH", tcp[:4])
    ends = [_end(address, port) for address, port in zip(addresses, ports, strict=True)]
    return ends[0], ends[1], tcp, carried - (tcp[12] >> 4) * 4


def _end(address: bytes, port: int) -> str:
    host = ipaddress.ip_address(address)
    return f"[{host}]:{port}" if host.version == 6 else f"{host}:{port}"


def read(path: Path) -> list[Connection]:
    """The connections of a file; a SYN with another number begins a new one between the same ends."""
    found: list[Connection] = []
    latest: dict[frozenset[str], Connection] = {}
    for at, packet in packets(path):
        if (one := segment(packet)) is None:
            continue
        source, sink, tcp, length = one
        number, ack = struct.unpack(">II", tcp[4:12])
        flags, window = tcp[13], int.from_bytes(tcp[14:16], "big")
        connection = latest.get(frozenset((source, sink)))
        own = connection.ways[source] if connection else None
        if own is None or (flags & (SYN | ACK) == SYN and own.base not in (None, (number + 1) % WRAP)):
            connection = Connection({source: Direction(), sink: Direction()})
            latest[frozenset((source, sink))] = connection
            found.append(connection)
        assert connection is not None
        _count(connection, source, sink, at, number, ack, flags, window, length)
    return found


def _count(
    connection: Connection,
    source: str,
    sink: str,
    at: float,
    number: int,
    ack: int,
    flags: int,
    window: int,
    length: int,
) -> None:
    """Count one segment."""
    own, other = connection.ways[source], connection.ways[sink]
    if flags & SYN:
        own.syns += 1
        own.base = (number + 1) % WRAP if own.base is None else own.base
        (connection.answers if flags & ACK else connection.syns).append(at)
    elif connection.answers and connection.done is None and connection.syns and other.syns and not flags & RST:
        connection.done = at
    own.fins += bool(flags & FIN)
    own.resets += bool(flags & RST)
    own.zero_windows += window == 0 and not flags & (SYN | RST)
    if length > 0 and not flags & SYN:
        own.data(at, number, length)
    if flags & ACK and not flags & RST:
        other.acknowledged(at, ack)
