"""Captures of the kinds that hosts, routers and switches make, rebuilt packet by packet: each was misread once."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

import ackclock as ak

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
CLIENT, SERVER = "192.0.2.1", "198.51.100.2"
MSS = 1460


class Wire:
    """Packets of connections between two hosts, with everything that a host or a router may set."""

    def __init__(self, path: Path) -> None:
        """Start without packets."""
        self.path = path
        self.packets: list[tuple[float, bytes]] = []
        self.port = 40_000

    def add(
        self,
        s: float,
        out: bool,
        seq: int,
        ack: int,
        flags: int,
        length: int = 0,
        *,
        ident: int = 0,
        ttl: int = 64,
        window: int = 65_535,
        stamps: tuple[int, int] | None = None,
    ) -> None:
        """Add a packet at `s` seconds."""
        options = b"" if stamps is None else b"\x01\x01\x08\x0a" + struct.pack(">II", *stamps)
        ends = [(CLIENT, self.port), (SERVER, 80)]
        (source, port), (sink, to) = ends if out else ends[::-1]
        header = 20 + len(options)
        tcp = struct.pack(">HHIIBBHHH", port, to, seq, ack, header << 2, flags, window, 0, 0) + options
        addresses = bytes(map(int, f"{source}.{sink}".split(".")))
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + header + length, ident, 0x4000, ttl, 6, 0) + addresses
        self.packets.append((s, ip + tcp + bytes(length)))

    def open(self, rtt: float = 0.03, s: float = 0.0) -> None:
        """Add a handshake, as seen at the client."""
        self.add(s, True, 0, 0, SYN)
        self.add(s + rtt, False, 0, 1, SYN | ACK)
        self.add(s + rtt + 0.0001, True, 1, 1, ACK)

    def capture(self) -> ak.Capture:
        """Analyse the packets in the order of their times."""
        self.packets.sort(key=lambda packet: packet[0])
        content = struct.pack("<IHHiIII", 0xA1B2_3C4D, 2, 4, 0, 0, 65_535, 101)
        for at, packet in self.packets:
            nanoseconds = 1_700_000_000 * 10**9 + round(at * 1e9)
            content += (
                struct.pack("<IIII", nanoseconds // 10**9, nanoseconds % 10**9, len(packet), len(packet)) + packet
            )
        self.path.write_bytes(content)
        return ak.capture(self.path)


@pytest.fixture
def wire(tmp_path: Path) -> Wire:
    return Wire(tmp_path / "wild.pcap")


def main(found: ak.Capture) -> dict[str, Any]:
    """The flow with more data."""
    return next(flow for flow in found.to_dict()["flows"] if flow["main"])


def test_the_clock_of_a_flow_runs_from_its_first_data_to_the_ack_of_its_last_and_a_fin_is_no_data(wire: Wire) -> None:
    wire.open()
    for n in range(10):
        wire.add(1 + n, True, 1 + n * MSS, 1, ACK | PSH, MSS)
        wire.add(1.03 + n, False, 1, 1 + (n + 1) * MSS, ACK)
    wire.add(30, True, 1 + 10 * MSS, 1, ACK | FIN)
    wire.add(30.03, False, 1, 2 + 10 * MSS, ACK)
    flow = main(wire.capture())
    assert (flow["bytes"], flow["duration_s"]) == (14_600, pytest.approx(9.03))
    assert sum(flow["time_by_cause_s"].values()) == pytest.approx(9.03)


def test_identifications_that_count_all_packets_of_a_host_show_no_loss(wire: Wire) -> None:
    wire.open()
    for n in range(40):
        # Other connections of the host use numbers, too; nothing is lost.
        wire.add(0.1 + n * 0.05, True, 1 + n * 300, 1, ACK | PSH, 300, ident=100 + 3 * n + n % 5)
        wire.add(0.13 + n * 0.05, False, 1, 1 + (n + 1) * 300, ACK)
    flow = main(wire.capture())
    assert (flow["retransmissions"], flow["suspected_retransmissions"], flow["fills"]) == (0, 0, 0)


@pytest.mark.parametrize(("later", "resent", "suspected"), [(0.0015, 0, 0), (0.2, 0, 1)])
def test_a_hole_filled_within_a_round_trip_was_late_and_one_filled_later_is_only_suspected(
    wire: Wire, later: float, resent: int, suspected: int
) -> None:
    wire.open()
    for n in range(30):
        late = later if n == 20 else 0
        wire.add(0.1 + n * 0.001 + late, False, 1 + n * MSS, 1, ACK, MSS)
        wire.add(0.1 + n * 0.001 + late + 0.00001, True, 1, 1 + min(n + 1, 20) * MSS, ACK)
    flow = main(wire.capture())
    assert (flow["captured"], flow["retransmissions"]) == ("at the receiver", resent)
    assert (flow["suspected_retransmissions"], flow["fills"]) == (suspected, 1)


def test_idle_time_is_no_round_trip_and_an_idle_server_is_the_application(wire: Wire) -> None:
    wire.add(0, True, 0, 0, SYN, stamps=(1000, 0))
    wire.add(0.03, False, 0, 1, SYN | ACK, stamps=(500, 1000))
    wire.add(0.0301, True, 1, 1, ACK, stamps=(1030, 500))
    wire.add(0.0302, True, 1, 1, ACK | PSH, 100, stamps=(1030, 500))
    wire.add(0.061, False, 1, 101, ACK | PSH, 500, stamps=(531, 1030))
    wire.add(0.0611, True, 101, 501, ACK, stamps=(1061, 531))
    wire.add(60.061, False, 501, 101, ACK | PSH, 700, stamps=(60_531, 1061))
    wire.add(60.0611, True, 101, 1201, ACK, stamps=(61_061, 60_531))
    flow = main(wire.capture())
    assert flow["rtt_p50_s"] == pytest.approx(0.0301)
    assert (flow["longest_stall_cause"], flow["main_cause"]) == ("application idle", "application idle")


def test_connections_that_fail_or_are_slow_to_open_have_rows_and_an_answer(wire: Wire) -> None:
    for n, s in enumerate((0, 1, 3, 7)):
        wire.add(s, True, 0, 0, SYN, ident=n + 1)
    wire.add(7.03, False, 0, 1, SYN | ACK)
    wire.add(7.0301, True, 1, 1, ACK)
    wire.port = 40_001
    wire.add(8, True, 0, 0, SYN)
    wire.add(8.01, False, 0, 1, RST | ACK, window=0)
    wire.port = 40_002
    for n, s in enumerate((9, 10, 12)):
        wire.add(s, True, 0, 0, SYN, ident=n + 1)
    found = wire.capture()
    rows = found.connections.select("opening", "syns", "setup_s", "initial_rtt_s", "closed_by").rows()
    assert rows[0] == ("opened", 4, pytest.approx(7.0301), None, None)
    assert rows[1:] == [("refused", 1, None, None, "RST of the server"), ("unanswered", 3, None, None, None)]
    assert found.to_dict()["answers"][0] == "Of 3 connections, 1 was refused, 1 was not answered."


def test_a_window_that_stays_closed_is_a_stall_to_the_end_and_its_probes_are_no_retransmissions(wire: Wire) -> None:
    wire.open()
    wire.add(0.04, True, 1, 1, ACK, MSS)
    wire.add(0.07, False, 1, 1 + MSS, ACK, window=0)
    for n, s in enumerate((0.6, 1.6, 3.6, 7.6)):
        # Half of the hosts send the next byte, half a number already acknowledged.
        wire.add(s, True, (1 + MSS) - n % 2, 1, ACK, 1 - n % 2, ident=n + 1)
        wire.add(s + 0.03, False, 1, 1 + MSS, ACK, window=0, ident=n + 1)
    flow = main(wire.capture())
    assert (flow["retransmissions"], flow["window_probes"], flow["zero_windows"]) == (0, 4, 5)
    stall = flow["each_stall"][-1]
    assert (stall["cause"], flow["bytes"]) == ("receiver window", MSS)
    assert stall["at_end"]


def test_a_probed_window_that_opens_loses_no_byte(wire: Wire) -> None:
    wire.open()
    wire.add(0.04, True, 1, 1, ACK, MSS)
    wire.add(0.07, False, 1, 1 + MSS, ACK, window=0)
    wire.add(0.6, True, 1 + MSS, 1, ACK, 1)
    wire.add(0.63, False, 1, 1 + MSS, ACK, window=0)
    wire.add(1.6, True, 1 + MSS, 1, ACK, 1)
    wire.add(1.63, False, 1, 2 + MSS, ACK)
    wire.add(1.64, True, 2 + MSS, 1, ACK, MSS)
    wire.add(1.67, False, 1, 2 + 2 * MSS, ACK)
    flow = main(wire.capture())
    assert (flow["bytes"], flow["retransmissions"], flow["unseen_bytes"]) == (2 * MSS + 1, 0, 0)


def test_the_time_of_an_exchange_is_divided_between_network_and_server(wire: Wire) -> None:
    wire.open(rtt=0.4)
    wire.add(0.5, True, 1, 1, ACK | PSH, 200)
    wire.add(0.9, False, 1, 201, ACK)
    wire.add(1.9, False, 1, 201, ACK | PSH, 1000)
    wire.add(1.9001, True, 201, 1001, ACK)
    found = wire.capture()
    (exchange,) = found.exchanges.to_dicts()
    times = exchange["acked_s"], exchange["first_byte_s"], exchange["last_byte_s"]
    assert times == pytest.approx((0.4, 1.4, 1.4))
    (connection,) = found.connections.to_dicts()
    assert connection["server_s"] == pytest.approx(1.0, abs=0.001)
    assert "0.4 s for the network, 1 s for the server" in found.to_dict()["answers"][0]


@pytest.mark.parametrize("burst", [1, 20])
def test_packets_captured_before_and_after_a_router_are_counted_once(wire: Wire, burst: int) -> None:
    wire.open()
    for n in range(2 * burst):
        at = 0.1 + (n // burst) * 0.05
        for ttl, later in ((64, 0.0), (63, 0.003)):
            wire.add(at + later + n * 1e-6, True, 1 + n * MSS, 1, ACK, MSS, ident=n + 1, ttl=ttl)
        if (n + 1) % burst == 0:
            wire.add(at + 0.03, False, 1, 1 + (n + 1) * MSS, ACK)
    found = wire.capture()
    flow = main(found)
    assert (flow["retransmissions"], flow["data_packets"]) == (0, 2 * burst)
    assert found.files["repeats"].item() == 2 * burst


def test_data_that_nobody_saw_is_not_carried_and_one_direction_alone_shows_no_cause(wire: Wire) -> None:
    for n in range(5):
        wire.add(n, True, 1 + n * 100_000, 1, ACK, 1000)
    flow = main(wire.capture())
    assert (flow["bytes"], flow["stalls"], flow["retransmissions"]) == (5000, 0, 0)
    assert flow["main_cause"] == "unknown"


def test_a_segment_that_a_timer_sends_again_and_again_is_a_peer_that_has_gone(wire: Wire) -> None:
    wire.open()
    for n in range(3):
        wire.add(0.1 + n * 0.001, True, 1 + n * 500, 1, ACK | PSH, 500)
        wire.add(0.13 + n * 0.001, False, 1, 1 + (n + 1) * 500, ACK)
    for n, s in enumerate((0.2, 0.5, 1.1, 2.3, 4.7)):
        wire.add(s, True, 1501, 1, ACK | PSH, 400, ident=n + 1)
    flow = main(wire.capture())
    assert [stall["cause"] for stall in flow["each_stall"]] == ["application idle", *["peer gone"] * 4]
    assert flow["repeats"] == 4


def test_a_small_segment_that_waits_for_a_delayed_ack_is_nagles(wire: Wire) -> None:
    wire.open()
    at, seq = 0.1, 1
    wire.add(at, True, seq, 1, ACK, MSS)
    wire.add(at + 0.03, False, 1, seq + MSS, ACK)
    at, seq = 0.5, seq + MSS
    for _ in range(5):
        wire.add(at, True, seq, 1, ACK | PSH, 100)
        wire.add(at + 0.2, False, 1, seq + 100, ACK)
        at, seq = at + 0.2001, seq + 100
    flow = main(wire.capture())
    assert flow["main_cause"] == "Nagle"
    assert flow["time_by_cause_s"]["Nagle"] == pytest.approx(0.8, abs=0.01)


def test_a_pcap_file_with_both_ends_gets_the_remedy_in_a_remark(wire: Wire) -> None:
    def add(s: float, out: bool, seq: int, ack: int, flags: int, length: int = 0, ident: int = 0) -> None:
        # The second copy has passed a router, 20 ms later.
        wire.add(s, out, seq, ack, flags, length, ident=ident)
        wire.add(s + 0.02, out, seq, ack, flags, length, ident=ident, ttl=63)

    add(0, True, 0, 0, SYN, ident=1)
    add(0.021, False, 0, 1, SYN | ACK, ident=1)
    add(0.042, True, 1, 1, ACK, ident=2)
    for n in range(20):
        add(0.1 + n * 0.05, True, 1 + n * MSS, 1, ACK | PSH, MSS, ident=3 + n)
        add(0.121 + n * 0.05, False, 1, 1 + (n + 1) * MSS, ACK, ident=2 + n)
    (file,) = wire.capture().to_dict()["files"]
    assert file["repeats"] == file["segments"] / 2
    assert any("keep the ends apart: give two files, or a pcapng file" in remark for remark in file["remarks"])
