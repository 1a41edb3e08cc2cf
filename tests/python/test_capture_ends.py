"""``ackclock capture`` with several files: both ends of a connection, and parts of one capture."""

from __future__ import annotations

import csv
import json
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ackclock as ak
from conftest import Command
from test_capture import ACK, MS, MSS, Film

ROOT = Path(__file__).parents[2]
KERNEL = ROOT / "tests/captures/kernel"
DAY_NS = 86_400 * 10**9


def verdicts(truth: Path) -> dict[int, str]:
    """The truth about each retransmission, by its frame at the sender."""
    with truth.open(encoding="utf-8", newline="") as rows:
        return {int(row["sender_frame"]): row["verdict"] for row in csv.DictReader(rows)}


def main(result: dict[str, Any]) -> dict[str, Any]:
    """The row for the data of the only connection."""
    (flow,) = [flow for flow in result["flows"] if flow["main"]]
    assert isinstance(flow, dict)
    return flow


def judged(flow: dict[str, Any]) -> dict[int, str]:
    """The flow's verdicts by frame, without segments that carry only a FIN."""
    each = flow["each_retransmission"]
    assert not any(one["likely"] for one in each)
    return {one["frame"]: one["verdict"] for one in each if one["len_bytes"] > 1}


@pytest.mark.parametrize("stack", ["linux-2025", "newreno"])
def test_both_ends_of_a_simulated_run_give_its_ledger(stack: str, ackclock: Command, tmp_path: Path) -> None:
    text = (ROOT / "scenarios/two-paths.toml").read_text(encoding="utf-8")
    text = re.sub('duration = ".*?"', 'duration = "10 s"', text).replace("[[flow]]\n", "[[flow]]\nhandshake = true\n")
    text = text if "reordering = true" in text else text.replace("[run]\n", "[run]\nreordering = true\n")
    (run,) = ak.run(text, stack=stack, seed=1, pcap=tmp_path).to_dict()["runs"]
    (ledger,) = [flow["reordering"] for flow in run["flows"]]
    sender, receiver = tmp_path / "sender.pcapng", tmp_path / "receiver.pcapng"
    truth = verdicts(tmp_path / "truth.csv")
    assert {"needed", "needless"} <= set(truth.values())
    for files in ((sender, receiver), (receiver, sender)):
        said = json.loads(ackclock("capture", *files, "--json").stdout)
        assert not any("match" in remark for remark in said["remarks"])
        flow = main(said)
        assert (flow["file"], flow["receiver_file"]) == (str(sender), str(receiver))
        assert flow["captured"] == "at both ends"
        found = judged(flow)
        # Packets in flight at the end have not arrived; the run's ledger knows their fate.
        assert found == {frame: truth[frame] for frame in found}
        assert len(found) == len(truth)
        assert flow["reordering"]["order_source"] == "the sender's capture"
        assert ledger["reordered"] > 100
        for key, value in ledger.items():
            assert flow["reordering"][key] == (pytest.approx(value) if isinstance(value, float) else value), key
    reported = ackclock("capture", sender, receiver).stdout
    assert "captured at both ends: the same packets are in two files, one of each end" in reported
    alone = ak.capture([sender, receiver], at="sender").flows
    assert alone["receiver_file"].to_list() == [None] * alone.height


@pytest.mark.parametrize("name", ["cubic-swap12-loss-1", "cubic-swap12-no-timestamps"])
def test_both_ends_of_a_kernels_run_give_its_ledger(name: str, ackclock: Command) -> None:
    files = [KERNEL / f"{name}-{side}.pcapng.gz" for side in ("sender", "receiver")]
    flow = main(json.loads(ackclock("capture", *files, "--json").stdout))
    truth = verdicts(KERNEL / f"{name}-truth.csv")
    assert len(truth) > 100
    assert judged(flow) == truth
    table = ackclock("capture", *files, "--retransmissions").stdout
    assert "of the receiver's capture" in " ".join(table.split())


def in_one_file(files: list[Path], to: Path) -> Path:
    """The packets of pcapng files, in the order of their times, in one file with the interfaces of all of them."""
    section = b""
    interfaces: list[bytes] = []
    packets: list[tuple[int, bytes]] = []
    for file in files:
        content, at, own = file.read_bytes(), 0, len(interfaces)
        while at < len(content):
            kind, length = struct.unpack_from("<II", content, at)
            block, at = content[at : at + length], at + length
            if kind == 1:
                interfaces.append(block)
            elif kind == 6:
                interface, high, low = struct.unpack_from("<III", block, 8)
                block = block[:8] + struct.pack("<I", interface + own) + block[12:]
                packets.append((high << 32 | low, block))
            else:
                section = section or block
    packets.sort(key=lambda packet: packet[0])
    to.write_bytes(section + b"".join(interfaces) + b"".join(block for _, block in packets))
    return to


def test_a_file_with_an_interface_at_each_end_is_analysed_like_two_files(ackclock: Command, tmp_path: Path) -> None:
    text = (ROOT / "scenarios/two-paths.toml").read_text(encoding="utf-8")
    text = re.sub('duration = ".*?"', 'duration = "10 s"', text).replace("[[flow]]\n", "[[flow]]\nhandshake = true\n")
    ak.run(text, stack="linux-2025", seed=1, pcap=tmp_path)
    both = in_one_file([tmp_path / "sender.pcapng", tmp_path / "receiver.pcapng"], tmp_path / "both.pcapng")
    apart = main(ak.capture([tmp_path / "sender.pcapng", tmp_path / "receiver.pcapng"]).to_dict())
    found = ak.capture(both)
    together = main(found.to_dict())
    assert (together["file"], together["receiver_file"], together["interface"]) == (str(both), str(both), 0)
    assert (together["captured"], apart["captured"]) == ("at both ends", "at both ends")
    # All but the frames, which count the packets of both interfaces.
    frames = {"file", "receiver_file", "interface", "first_frame", "captured_why", "each_retransmission", "each_stall"}
    same = together.keys() - frames
    assert {key: together[key] for key in same} == {key: apart[key] for key in same}
    kinds = [[(one["verdict"], one["offset_bytes"]) for one in f["each_retransmission"]] for f in (together, apart)]
    assert kinds[0] == kinds[1]
    assert {"needed", "needless"} <= {verdict for verdict, _ in kinds[0]}
    said = ackclock("capture", both).stdout
    assert f"{both} holds both ends of its connections, at interface 0 (sender) and interface 1 (receiver): " in said
    assert "captured at both ends: the same packets are at two interfaces of the file, one at each end" in said
    assert len(found.files) == len(found.connections) == 1
    # The graph has the packets of one end.
    flow = found.flows.filter(pl.col("main")).row(0, named=True)
    drawn = found.packets()
    assert drawn.filter(pl.col("own")).height == flow["packets"]
    assert drawn.height == ak.capture(tmp_path / "sender.pcapng").packets().height
    # A path is fitted to what the sender saw.
    one, other = (ak.capture(file).fit().scenario for file in (both, tmp_path / "sender.pcapng"))
    assert one == other
    # As one capture, on request.
    assert main(ak.capture(both, at="sender").to_dict())["interface"] is None


def test_a_refused_connection_of_a_file_with_both_ends_counts_once(tmp_path: Path) -> None:
    ends = Ends()
    sender, receiver = ends.write(tmp_path)
    parts = []
    for interface, file in enumerate((sender, receiver)):
        content = file.read_bytes()
        refused = Film()
        refused.add(10, True, 77, 0, 2)
        refused.add(11, False, 0, 78, 20)
        parts.append((interface, content, refused))
    blocks = [struct.pack("<IIIHHiiI", 0x0A0D_0D0A, 28, 0x1A2B_3C4D, 1, 0, -1, -1, 28)]
    name = b"<b>\x1b[31mleft"
    option = struct.pack("<HH", 2, len(name)) + name + bytes(-len(name) % 4) + bytes(4)
    length = 20 + len(option)
    blocks += [struct.pack("<IIHHI", 1, length, 101, 0, 0) + option + struct.pack("<I", length)] * 2
    packets = []
    for interface, content, refused in parts:
        at = 24
        # The clocks of one machine agree.
        while at < len(content):
            seconds, nanos, length, _ = struct.unpack_from("<IIII", content, at)
            microseconds = (seconds % 86_400) * 10**6 + nanos // 1000
            packets.append((microseconds, interface, content[at + 16 : at + 16 + length]))
            at += 16 + length
        first = min(packet[0] for packet in packets)
        for ns, packet in refused.packets:
            moved = packet[:20] + struct.pack(">H", 6001) + packet[22:] if packet[15] == 1 else None
            moved = moved or packet[:22] + struct.pack(">H", 6001) + packet[24:]
            packets.append((first + ns // 1000 + 30 * interface, interface, moved))
    for at, interface, packet in sorted(packets):
        padded = packet + bytes(-len(packet) % 4)
        length = 32 + len(padded)
        head = struct.pack("<IIIIIII", 6, length, interface, at >> 32, at & 0xFFFF_FFFF, len(packet), len(packet))
        blocks.append(head + padded + struct.pack("<I", length))
    both = tmp_path / "both.pcapng"
    both.write_bytes(b"".join(blocks))
    result = ak.capture(both).to_dict()
    assert main(result)["captured"] == "at both ends"
    assert sorted(one["opening"] for one in result["connections"]) == ["opened", "refused"]
    assert result["answers"][0] == "Of 2 connections, 1 was refused."
    # Names from the file are text, in a terminal and in a page.
    assert (
        f"{both} holds both ends of its connections, at interface 0 (<b>[31mleft) and interface 1"
        in result["remarks"][0]
    )
    ak.capture(both).write_report(tmp_path / "both.html")
    page = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert "(&lt;b&gt;[31mleft)" in page
    assert "<b>[31m" not in page


class Ends:
    """A transfer of 40 segments, captured at both ends; the receiver's clock is a day ahead."""

    def __init__(self, joined: int = 1) -> None:
        """Send packets of ``joined`` segments; one is lost and retransmitted, one is retransmitted needlessly."""
        self.here, self.there = Film(), Film()
        self.here.handshake()
        self.there.packets = [
            (round(at), packet)
            for at, (_, packet) in zip((25 * MS, 25.01 * MS, 75.02 * MS), self.here.packets, strict=True)
        ]
        for n in range(0, 40, joined):
            frame = self.here.data(60 + n, n) if joined == 1 else self._train(60 + n, n, joined)
            if n != 12:
                self._arrive(frame, 25)
        self._answer(130, 12)
        self._arrive(self.here.data(140, 12), 25)
        self._answer(166, 40)
        self._arrive(self.here.data(200, 20), 25)
        self._answer(226, 40)

    def _train(self, ms: float, first: int, count: int) -> int:
        """Add segments that left as one packet, with the identification of the first."""
        return self.here.add(ms, True, 0xFFFF_F000 + 1 + MSS * first, 7_001, ACK, MSS * count, ids=count)

    def _arrive(self, frame: int, ms: float) -> None:
        at, packet = self.here.packets[frame - 1]
        self.there.packets.append((at + round(ms * MS), packet))

    def _answer(self, ms: float, segments: int) -> None:
        frame = self.here.ack(ms + 25, segments)
        self.there.packets.append((round(ms * MS), self.here.packets[frame - 1][1]))

    def write(self, folder: Path, nat: bool = False) -> list[Path]:
        """Write both files."""
        files = [folder / "here.pcap", folder / "there.pcap"]
        moved = [(at + DAY_NS, packet) for at, packet in sorted(self.there.packets, key=lambda p: p[0])]
        if nat:
            inner, outer = bytes([10, 0, 0, 1]), bytes([192, 0, 2, 7])
            moved = [(at, p[:12] + p[12:20].replace(inner, outer) + p[20:]) for at, p in moved]
        self.there.packets = moved
        for film, file in zip((self.here, self.there), files, strict=True):
            file.write_bytes(film.pcap())
        return files


@pytest.mark.parametrize("nat", [False, True])
@pytest.mark.parametrize("joined", [1, 4])
def test_clocks_addresses_and_joined_segments_may_differ(nat: bool, joined: int, tmp_path: Path) -> None:
    here, there = Ends(joined).write(tmp_path, nat)
    found = ak.capture([here, there])
    assert not any("match" in remark for remark in found.to_dict()["remarks"])
    flow = main(found.to_dict())
    assert (flow["captured"], flow["receiver_file"]) == ("at both ends", str(there))
    assert [one["verdict"] for one in flow["each_retransmission"]] == ["needed", "needless"]
    assert flow["each_retransmission"][1]["evidence"].endswith("of the receiver's capture) and was accepted")


def test_a_receivers_capture_that_ended_early_leaves_open_what_it_lacks(tmp_path: Path) -> None:
    ends = Ends()
    # The capture ends when most packets have arrived, and before any retransmission does.
    ends.there.packets = sorted(ends.there.packets, key=lambda p: p[0])[:39]
    found = ak.capture(ends.write(tmp_path))
    flow = main(found.to_dict())
    assert flow["captured"] == "at both ends"
    first, second = flow["each_retransmission"]
    assert (first["verdict"], second["verdict"]) == ("undecided", "needless")
    assert first["evidence"] == "the receiver's capture lacks copies that may have arrived"


def test_pieces_of_one_capture_are_looked_at_one_by_one(tmp_path: Path) -> None:
    whole = Ends().here
    pieces = []
    for i, part in enumerate((whole.packets[:25], whole.packets[25:])):
        film = Film()
        film.packets = part
        pieces.append(tmp_path / f"piece{i}.pcap")
        pieces[i].write_bytes(film.pcap())
    found = ak.capture(pieces)
    assert not any("match" in remark for remark in found.to_dict()["remarks"])
    assert found.flows["receiver_file"].to_list() == [None, None]
    one_by_one = pl.concat([ak.capture(piece).flows for piece in pieces])
    assert found.flows.equals(one_by_one)


def test_more_than_two_files_of_a_connection_are_answered_in_one_sentence(ackclock: Command, tmp_path: Path) -> None:
    here, there = Ends().write(tmp_path)
    more = tmp_path / "more.pcap"
    more.write_bytes(there.read_bytes())
    said = ackclock("capture", here, there, more).stdout
    (line,) = [line for line in said.splitlines() if "mergecap" in line]
    assert line.startswith(f"10.0.0.1:5001 > 10.0.0.2:80 is in {here} and {there} and in others: only two files")
    assert ak.capture([here, there, more]).flows["receiver_file"].to_list() == [None] * 3


def test_what_the_path_changed_is_not_matched_and_a_sentence_says_so(tmp_path: Path) -> None:
    ends = Ends()
    ends.there.packets = [
        (at, p[:4] + struct.pack(">H", (struct.unpack(">H", p[4:6])[0] * 7919) % 65_536) + p[6:])
        for at, p in ends.there.packets
    ]
    here, there = ends.write(tmp_path)
    (remark,) = ak.capture([here, there]).to_dict()["remarks"]
    assert "something on the path changes them" in remark
    assert ak.capture([here, there]).flows["captured"].to_list() == ["at the sender", "at the receiver"]


def test_standard_input_is_not_matched(tmp_path: Path) -> None:
    here, there = Ends().write(tmp_path)
    with there.open("rb") as file:
        ran = subprocess.run(
            [sys.executable, "-m", "ackclock", "capture", str(here), "-", "--json"],
            stdin=file,
            capture_output=True,
            check=True,
        )
    assert [flow["receiver_file"] for flow in json.loads(ran.stdout)["flows"]] == [None, None]
