"""``ackclock capture --plot``, ``--xplot`` and ``--write reordered``."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ackclock as ak
from ackclock.plot.captured import captured
from conftest import Command
from test_capture import FLOW, MS, MSS, Film, needless, story, tool

KERNEL = Path(__file__).parents[2] / "tests/captures/kernel"
NEEDLESS = "cubic-swap12-loss-1"


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    """The story with a needless retransmission, as a file."""
    path = tmp_path / "upload.pcap"
    path.write_bytes(needless().pcap())
    return path


def kernel(name: str, side: str, to: Path) -> Path:
    """A stored capture, uncompressed: tcptrace does not read gzip."""
    path = to / f"{name}-{side}.pcapng"
    path.write_bytes(gzip.decompress((KERNEL / f"{name}-{side}.pcapng.gz").read_bytes()))
    return path


def test_a_plot_has_every_segment_by_its_verdict_and_every_stall(upload: Path) -> None:
    found = ak.capture(upload)
    figure = found.plot()
    above, below = figure.axes
    drawn: dict[str | None, Any] = {one.get_gid(): one for axes in (above, below) for one in axes.get_children()}
    verdicts = Counter(found.retransmissions["verdict"])
    assert verdicts["needless"] == 1
    for verdict, gid in (("needed", "retransmission, needed"), ("needless", "retransmission, needless")):
        assert len(drawn[gid].get_segments()) == verdicts[verdict]
    assert len(drawn["first transmission"].get_segments()) == 31
    assert drawn["acknowledged up to"].get_ydata()[-1] == 31.0
    assert len(drawn["DSACK block"].get_segments()) == 1
    causes = {gid.partition(": ")[2] for gid in drawn if gid is not None and gid.startswith("stall: ")}
    assert causes == set(found.stalls["cause"])
    assert max(drawn["outstanding"].get_ydata()) == 10.0
    assert above.get_title() == f"upload.pcap: {FLOW}, captured at the sender"
    # From the middle to the end.
    later = found.plot(start=1.0).axes[0]
    assert later.get_xlim()[0] == 1.0


def test_the_command_draws_and_refuses_before_it_reads(ackclock: Command, upload: Path, tmp_path: Path) -> None:
    for name, begins in (("course.svg", b"<?xml"), ("course.png", b"\x89PNG")):
        drawn = ackclock("capture", upload, "--plot", tmp_path / name)
        assert (drawn.returncode, drawn.stderr) == (0, "")
        assert (tmp_path / name).read_bytes().startswith(begins)
    refused = ackclock("capture", tmp_path / "missing.pcap", "--plot", tmp_path / "course.pdf")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "key `--plot`: found" in refused.stderr
    piped = subprocess.run(
        [sys.executable, "-m", "ackclock", "capture", "-", "--plot", str(tmp_path / "course.png")],
        input=upload.read_bytes(),
        capture_output=True,
        check=False,
    )
    assert piped.returncode == 2
    assert b"key `--plot`: found standard input, allowed: a file" in piped.stderr
    with pytest.raises(ValueError, match="flow: found 'nobody', allowed: one of the flows"):
        ak.capture(upload).packets("nobody")
    with pytest.raises(ValueError, match="found no time in between"):
        ak.capture(upload).plot(start=1000.0)


def test_the_packets_of_a_flow_have_the_offsets_of_its_bytes(upload: Path) -> None:
    packets = ak.capture(upload).packets()
    film = needless()
    assert packets.height == len(film.packets)
    own = packets.filter(pl.col("own") & (pl.col("len") > 0))
    assert own["offset"].to_list()[:10] == [n * MSS for n in range(10)]
    acks = packets.filter(~pl.col("own"))
    assert acks["offset"].to_list()[:2] == [-1, 0]
    assert acks["ack"].to_list()[:3] == [0, MSS, 2 * MSS]
    assert acks["sack"].to_list()[3] == f"{3 * MSS}:{4 * MSS}"
    assert acks["window"].to_list()[:2] == [2000, 2000 << 7]
    assert captured(packets, pl.DataFrame(schema={"frame": pl.Int64, "verdict": pl.String}), ak.capture(upload).stalls)


def commands(text: str) -> tuple[list[str], set[tuple[str, ...]], set[tuple[str, ...]], set[tuple[str, ...]]]:
    """Parse an xplot file: its header; bars of data; stairs of acknowledgments; SACK blocks."""
    lines = text.splitlines()
    # The text of a text command is on the next line.
    bars, stairs, blocks, colour = set(), set(), set(), ""
    for line in lines[7:]:
        words = line.split(" ")
        if len(words) == 1 and words[0].islower() and words[0] != "go":
            colour = words[0]
        if words[0] != "line":
            continue
        if colour in {"white", "red", "magenta", "orange", "pink"}:
            bars.add(tuple(words[1:]))
        elif colour == "green":
            stairs.add(tuple(words[1:]))
        elif colour == "purple":
            blocks.add(tuple(words[1:]))
    return lines[:7], bars, stairs, blocks


@pytest.mark.parametrize("name", [NEEDLESS, "cubic-swap12-no-timestamps"])
def test_the_time_sequence_graph_is_that_of_tcptrace(name: str, ackclock: Command, tmp_path: Path) -> None:
    path = kernel(name, "sender", tmp_path)
    # tcptrace reads pcap only.
    pcap = tmp_path / "sender.pcap"
    subprocess.run([tool("tcpdump"), "-r", path, "-w", pcap], check=True, capture_output=True)
    subprocess.run([tool("tcptrace"), "-n", "-S", pcap], check=True, capture_output=True, cwd=tmp_path)
    theirs = commands((tmp_path / "a2b_tsg.xpl").read_text(encoding="ascii"))
    assert ackclock("capture", path, "--xplot", tmp_path / "ours.xpl").returncode == 0
    ours = commands((tmp_path / "ours.xpl").read_text(encoding="ascii"))
    assert ours[0] == theirs[0]
    assert len(theirs[1]) > 1000
    assert ours[1] == theirs[1], "bars of data"
    assert ours[2] == theirs[2], "stairs of acknowledgments"
    assert ours[3] == theirs[3], "SACK blocks"


def test_verdicts_are_the_colours_of_an_xplot_file(upload: Path, tmp_path: Path) -> None:
    found = ak.capture(upload)
    found.write_xplot(tmp_path / "ours.xpl")
    text = (tmp_path / "ours.xpl").read_text(encoding="ascii")
    assert text.endswith("go\n")
    colours = Counter(re.findall(r"^(\w+)\natext [\d.]+ \d+\nR$", text, re.M))
    names = {"needed": "red", "needless": "magenta", "refused": "orange", "undecided": "pink"}
    assert colours == Counter(names[verdict] for verdict in found.retransmissions["verdict"])
    # Sequence numbers continue beyond 2**32, where these data do.
    heights = [int(line.split()[2]) for line in text.splitlines() if line.startswith("uarrow")]
    assert max(heights) > 2**32 > min(heights)


def late() -> Film:
    """40 segments as they arrive at the receiver; segment 19 overtook three, and one of them arrived late twice."""
    film = Film()
    film.handshake()
    order = [0, 1, 2, 5, 3, 4, *range(6, 40)]
    frames = {n: film.packets[film.data(60 + n, n) - 1] for n in sorted(order)}
    film.packets[3:] = [(round((60 + i) * MS), frames[n][1]) for i, n in enumerate(order)]
    return film


def test_what_came_late_is_written_as_it_was(ackclock: Command, tmp_path: Path) -> None:
    path, to = tmp_path / "download.pcap", tmp_path / "late.pcapng"
    film = late()
    path.write_bytes(film.pcap())
    assert ackclock("capture", path, "--at", "receiver", "--write", "reordered", to).returncode == 0
    written = to.read_bytes()
    assert [packet in written for _, packet in film.packets[:12]] == [False] * 7 + [True] * 2 + [False] * 3
    assert ak.capture(to).to_dict()["files"][0]["packets"] == 2
    real = kernel(NEEDLESS, "receiver", tmp_path)
    found = ak.capture(real)
    assert found.write_reordered(to) == found.reordering["reordered"].sum() > 50


def test_at_the_sender_nothing_comes_late(ackclock: Command, tmp_path: Path) -> None:
    path, to = tmp_path / "upload.pcap", tmp_path / "late.pcapng"
    path.write_bytes(story().pcap())
    refused = ackclock("capture", path, "--write", "reordered", to)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "key `--write`: found a capture without arrivals" in refused.stderr
    assert not to.exists()
