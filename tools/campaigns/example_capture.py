"""Makes ``tests/captures/example/client.pcap.gz``: transfers between kernels in one file, as their client has it.

They are transfers of ``tests/captures/causes``, side by side, with addresses for documentation: a
server that is slow to answer, a download with losses, an upload to a slow reader, and three connections that are
refused.
"""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CAUSES = ROOT / "tests" / "captures" / "causes"
TARGET = ROOT / "tests" / "captures" / "example" / "client.pcap.gz"
CLIENT = "192.0.2.10"
HEADER = struct.Struct("<IIII")
PARTS = (
    # The capture at the client, the client's address in it, the server's address and port, and when it begins, seconds.
    ("slow-server-30-0.9-receiver", "10.77.0.1", ("198.51.100.80", 443), 0.0),
    ("loss-reno-0.03-30-receiver", "10.77.0.2", ("203.0.113.9", 443), 0.8),
    ("slow-reader-30-sender", "10.77.0.1", ("203.0.113.44", 22), 1.9),
    ("refused-30-sender", "10.77.0.1", ("198.51.100.25", 587), 2.2),
    ("refused-5-sender", "10.77.0.1", ("198.51.100.25", 587), 3.2),
    ("refused-30-sender", "10.77.0.1", ("198.51.100.25", 587), 4.2),
)


def packets(content: bytes) -> list[tuple[float, bytes, int]]:
    """The packets of a pcap file of IPv4 packets: time, bytes kept, and length on the wire."""
    found, at = [], 24
    while at < len(content):
        seconds, micros, kept, length = HEADER.unpack_from(content, at)
        found.append((seconds + micros / 1e6, content[at + 16 : at + 16 + kept], length))
        at += 16 + kept
    return found


def checksum(header: bytes) -> int:
    """The Internet checksum (RFC 1071) of an IPv4 header whose own is zero."""
    total: int = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total >> 16) + (total & 0xFFFF)
    return ~total & 0xFFFF


def renamed(packet: bytes, client: str, server: tuple[str, int], port: int) -> bytes:
    """The packet with other addresses and ports; the TCP checksum stays that of the original."""
    raw = {name: bytes(map(int, name.split("."))) for name in (client, CLIENT, server[0])}
    out = packet[12:16] == raw[client]
    ends = [(raw[CLIENT], port), (raw[server[0]], server[1])]
    (source, from_port), (sink, to_port) = ends if out else ends[::-1]
    header = bytearray(packet[:20])
    header[10:12], header[12:16], header[16:20] = b"\0\0", source, sink
    header[10:12] = struct.pack(">H", checksum(bytes(header)))
    return bytes(header) + struct.pack(">HH", from_port, to_port) + packet[24:]


def main() -> None:
    """Write the file."""
    every: list[tuple[float, bytes, int]] = []
    for number, (name, client, server, begin) in enumerate(PARTS):
        found = packets(gzip.decompress((CAUSES / f"{name}.pcap.gz").read_bytes()))
        start = found[0][0]
        for at, packet, length in found:
            every.append((begin + at - start, renamed(packet, client, server, 50_100 + number), length))
    every.sort(key=lambda packet: packet[0])
    content = struct.pack("<IHHiIII", 0xA1B2_C3D4, 2, 4, 0, 0, 96, 101)
    for at, packet, length in every:
        micros = 1_700_000_000 * 10**6 + round(at * 1e6)
        content += HEADER.pack(micros // 10**6, micros % 10**6, len(packet), length) + packet
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(gzip.compress(content, 9, mtime=0))


if __name__ == "__main__":
    main()
