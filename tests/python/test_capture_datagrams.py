"""UDP with sequence numbers in captures: iperf3's own packets, and RTP's as RFC 3550 lays them out."""

from __future__ import annotations

import gzip
import json
import re
import struct
from pathlib import Path

import polars as pl
import pytest

import ackclock as ak
from conftest import Command
from test_capture import Film

IPERF = Path(__file__).parents[2] / "tests/captures/iperf3"
HEAD, RECORD = 24, 16
"""Sizes in bytes of a pcap file's header, and of a packet's header."""


def records(pcap: bytes) -> list[bytes]:
    """The packets of a pcap file, each with its header."""
    found, at = [], HEAD
    while at < len(pcap):
        (kept,) = struct.unpack_from("<I", pcap, at + 8)
        found.append(pcap[at : at + RECORD + kept])
        at += RECORD + kept
    return found


def rtp(sequence: int, source: int = 0xDEADBEEF) -> bytes:
    """An IP packet from 10.0.0.1:5004 to 10.0.0.2:5004 with RTP (RFC 3550 §5.1), payload type 0, 20 ms of audio."""
    payload = struct.pack(">BBHII", 0x80, 0, sequence % 2**16, sequence * 160 % 2**32, source) + bytes(160)
    udp = struct.pack(">HHHH", 5004, 5004, 8 + len(payload), 0) + payload
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0)
    return head + bytes([10, 0, 0, 1, 10, 0, 0, 2]) + udp


@pytest.mark.parametrize("bits", [32, 64])
def test_iperf3s_own_datagrams_are_counted_as_iperf3_counts_them(bits: int, ackclock: Command) -> None:
    report = (IPERF / f"iperf3-{bits}.txt").read_text(encoding="utf-8")
    counted = re.search(r"(\d+)/(\d+) \(0%\)  receiver", report)
    assert counted
    said = json.loads(ackclock("capture", IPERF / f"iperf3-{bits}.pcap.gz", "--json").stdout)
    (row,) = said["datagrams"]
    assert (row["lost"], row["packets"]) == (int(counted[1]), int(counted[2])) == (0, 150)
    assert (row["format"], row["ssrc"], row["bytes"]) == ("iperf3", None, 150 * 400)
    assert (row["reordering"]["order_source"], row["reordering"]["reordered"]) == ("iperf3's counts", 0)
    # The first datagram is only a greeting.
    assert said["files"][0]["skipped"] == {"udp": {"packets": 1, "bytes": 46}}


@pytest.mark.parametrize("bits", [32, 64])
def test_what_is_taken_out_of_iperf3s_capture_is_lost_and_what_is_moved_is_late(bits: int, tmp_path: Path) -> None:
    pcap = gzip.decompress((IPERF / f"iperf3-{bits}.pcap.gz").read_bytes())
    hello, *packets = records(pcap)
    late = packets.pop(100)
    # Insert it after four others, with their time.
    packets.insert(104, packets[103][:8] + late[8:])
    del packets[50:57], packets[20]
    path = tmp_path / "cut.pcap"
    path.write_bytes(pcap[:HEAD] + hello + b"".join(packets))
    (row,) = ak.capture(path).datagrams.to_dicts()
    assert (row["packets"], row["lost"], row["lost_ratio"]) == (142, 8, 8 / 150)
    assert (row["reordered"], row["median_extent"], row["max_extent"], row["duplicates"]) == (1, 4, 4, 0)


def test_rtp_has_a_row_of_its_own_beside_tcp(ackclock: Command, tmp_path: Path) -> None:
    film = Film()
    film.handshake()
    film.data(60, 0)
    order = [n for n in range(65_500, 65_600) if n not in {65_510, 65_511}]
    order[40], order[41] = order[41], order[40]
    film.packets += [(round((70 + 20 * i) * 10**6), rtp(n)) for i, n in enumerate([*order, order[-1]])]
    path = tmp_path / "call.pcap"
    path.write_bytes(film.pcap())
    found = ak.capture(path)
    (row,) = found.datagrams.to_dicts()
    assert (row["flow"], row["format"], row["ssrc"]) == ("10.0.0.1:5004 > 10.0.0.2:5004", "RTP", 0xDEADBEEF)
    assert (row["packets"], row["lost"], row["duplicates"], row["reordered"]) == (98, 2, 1, 1)
    assert (row["max_late_time_s"], row["restarts"]) == (pytest.approx(0.02), 0)
    assert found.flows.height == 1
    assert found.skipped.is_empty()
    shown = ackclock("capture", path).stdout
    assert re.search(r"RTP +0xdeadbeef", shown)
    assert "10.0.0.1:5001 > 10.0.0.2:80" in shown
    chosen = ackclock("capture", path, "--flow", "10.0.0.2:5004 > 10.0.0.1:5004", "--json")
    said = json.loads(chosen.stdout)
    assert (len(said["flows"]), len(said["datagrams"])) == (0, 1)


def test_the_table_of_datagrams_has_the_numbers_of_the_json(tmp_path: Path) -> None:
    path = tmp_path / "call.pcap"
    film = Film()
    film.packets = [(20 * 10**6 * n, rtp(n)) for n in range(20)]
    path.write_bytes(film.pcap())
    found = ak.capture(path)
    (row,) = found.to_dict()["datagrams"]
    (cells,) = found.datagrams.to_dicts()
    assert cells == {key: row[key] for key in cells}
    assert row.keys() - cells.keys() == {"reordering"}
    assert found.datagrams.schema == ak.capture(IPERF / "iperf3-32.pcap.gz").datagrams.schema
    assert found.datagrams.schema["ssrc"] == pl.Int64
