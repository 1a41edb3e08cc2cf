"""``ackclock capture --report``: one page of HTML, on captures that are built here packet by packet."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import ackclock as ak
from ackclock.captures.report import lost_s
from ackclock.captures.shown import LEAST, cell
from ackclock.tables.columns import shown
from conftest import Command
from test_capture import FLOW, needless, story
from test_capture_wild import ACK, MSS, PSH, RST, SYN, Wire

HOSTILE = "<img src=x onerror=alert(1)>--><script>alert(2)<&\"'$\\frac$.pcap"


class Page(HTMLParser):
    """A page as its reader finds it: tables by their names, list items and paragraphs, elements."""

    def __init__(self, text: str) -> None:
        """Read the page."""
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.texts: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._rows: list[list[str]] = []
        self._into: list[str] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        self.elements.append((tag, about))
        if about.get("role") == "region":
            self._rows = self.tables.setdefault(str(about["aria-label"]), [])
        if tag == "tr":
            self._rows.append([])
        if tag in {"th", "td"}:
            self._into = self._rows[-1]
            self._into.append("")
        if tag in {"h1", "h2", "h3", "p", "li"}:
            self._into = self.texts
            self._into.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in {"th", "td", "h1", "h2", "h3", "p", "li"}:
            self._into = None

    def handle_data(self, data: str) -> None:
        if self._into is not None:
            self._into[-1] += data


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    """The story with a needless retransmission, as a file."""
    path = tmp_path / "upload.pcap"
    path.write_bytes(needless().pcap())
    return path


def page(capture: ak.Capture, to: Path, **options: object) -> Page:
    """The report of a capture."""
    capture.write_report(to, **options)  # type: ignore[arg-type]
    return Page(to.read_text(encoding="utf-8"))


def test_a_report_begins_with_the_answer_and_has_the_columns_of_the_command(
    ackclock: Command, upload: Path, tmp_path: Path
) -> None:
    to = tmp_path / "report.html"
    said = ackclock("capture", upload, "--report", to)
    assert (said.returncode, said.stderr) == (0, "")
    read, found = Page(to.read_text(encoding="utf-8")), ak.capture(upload).to_dict(details=False)
    assert read.texts[:2] == ["upload.pcap", *found["answers"]]
    (flow,) = found["flows"]
    columns = [(one, look) for one, look in shown("captured_flow") if not look.seldom or flow[one.name]]
    heads, row = read.tables["Flows"]
    assert heads == [look.heading for _, look in columns]
    assert row == [cell(one, look, flow[one.name]) for one, look in columns]
    _, *stalls = read.tables[f"Stalls of {FLOW}"]
    assert len(stalls) == flow["stalls"] > 2
    # The words of the bar are those of the shares, and they add up.
    shares = {name: s / flow["duration_s"] for name, s in flow["time_by_cause_s"].items()}
    bar = next(about for tag, about in read.elements if about.get("class") == "bar")
    named = {name: share for name, share in shares.items() if share >= LEAST}
    assert len(shares) > len(named) > 3
    assert "the rest" in str(bar["aria-label"])
    for name, share in named.items():
        percent = f"{100 * share:.0f}" if share >= 0.01 else "<1"
        assert re.search(rf"{name} [\d.]+ m?s, {percent} %", str(bar["aria-label"])), name
    widths = [float(w) for w in re.findall(r"flex-grow: ([\d.]+)", to.read_text(encoding="utf-8"))]
    assert sum(widths) == pytest.approx(2.0, abs=0.01), "two bars: of all flows, and of the one that is drawn"


def test_a_report_is_one_file_without_scripts_and_other_files(upload: Path, tmp_path: Path) -> None:
    read = page(ak.capture(upload), tmp_path / "report.html")
    assert {tag for tag, _ in read.elements} & {"script", "link", "iframe", "object", "base", "form"} == set()
    assert "svg" in {tag for tag, _ in read.elements}
    for tag, about in read.elements:
        for name in ("src", "href", "xlink:href", "srcset", "data"):
            value = str(about.get(name, "#"))
            assert value.startswith(("#", "data:image/png;base64,")), (tag, value)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"url\((?!#)", text)
    assert "@import" not in text


def test_names_cannot_become_part_of_the_page(tmp_path: Path) -> None:
    hostile = tmp_path / HOSTILE
    hostile.write_bytes(needless().pcap()[:-30])
    other = tmp_path / "other.pcap"
    other.write_bytes(story().pcap())
    one = page(ak.capture(hostile), tmp_path / "one.html")
    both = page(ak.capture([hostile, other]), tmp_path / "both.html")
    for read in (one, both):
        tags = {tag for tag, _ in read.elements}
        assert tags & {"script", "img"} == set()
        assert not any(name.startswith("on") for _, about in read.elements for name in about)
    assert one.texts[0] == HOSTILE
    assert any(text.startswith(f"{HOSTILE}: {FLOW}: ") for text in both.texts)
    assert HOSTILE in [row[0] for row in both.tables["Flows"]]
    assert any("Damaged" in text and HOSTILE in text for text in both.texts)
    # The same name above the plot is no mathematics.
    assert ak.capture(hostile).plot().axes[0].get_title().startswith(HOSTILE)
    ak.capture(hostile).plot().savefig(tmp_path / "plot.svg")


def exchanges(wire: Wire, s: float) -> None:
    """Ten requests; the server takes half a second for each answer, the client a second for the next request."""
    wire.open(s=s)
    seq, ack, at = 1, 1, s + 0.1
    for _ in range(10):
        wire.add(at, True, seq, ack, ACK | PSH, 100)
        wire.add(at + 0.03, False, ack, seq + 100, ACK)
        wire.add(at + 0.53, False, ack, seq + 100, ACK | PSH, MSS)
        wire.add(at + 0.53001, True, seq + 100, ack + MSS, ACK)
        seq, ack, at = seq + 100, ack + MSS, at + 1.53


@pytest.fixture
def many(tmp_path: Path) -> ak.Capture:
    """A connection with exchanges, one that was refused, one that was not answered, one that waited for its window."""
    wire = Wire(tmp_path / "many.pcap")
    exchanges(wire, 0)
    wire.port = 40_001
    wire.add(1, True, 0, 0, SYN)
    wire.add(1.01, False, 0, 1, RST | ACK)
    wire.port = 40_002
    for again in (1, 2, 4):
        wire.add(again, True, 0, 0, SYN)
    wire.port = 40_003
    wire.open(s=2)
    for n in range(20):
        wire.add(2.1 + n * 0.03, True, 1 + n * MSS, 1, ACK | PSH, MSS)
        wire.add(2.13 + n * 0.03, False, 1, 1 + (n + 1) * MSS, ACK, window=0 if n == 9 else 65_535)
        if n == 9:
            wire.add(2.13 + n * 0.03 + 0.001, False, 1, 1 + (n + 1) * MSS, ACK, window=0)
    return wire.capture()


def test_it_tells_client_network_and_server_and_who_was_refused(many: ak.Capture, tmp_path: Path) -> None:
    read = page(many, tmp_path / "report.html")
    (asked,) = [one for one in many.connections.to_dicts() if one["exchanges"]]
    assert asked["exchanges"] == 10
    assert asked["server_s"] == pytest.approx(5.0, abs=0.01)
    assert asked["network_s"] == pytest.approx(0.3, abs=0.01)
    assert asked["network_s"] + asked["server_s"] == pytest.approx(asked["first_byte_s"])
    bars = [str(about["aria-label"]) for _, about in read.elements if about.get("class") == "bar"]
    (waits,) = [bar for bar in bars if bar.startswith("The time of requests and answers")]
    for part in ("client 9 s, 63 %", "server 5 s, 35 %", "network 0.301 s, 2 %"):
        assert part in waits
    heads, row = read.tables["Connections with requests and answers"]
    assert row[heads.index("network s")] == "0.301"
    _, *slow = read.tables["The slowest answers"]
    assert [row[0] for row in slow] == ["192.0.2.1:40000 > 198.51.100.2:80"] * 10
    heads, *failed = read.tables["Connections that failed"]
    assert [row[heads.index("opening")] for row in failed] == ["refused", "unanswered"]
    assert [row[heads.index("SYNs")] for row in failed] == ["1", "3"]
    assert "1 sent its SYN more than once." in " ".join(read.texts)
    assert read.texts[1] == "Of 4 connections, 1 was refused, 1 was not answered."


def test_totals_and_the_worst_flows_are_those_of_the_selection(many: ak.Capture, upload: Path, tmp_path: Path) -> None:
    found = ak.capture([upload, tmp_path / "many.pcap"])
    flows = [flow for flow in found.to_dict(details=False)["flows"] if flow["main"]]
    everything = page(found, tmp_path / "all.html")
    worst = sorted((flow for flow in flows if lost_s(flow) > 0), key=lambda flow: -lost_s(flow))
    titles = [f"{Path(flow['file']).name}: {flow['flow']}" for flow in worst]
    assert len(titles) > 1
    assert [text for text in everything.texts if text in titles] == titles
    _, *servers = everything.tables["Totals by server"]
    assert sum(int(row[1]) for row in servers) == len(flows)
    assert sum(int(row[2].replace(",", "")) for row in servers) == sum(flow["bytes"] for flow in flows)
    _, *causes = everything.tables["Totals by cause"]
    assert {row[0] for row in causes} == {flow["main_cause"] for flow in flows}
    # Of one host only its flows, its sentences, and none of the failed connections.
    one = page(found, tmp_path / "one.html", host="10.0.0.0/8", sort="stalls", top=1)
    assert one.texts[1] == "Selected: host 10.0.0.0/8, sorted by stalls, the first 1."
    assert len(one.tables["Flows"]) == 2
    assert "Connections that failed" not in one.tables
    assert one.texts[2].startswith(f"upload.pcap: {FLOW}: ")
    assert not any("192.0.2.1" in text for text in one.texts[:-1])
    none = page(found, tmp_path / "none.html", port=9)
    assert "No flow with data is selected." in none.texts


def test_reports_that_cannot_be_written_are_refused_in_one_line(
    ackclock: Command, upload: Path, tmp_path: Path
) -> None:
    before = upload.read_bytes()
    named = tmp_path / "capture.html"
    shutil.copy(upload, named)
    for files, to, code, said in (
        ([tmp_path / "missing.pcap"], tmp_path / "report.pdf", 2, "allowed: a name that ends in .html or .htm"),
        ([upload], upload, 2, "allowed: a name that ends in .html or .htm"),
        ([upload, named], named, 2, f"key `--report`: found {named}, which is one of the captures"),
        ([upload], tmp_path / "no" / "report.html", 1, "No such file or directory"),
    ):
        refused = ackclock("capture", *files, "--report", to)
        assert (refused.returncode, refused.stdout) == (code, "")
        assert said in refused.stderr
        assert refused.stderr.count("\n") == 1
    assert upload.read_bytes() == named.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == [named, upload]


def test_standard_input_has_a_report_without_graphs(upload: Path, tmp_path: Path) -> None:
    to = tmp_path / "report.html"
    command = [sys.executable, "-m", "ackclock", "capture", "-", "--report", str(to)]
    subprocess.run(command, input=upload.read_bytes(), capture_output=True, check=True)
    read = Page(to.read_text(encoding="utf-8"))
    assert "svg" not in {tag for tag, _ in read.elements}
    assert any(text.startswith("It is not drawn: found standard input") for text in read.texts)
    assert FLOW in read.tables["Flows"][1]


def test_the_order_of_a_selection_is_that_of_the_sentences_and_of_the_json(many: ak.Capture, tmp_path: Path) -> None:
    from ackclock.captures.selection import Selection  # noqa: PLC0415

    result = many.to_dict(details=False)
    assert Selection().applied(result, many.answers) is result
    sizes = {flow["connection"]: flow["bytes"] for flow in result["flows"] if flow["main"]}
    by_segments = Selection(sort="stalls").applied(result, many.answers)
    by_bytes = Selection(top=2).applied(result, many.answers)
    main = [flow["connection"] for flow in by_bytes["flows"] if flow["main"]]
    assert main == sorted(sizes, key=lambda number: -sizes[number])
    stalls = [flow["stalls"] for flow in by_segments["flows"] if flow["main"]]
    assert stalls == sorted(stalls, reverse=True)
    names = [flow["flow"] for flow in by_segments["flows"] if flow["main"]]
    assert [answer.partition(": ")[0] for answer in by_segments["answers"][1:]] == names
    assert [one["opening"] for one in by_segments["connections"][-2:]] == ["refused", "unanswered"]
    assert len(Selection(top=1).applied(result, many.answers)["answers"]) == 2
