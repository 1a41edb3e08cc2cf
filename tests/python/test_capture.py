"""``ackclock capture`` and ``ak.capture``, on captures that are built here packet by packet."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ackclock as ak
from ackclock.captures.capture import TABLES
from ackclock.captures.tables import _density
from conftest import Command, completed

A, B = ("10.0.0.1", 5001), ("10.0.0.2", 80)
FLOW = "10.0.0.1:5001 > 10.0.0.2:80"
MSS, MS = 1000, 10**6
ISS, IRS = 0xFFFF_F000, 7_000
FIN, SYN, PSH, ACK = 1, 2, 8, 16
SYN_OPTIONS = struct.pack(">BBHBBBBBB", 2, 4, MSS, 4, 2, 1, 3, 3, 7) + b"\0\0"
RAW, ETHERNET = 101, 1


def sack(*blocks: tuple[int, int]) -> bytes:
    """SACK blocks over ranges of segments, counted from 0."""
    edges = b"".join(struct.pack(">II", *((ISS + 1 + MSS * n) % 2**32 for n in block)) for block in blocks)
    return struct.pack(">BBBB", 1, 1, 5, 2 + len(edges)) + edges


class Film:
    """The packets of one connection in the order of a capture."""

    def __init__(self) -> None:
        """Start without packets."""
        self.packets: list[tuple[int, bytes]] = []
        self._ids = {A: 65_500, B: 100}

    def add(
        self, ms: float, out: bool, seq: int, ack: int, flags: int, length: int = 0, options: bytes = b"", ids: int = 1
    ) -> int:
        """Add a packet, which uses `ids` IP identifications; return its frame number."""
        (source, port), (sink, to) = (A, B) if out else (B, A)
        start = A if out else B
        self._ids[start] = (self._ids[start] + 1) % 2**16
        header = 20 + len(options)
        tcp = struct.pack(">HHIIBBHHH", port, to, seq % 2**32, ack % 2**32, header << 2, flags, 2000, 0, 0) + options
        addresses = bytes(map(int, f"{source}.{sink}".split(".")))
        about = (0x45, 0, 20 + header + length, self._ids[start], 0x4000, 64 if out else 57, 6, 0)
        ip = struct.pack(">BBHHHBBH", *about) + addresses
        self._ids[start] += ids - 1
        self.packets.append((round(ms * MS), ip + tcp + bytes(length)))
        return len(self.packets)

    def handshake(self) -> None:
        """Add the three packets of a handshake with an RTT of 50 ms."""
        self.add(0, True, ISS, 0, SYN, options=SYN_OPTIONS)
        self.add(50, False, IRS, ISS + 1, SYN | ACK, options=SYN_OPTIONS)
        self.add(50.02, True, ISS + 1, IRS + 1, ACK)

    def data(self, ms: float, segment: int, flags: int = ACK) -> int:
        """Add a data segment, counted from 0."""
        return self.add(ms, True, ISS + 1 + MSS * segment, IRS + 1, flags, MSS)

    def ack(self, ms: float, segments: int, *blocks: tuple[int, int]) -> int:
        """Add an ACK for this number of segments."""
        options = sack(*blocks) if blocks else b""
        return self.add(ms, False, IRS + 1, ISS + 1 + MSS * segments, ACK, options=options)

    def pcap(self, link: int = RAW) -> bytes:
        """The capture as a file, with times in nanoseconds."""
        head = struct.pack("<IHHiIII", 0xA1B2_3C4D, 2, 4, 0, 0, 65_535, link)
        return head + b"".join(
            struct.pack("<IIII", 1_700_000_000 + at // 10**9, at % 10**9, len(p), len(p)) + p for at, p in self.packets
        )


def story() -> Film:
    """A capture at the sender: one segment reordered, one lost and retransmitted, an idle second, and a timeout."""
    film = Film()
    film.handshake()
    for n in range(10):
        film.data(51 + n * 0.1, n)
    for n in (1, 2):
        film.ack(101 + n * 0.1, n)
    film.ack(101.3, 2, (3, 4))
    film.ack(101.4, 2, (3, 5))
    film.ack(101.5, 5)  # 2 was late
    film.data(101.51, 10)
    for n in range(6, 11):
        film.ack(101 + n * 0.1, n)
    for n in range(11, 20):
        film.data(102 + n * 0.01, n)
    for n in (11, 12):
        film.ack(151.6 + (n - 10) * 0.01, n)
    for n in range(14, 18):
        film.ack(151.7 + (n - 10) * 0.01, 12, (13, n))
    film.data(151.8, 12)  # was lost
    film.ack(151.9, 12, (13, 20))
    film.ack(202, 20)
    for n in range(20, 30):
        film.data(1205 + (n - 20) * 0.1, n, ACK | (PSH if n == 29 else 0))
    for n in range(21, 25):
        film.ack(1255 + (n - 20) * 0.1, n)
    film.data(1900, 24)  # was lost, like everything after it
    film.ack(1950, 25)
    for n in range(25, 30):
        film.data(1950.1 + (n - 25) * 0.1, n)
    film.ack(2000.5, 30)
    return film


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    """The story as a file."""
    path = tmp_path / "upload.pcap"
    path.write_bytes(story().pcap())
    return path


def only(result: dict[str, Any]) -> dict[str, Any]:
    """The only flow."""
    (flow,) = result["flows"]
    assert isinstance(flow, dict)
    return flow


def test_the_json_has_what_was_promised(ackclock: Command, upload: Path) -> None:
    result = ackclock("capture", upload, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    said = json.loads(result.stdout)
    flow = only(said)
    assert (flow["flow"], flow["bytes"], flow["data_packets"], flow["main"]) == (FLOW, 30 * MSS, 37, True)
    kinds = ("needed", "needless", "refused", "undecided")
    assert flow["retransmissions"] == 7 == sum(flow[f"{kind}_retransmissions"] for kind in kinds)
    assert flow["needless_retransmissions"] == 0
    assert flow["captured"] == "at the sender"
    assert flow["rtt_min_s"] == pytest.approx(0.05, rel=0.02)
    options = {"sack": True, "dsack_seen": False, "timestamps": False, "window_scale": 7, "mss": MSS, "ecn": False}
    assert options.items() <= flow.items()
    assert flow["options"] == "SACK, scale 7"
    order = flow["reordering"]
    assert (order["order_source"], order["reordered"], order["median_extent"]) == ("as seen by ACKs", 1, 2)
    assert "reorder_density" not in order
    about = said["files"][0]
    assert (about["packets"], about["connections"], about["skipped"]) == (len(story().packets), 1, {})


def test_each_retransmission_and_stall_names_its_frame_and_its_evidence(upload: Path) -> None:
    found = ak.capture(upload)
    again, stalls = found.retransmissions, found.stalls
    sent = [i + 1 for i, (_, p) in enumerate(story().packets) if len(p) > MSS]
    firsts = {again["offset_bytes"][0]: again["frame"][0]}
    assert firsts == {12 * MSS: sent[20]}
    assert again["frame"].to_list() == [sent[20], *sent[31:]]
    assert again["offset_bytes"].to_list() == [n * MSS for n in (12, *range(24, 30))]
    assert set(again["verdict"]) <= {"needed", "undecided"}
    assert (again["evidence"].str.len_chars() > 10).all()
    causes = stalls.select("cause", "frame_after").rows()
    assert causes == [("application idle", sent[21]), ("timeout", sent[31])]
    assert stalls["evidence"][0].endswith("no data was outstanding here.")
    assert stalls["duration_s"].to_list() == pytest.approx([1.0532, 0.6941], abs=1e-6)
    (row,) = found.flows.to_dicts()
    assert (row["longest_stall_cause"], row["stalls"], row["retransmissions"]) == ("application idle", 2, 7)


def test_what_is_asked_for_is_printed(ackclock: Command, upload: Path) -> None:
    table = ackclock("capture", upload).stdout
    assert FLOW in table
    assert "application idle" in table
    assert "captured at the sender: the round trip from here is" in table
    stalls = ackclock("capture", upload, "--stalls").stdout
    assert "as by a retransmission timer" in stalls
    again = ackclock("capture", upload, "--retransmissions").stdout
    assert len(re.findall(r"^ *\d+ +[\d.]+ +[\d,]+ +1,000 ", again, re.M)) == 7
    assert "as seen by ACKs" in ackclock("capture", upload, "--reordering").stdout


def test_at_says_where_it_was_captured_and_the_arrivals_then_tell_the_order(ackclock: Command, tmp_path: Path) -> None:
    film = Film()
    film.handshake()
    order = [0, 1, 2, 5, 3, 4, *range(6, 40)]
    by_number = sorted(order)
    frames = {n: film.data(60 + n, n) for n in by_number}
    at = {n: film.packets[frame - 1] for n, frame in frames.items()}
    film.packets[3:] = [(round((60 + i) * MS), at[n][1]) for i, n in enumerate(order)]
    path = tmp_path / "download.pcap"
    path.write_bytes(film.pcap())
    result = ackclock("capture", path, "--at", "receiver", "--json")
    flow = only(json.loads(result.stdout))
    assert (flow["captured"], flow["captured_why"]) == ("at the receiver", "as given")
    order = flow["reordering"]
    assert (order["order_source"], order["reordered"], order["extents"]) == ("IP identification", 2, {"1": 1, "2": 1})
    assert order["packets"] == 42
    # One packet arrived two places early, two arrived one place late.
    assert order["reorder_density"] == pytest.approx({"-2": 1 / 42, "0": 39 / 42, "1": 2 / 42})
    densities = ak.capture(path, at="receiver").densities
    assert densities.group_by("density").agg(pl.col("share").sum()).sort("density").rows() == [
        ("buffer_occupancy", pytest.approx(1.0)),
        ("reorder", pytest.approx(1.0)),
    ]
    assert "RD -2: 0.02381" in ackclock("capture", path, "--at", "receiver", "--reordering").stdout


@pytest.mark.parametrize("path", ["bundle", "two-paths"])
@pytest.mark.parametrize("handshake", ["", "handshake = true\n"])
def test_at_the_receiver_reordering_is_exactly_that_of_the_simulated_run(
    path: str, handshake: str, tmp_path: Path
) -> None:
    text = (Path(__file__).parents[2] / f"scenarios/{path}.toml").read_text(encoding="utf-8")
    text = re.sub('duration = ".*?"', 'duration = "10 s"', text).replace("[[flow]]\n", f"[[flow]]\n{handshake}")
    text = text if "reordering = true" in text else text.replace("[run]\n", "[run]\nreordering = true\n")
    (run,) = ak.run(text, stack="linux-2025", seed=1, pcap=tmp_path).to_dict()["runs"]
    (truth,) = [flow["reordering"] for flow in run["flows"]]
    found = only(ak.capture(tmp_path / "receiver.pcapng", at="receiver").to_dict())["reordering"]
    assert truth["reordered"] > 500
    assert found["order_source"] == "IP identification"
    for key, value in truth.items():
        assert found[key] == (pytest.approx(value) if isinstance(value, float) else value), key


def test_standard_input_and_parquet(upload: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ackclock", "capture", "-", "--parquet", str(tmp_path / "tables"), "--json"]
    ran = subprocess.run(command, input=upload.read_bytes(), capture_output=True, check=True)
    assert only(json.loads(ran.stdout))["file"] == "-"
    for table in TABLES:
        frame = pl.read_parquet(tmp_path / "tables" / f"{table}.parquet")
        there = getattr(ak.capture(upload), table)
        assert (frame.columns, frame.height) == (there.columns, there.height), table


def test_the_numbers_of_the_tables_are_those_of_the_json(upload: Path) -> None:
    found = ak.capture(upload)
    flow = only(found.to_dict())
    (row,) = found.flows.to_dicts()
    assert row == {key: flow[key] for key in row}
    assert flow.keys() - row.keys() == {
        "reordering",
        "stalls_by_cause",
        "time_by_cause_s",
        "each_retransmission",
        "each_stall",
    }
    for table, key in ((found.retransmissions, "each_retransmission"), (found.stalls, "each_stall")):
        assert [{k: row[k] for k in flow[key][0]} for row in table.to_dicts()] == flow[key]
    order = flow["reordering"]
    (row,) = found.reordering.to_dicts()
    assert {key: row[key] for key in row.keys() & order.keys()} == {
        key: order[key] for key in row.keys() & order.keys()
    }
    assert found.flows.schema == ak.capture(upload, at="middle").flows.schema


def needless() -> Film:
    """The story, and a segment that is retransmitted after its ACK; a DSACK reports the duplicate."""
    film = story()
    film.data(2100, 30)
    film.ack(2150, 31)
    film.data(2400, 30)
    film.ack(2450, 31, (30, 31))
    return film


def test_what_was_needless_is_written_as_it_was(ackclock: Command, tmp_path: Path) -> None:
    path, to = tmp_path / "upload.pcap", tmp_path / "needless.pcapng"
    film = needless()
    path.write_bytes(film.pcap())
    (frame,) = ak.capture(path).retransmissions.filter(pl.col("verdict") == "needless")["frame"]
    result = ackclock("capture", path, "--write", "needless", to)
    assert (result.returncode, result.stderr) == (0, "")
    packet = film.packets[frame - 1][1]
    assert frame == len(film.packets) - 1
    assert packet in to.read_bytes()
    written = ak.capture(to)
    assert only(written.to_dict())["data_packets"] == 1
    assert written.to_dict()["files"][0]["packets"] == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["needless.pcapng", "upload.pcap"]


def test_an_anonymised_capture_shows_the_same_without_names_and_payload(ackclock: Command, tmp_path: Path) -> None:
    path, to = tmp_path / "upload.pcap", tmp_path / "public.pcapng"
    film = needless()
    film.packets = [(at, packet.replace(bytes(MSS), b"secret!!" * (MSS // 8))) for at, packet in film.packets]
    path.write_bytes(film.pcap())
    assert ackclock("capture", path, "--anonymise", to).returncode == 0
    there, here = ak.capture(to), ak.capture(path)
    assert b"secret" in path.read_bytes()
    assert b"secret" not in to.read_bytes()
    assert only(there.to_dict())["flow"] == "10.0.0.1:1024 > 10.0.0.2:1025"
    same = ["frame", "time_s", "offset_bytes", "verdict", "likely", "evidence"]
    assert here.retransmissions.height == 8
    assert there.retransmissions.select(same).equals(here.retransmissions.select(same))


@pytest.mark.parametrize("option", [("--write", "needless"), ("--anonymise",)])
def test_no_capture_is_written_over_and_none_is_left_half(
    option: tuple[str, ...], ackclock: Command, upload: Path, tmp_path: Path
) -> None:
    before = upload.read_bytes()
    key = option[0]
    for files, to, code, said in (
        ([upload], upload, 2, f"key `{key}`: found {upload}, which is the capture"),
        ([upload, upload], tmp_path / "two.pcapng", 2, f"key `{key}`: found 2 captures, allowed: one"),
        ([upload], tmp_path / "no" / "where.pcapng", 1, "cannot write it"),
        ([upload], tmp_path, 1, "not a regular file"),
    ):
        refused = ackclock("capture", *files, *option, to)
        assert (refused.returncode, refused.stdout) == (code, "")
        assert said in refused.stderr
        assert refused.stderr.count("\n") == 1
    assert upload.read_bytes() == before
    assert list(tmp_path.iterdir()) == [upload]


def test_only_the_chosen_flow_is_anonymised(ackclock: Command, tmp_path: Path) -> None:
    film, other = needless(), needless()
    moved = [
        (at + 1, p[:20] + p[20:24].replace(struct.pack(">H", 5001), struct.pack(">H", 5002)) + p[24:])
        for at, p in other.packets
    ]
    film.packets = sorted(film.packets + moved)
    path, to = tmp_path / "two.pcap", tmp_path / "one.pcapng"
    path.write_bytes(film.pcap())
    assert ak.capture(path).flows.height == 2
    assert ackclock("capture", path, "--flow", FLOW, "--anonymise", to).returncode == 0
    there, here = ak.capture(to), ak.capture(path, flow=FLOW)
    assert (there.flows.height, there.flows["packets"][0]) == (1, here.flows["packets"][0])
    same = ["offset_bytes", "verdict", "likely"]
    assert there.retransmissions.select(same).equals(here.retransmissions.select(same))
    assert here.anonymise(to) == len(other.packets)
    assert ak.capture(path).anonymise(to) == len(film.packets)


def test_a_flow_is_chosen_by_its_ends(ackclock: Command, upload: Path) -> None:
    chosen = ackclock("capture", upload, "--flow", "10.0.0.2:80 > 10.0.0.1:5001", "--json")
    assert only(json.loads(chosen.stdout))["flow"] == FLOW
    for flow, said in (
        ("10.0.0.9:1 > 10.0.0.2:80", 'key `--flow`: found "10.0.0.9:1 > 10.0.0.2:80", allowed: one of the flows'),
        ("10.0.0.1:5001", "allowed: two ends"),
        ("here > there", 'found "here", allowed: an address with a port'),
    ):
        refused = ackclock("capture", upload, "--flow", flow)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert said in refused.stderr
        assert refused.stderr.count("\n") == 1


def test_a_file_without_tcp_is_answered_in_a_sentence(ackclock: Command, tmp_path: Path) -> None:
    film = Film()
    arp = bytes(12) + b"\x08\x06" + bytes(28)
    quic = bytes.fromhex("4500003000000000401100000a0000010a000002") + struct.pack(">HHHH", 5000, 443, 28, 0)
    quic += b"\x40" + bytes(19)
    film.packets = [(0, arp), (1, bytes(12) + b"\x08\x00" + quic)]
    path = tmp_path / "quiet.pcap"
    path.write_bytes(film.pcap(ETHERNET))
    said = ackclock("capture", path)
    sentences = "2 packets, no TCP. Packets not analysed: QUIC (1), ARP (1)."
    assert (said.returncode, said.stdout) == (0, f"{path}: {sentences}\n")
    skipped = ak.capture(path).skipped
    assert skipped.select("kind", "packets").rows() == [("quic", 1), ("arp", 1)]


def test_a_file_without_data_is_answered_in_a_sentence(ackclock: Command, tmp_path: Path) -> None:
    film = story()
    film.packets = [(at, packet) for at, packet in film.packets if packet[15] == 2]
    path = tmp_path / "acks.pcap"
    path.write_bytes(film.pcap())
    said = ackclock("capture", path)
    count = len(film.packets)
    assert said.stdout.startswith("Of 1 connection, 1 was answered but never opened.\n")
    assert said.stdout.endswith(f"{path}: {count} TCP segments without data, of 1 connection.\n")


def test_what_cannot_be_read_is_refused_in_one_line(ackclock: Command, upload: Path, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no capture at all, only words", encoding="utf-8")
    for path, said in ((text, "it begins with 6e 6f 20 63"), (tmp_path / "missing.pcap", "cannot read it")):
        refused = ackclock("capture", path)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.startswith(f"ackclock: {path}: ")
        assert said in refused.stderr
        with pytest.raises(ak.CaptureError, match=said) as caught:
            ak.capture([upload, path])
        assert caught.value.file == str(path)
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(upload.read_bytes()[:-100])
    damaged = ackclock("capture", cut)
    assert damaged.returncode == 0
    assert "Damaged in 1 place; the first is packet " in damaged.stdout
    with pytest.raises(ValueError, match="at: found"):
        ak.capture(upload, at="nowhere")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="limit: found 0"):
        ak.capture(upload, limit=0)


def test_the_limit_keeps_the_connections_with_the_most_bytes(tmp_path: Path) -> None:
    film = Film()
    for port in range(40):
        one = Film()
        one.handshake()
        for n in range(1 + port % 7):
            one.data(60 + n, n)
        for at, packet in one.packets:
            moved = bytearray(packet)
            where = 20 if packet[15] == 1 else 22
            moved[where : where + 2] = struct.pack(">H", 6000 + port)
            film.packets.append((at + port * 10**9, bytes(moved)))
    path = tmp_path / "many.pcap"
    path.write_bytes(film.pcap())
    assert ak.capture(path).flows.height == 40
    few = ak.capture(path, limit=5)
    assert few.flows["data_packets"].to_list() == [7] * 5
    assert few.to_dict()["files"][0]["left_out"] == 35


def test_progress_is_told_and_ctrl_c_ends_it(upload: Path) -> None:
    def stop(_: float) -> None:
        raise KeyboardInterrupt

    big = upload.with_name("big.pcap")
    head, body = upload.read_bytes()[:24], upload.read_bytes()[24:]
    big.write_bytes(head + body * 2000)
    shares: list[float] = []
    ak.capture(big, progress=shares.append)
    assert shares
    assert shares == sorted(shares)
    assert 0 < shares[-1] <= 1
    with pytest.raises(KeyboardInterrupt):
        ak.capture(big, progress=stop)


def tool(name: str) -> str:
    """A program that may not be installed."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: its counts were not compared")
    return found


def test_counts_are_those_of_tcptrace(upload: Path) -> None:
    said = subprocess.run([tool("tcptrace"), "-l", "-n", upload], capture_output=True, text=True, check=True).stdout

    def count(name: str) -> tuple[int, int]:
        line = re.search(rf"^ *{name}: +(\d+) +{name}: +(\d+)", said, re.M)
        assert line, name
        return int(line[1]), int(line[2])

    (flow,) = ak.capture(upload).flows.to_dicts()
    assert count("total packets")[0] == flow["packets"]
    assert count("actual data pkts")[0] == flow["data_packets"]
    assert count("actual data bytes")[0] == flow["carried_bytes"]
    assert count("unique bytes sent")[0] == flow["bytes"]
    assert count("rexmt data pkts")[0] == flow["retransmissions"]


def test_tshark_guesses_where_we_judge(upload: Path) -> None:
    fields = [
        "-T",
        "fields",
        "-e",
        "frame.number",
        "-e",
        "tcp.analysis.retransmission",
        "-e",
        "tcp.analysis.spurious_retransmission",
    ]
    command = [
        tool("tshark"),
        "-r",
        str(upload),
        "-Y",
        "tcp.analysis.retransmission or tcp.analysis.out_of_order",
        *fields,
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    frames = {int(line.split("\t")[0]) for line in said.splitlines()}
    assert frames == set(ak.capture(upload).retransmissions["frame"])


def test_verdicts_and_causes_are_comments_of_the_packets_that_wireshark_shows(upload: Path, tmp_path: Path) -> None:
    found, to = ak.capture(upload), tmp_path / "comments.pcapng"
    frames = set(found.retransmissions["frame"]) | set(found.stalls["frame_after"])
    assert found.write_comments(to) == len(frames) > 2
    assert ak.capture(to).flows.drop("file").equals(found.flows.drop("file")), "nothing else has changed"
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    fields = ["-T", "fields", "-e", "frame.number", "-e", "frame.comment"]
    command = ["tshark", "-n", "-r", str(to), "-Y", "frame.comment", *fields]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    shown = {int(number): comment for number, _, comment in (line.partition("\t") for line in lines)}
    assert shown.keys() == frames
    assert all(row["evidence"] in shown[row["frame"]] for row in found.retransmissions.to_dicts())
    assert any("stall of" in comment and "application idle" in comment for comment in shown.values())


def test_a_selection_holds_for_every_report_and_a_folder_stands_for_its_captures(
    ackclock: Command, upload: Path, tmp_path: Path
) -> None:
    said = json.loads(ackclock("capture", upload.parent, "--port", "81", "--json").stdout)
    assert (said["flows"], said["connections"], said["answers"]) == ([], [], [])
    assert "no stalls" in ackclock("capture", upload, "--host", "192.0.2.0/24", "--stalls").stdout
    table = ackclock("capture", upload, "--host", "10.0.0.0/8", "--with", "stalls", "--csv", tmp_path / "f.csv").stdout
    assert FLOW in table
    assert pl.read_csv(tmp_path / "f.csv")["flow"].to_list() == [FLOW]
    assert "10.0.0.2:80" in ackclock("capture", upload, "--by", "server").stdout
    over = ackclock("capture", upload, "--csv", upload)
    assert (over.returncode, over.stdout) == (2, "")
    assert f"key `--csv`: found {upload}, which is the capture" in over.stderr
    refused = ackclock("capture", upload, "--sort", "colour")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)


def test_flows_of_two_vlans_are_told_apart_by_a_column(ackclock: Command, tmp_path: Path) -> None:
    film = story()
    tags = {10: b"\x81\x00\x00\x0a", 20: b"\x88\xa8\x00\x0a\x81\x00\x00\x14"}
    film.packets = [
        (at + n, bytes(12) + tags[vlan] + b"\x08\x00" + _moved(packet, vlan))
        for at, packet in story().packets
        for n, vlan in enumerate(tags)
    ]
    path = tmp_path / "vlans.pcap"
    path.write_bytes(film.pcap(ETHERNET))
    found = ak.capture(path)
    assert found.flows.select("flow", "vlan").rows() == [(FLOW, "10"), (FLOW, "10.20")]
    assert found.connections["vlan"].to_list() == ["10", "10.20"]
    table = ackclock("capture", path).stdout
    assert re.search(r"^flow +VLAN ", table, re.M)
    assert re.search(rf"^{FLOW} +10\.20 ", table, re.M)
    untagged = tmp_path / "untagged.pcap"
    untagged.write_bytes(story().pcap())
    assert ak.capture(untagged).flows["vlan"].to_list() == [None]
    assert "VLAN" not in ackclock("capture", untagged).stdout


def _moved(packet: bytes, by: int) -> bytes:
    """A packet with other sequence numbers, as of another connection."""
    seq, ack = struct.unpack(">II", packet[24:32])
    return packet[:24] + struct.pack(">II", (seq + by * 10**8) % 2**32, (ack + by * 10**8) % 2**32) + packet[32:]


def test_help_has_examples_and_files_are_completed(
    ackclock: Command, upload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = ackclock("capture", "--help").stdout
    assert "Examples:\n    ackclock capture upload.pcapng\n" in shown
    monkeypatch.chdir(upload.parent)
    assert completed("ackclock capture up", upload.parent) == ["upload.pcap"]
    assert completed(f"ackclock capture {upload.parent}/u", upload.parent) == [str(upload)]


def test_the_guide_explains_every_cause_of_a_stall(upload: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/captures.md").read_text(encoding="utf-8")
    causes = set(re.findall(r"^\| `([A-Za-z ]+)` \|", page.partition("| cause |")[2].partition("\n\n")[0], re.M))
    assert set(only(ak.capture(upload, at="receiver").to_dict())["stalls_by_cause"]) <= causes
    assert len(causes) == 18


@pytest.mark.parametrize("option", [("--stalls",), ("--parquet", "tables"), ("--write", "needless", "some.pcapng")])
def test_options_that_a_fit_would_pass_over_are_refused(
    option: tuple[str, ...], ackclock: Command, upload: Path, tmp_path: Path
) -> None:
    to = tmp_path / "path.toml"
    said = ackclock("capture", upload, "--fit", to, *option)
    assert said.returncode == 2
    assert f"key `{option[0]}`: found together with --fit or --what-if" in said.stderr
    assert not to.exists()


def test_displacements_that_few_packets_have_are_shown_together() -> None:
    density = {"-2": 0.3, "0": 0.5, "1": 0.1949, "7": 0.004, "300": 0.0011}
    assert _density(density) == "-2: 0.30000, 0: 0.50000, 1: 0.19490, 2 others together: 0.00510"
    assert _density({"0": 1.0}) == "0: 1.00000"
