"""A kernel's stored captures, compared with tcptrace (which has equal counts) and tshark (whose labels are guesses)."""

from __future__ import annotations

import csv
import gzip
import re
import subprocess
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import ackclock as ak
from test_capture import tool

KERNEL = Path(__file__).parents[2] / "tests/captures/kernel"
NAMES = sorted(path.name.removesuffix("-truth.csv") for path in KERNEL.glob("*-truth.csv"))
SYN, FIN = 2, 1


def unpacked(name: str, side: str, to: Path) -> Path:
    """A stored capture, uncompressed: not every tool reads gzip."""
    path = to / f"{name}-{side}.pcapng"
    path.write_bytes(gzip.decompress((KERNEL / f"{name}-{side}.pcapng.gz").read_bytes()))
    return path


def truth(name: str) -> dict[int, str]:
    """The verdict on each retransmission, by its frame at the sender."""
    with (KERNEL / f"{name}-truth.csv").open(encoding="utf-8", newline="") as rows:
        return {int(row["sender_frame"]): row["verdict"] for row in csv.DictReader(rows)}


def by_tcptrace(path: Path, to: Path) -> dict[str, tuple[int, int]]:
    """The counts of ``tcptrace -l``, from the side that opened the connection and from the other."""
    pcap = to / f"{path.stem}.pcap"
    subprocess.run([tool("tcpdump"), "-r", path, "-w", pcap], check=True, capture_output=True)
    said = subprocess.run([tool("tcptrace"), "-l", "-n", pcap], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^ *([a-zA-Z/ ]+): +(\d+)(?: pkts| bytes)? +\1: +(\d+)", said, re.M)
    return {name: (int(one), int(other)) for name, one, other in found}


@pytest.mark.parametrize("name", NAMES)
def test_counts_on_a_kernels_capture_are_those_of_tcptrace(name: str, tmp_path: Path) -> None:
    path = unpacked(name, "sender", tmp_path)
    theirs = by_tcptrace(path, tmp_path)
    found = ak.capture(path)
    (flow,) = found.flows.filter("main").to_dicts()
    packets = found.packets()
    own, back = packets.filter("own"), packets.filter(~pl.col("own"))
    assert theirs["total packets"] == (own.height, back.height)
    assert (own.height, flow["packets"]) == (flow["packets"], theirs["total packets"][0])
    assert theirs["actual data pkts"][0] == flow["data_packets"]
    assert theirs["actual data bytes"][0] == flow["carried_bytes"]
    assert theirs["unique bytes sent"][0] == flow["bytes"]
    again = found.retransmissions.join(own, on="frame").filter(pl.col("len") > 0)
    assert theirs["rexmt data pkts"][0] == again.height == len(truth(name))
    # A FIN after retransmitted data counts one, here and in tcptrace.
    assert theirs["rexmt data bytes"][0] == again["len_bytes"].sum()
    pure = pl.col("len") == 0
    for direction, side in ((own, 0), (back, 1)):
        quiet = direction.filter(pure & (pl.col("flags") & (SYN | FIN | 4) == 0))
        assert theirs["pure acks sent"][side] == quiet.height
        with_blocks = direction.filter(pl.col("sack") != "")
        assert theirs["sack pkts sent"][side] == with_blocks.height
        most = with_blocks["sack"].str.split(" ").list.len().max() or 0
        assert theirs["max sack blks/ack"][side] == most
        assert theirs["pushed data pkts"][side] == direction.filter(~pure & (pl.col("flags") & 8 != 0)).height
    assert theirs["max segm size"][0] == own["len"].max()


def by_tshark(path: Path) -> dict[int, str]:
    """The labels that tshark gives frames: ``out of order``, ``retransmission`` or ``spurious``."""
    names = {"out_of_order": "out of order", "spurious_retransmission": "spurious", "retransmission": "retransmission"}
    fields = [word for name in ("frame.number", *(f"tcp.analysis.{name}" for name in names)) for word in ("-e", name)]
    shown = "tcp.analysis.retransmission or tcp.analysis.out_of_order"
    command = [tool("tshark"), "-r", str(path), "-Y", shown, "-T", "fields", *fields]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {}
    for line in said.splitlines():
        frame, *marks = line.split("\t")
        found[int(frame)] = next(word for word, mark in zip(names.values(), marks, strict=True) if mark)
    return found


def test_tshark_calls_most_retransmissions_out_of_order_where_nothing_can_be(tmp_path: Path) -> None:
    called: Counter[str] = Counter()
    actual: Counter[str] = Counter()
    spurious: Counter[str] = Counter()
    ours: Counter[tuple[str, str]] = Counter()
    for name in NAMES:
        path = unpacked(name, "sender", tmp_path)
        theirs, verdicts = by_tshark(path), truth(name)
        # Every retransmission has a label, and no other frame.
        assert theirs.keys() == verdicts.keys(), name
        called.update(theirs.values())
        actual.update(verdicts.values())
        spurious.update(verdicts[frame] for frame, mark in theirs.items() if mark == "spurious")
        judged = dict(ak.capture(path).retransmissions.select("frame", "verdict").iter_rows())
        ours.update((judged[frame], verdict) for frame, verdict in verdicts.items())
    total = sum(actual.values())
    # At the sender's side packets are captured in the order of sending.
    assert called["out of order"] > total / 4
    # tshark labels very few of the needless ones; the labels it gives are correct.
    assert spurious["needless"] < actual["needless"] / 10
    assert spurious["needed"] == 0
    assert ours["needless", "needless"] > actual["needless"] * 0.9
    assert ours["needless", "needed"] == 0


def test_at_the_receiver_tshark_takes_late_originals_and_retransmissions_for_one(tmp_path: Path) -> None:
    mixed = late = 0
    for name in NAMES:
        path = unpacked(name, "receiver", tmp_path)
        found = ak.capture(path)
        again = set(found.retransmissions["frame"])
        disordered = {frame for frame, mark in by_tshark(path).items() if mark == "out of order"}
        mixed += len(disordered & again)
        late += len(disordered - again)
    # Both kinds share a label, each of them many times.
    assert mixed > 100
    assert late > 100
