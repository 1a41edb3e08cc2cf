"""Captures of TCP: what happened to each transfer. Polars is loaded with the first table."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from ackclock import _native, files
from ackclock.captures import xplot
from ackclock.captures.fitting import Fit, fit
from ackclock.captures.selection import Having, Selection
from ackclock.files import write
from ackclock.late import pl

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Side = Literal["sender", "receiver", "middle"]
Table = Literal[
    "connections",
    "exchanges",
    "flows",
    "retransmissions",
    "reordering",
    "densities",
    "times",
    "stalls",
    "datagrams",
    "files",
    "skipped",
]
TABLES: tuple[Table, ...] = get_args(Table)
LIMIT = 10_000
MOST_DRAWN = 1 << 22
"""Packets of a connection that can be drawn; a larger connection is refused."""


class Capture:
    """The analysis of one or more captures: a row for each direction that carries data, and what happened to it.

    Column names end in their unit (``_s`` seconds, ``_bytes``, ``_bytes_per_s``); columns without a unit are counts.
    Every table begins with ``file``, ``connection`` (its number in the file) and ``flow`` (``A:p > B:p``). Frames are
    numbered as in Wireshark.
    """

    def __init__(
        self,
        found: _native.Capture,
        fit: Callable[[], Fit],
        files: Sequence[str],
        chosen: tuple[str, str] | None,
        limit: int,
    ) -> None:
        """Keep the analysis, the function that fits a path to it, and what is needed to read the files again."""
        self._found = found
        self._files = files
        self._chosen = chosen
        self._limit = limit
        self._fit = fit

    def fit(self) -> Fit:
        """Fit a path to the capture, as a scenario. All flows are assumed to share one bottleneck.

        The files are read once more.

        Raises:
            ValueError: the capture does not determine a path, or is standard input; the message says why.
        """
        return self._fit()

    def to_dict(self, details: bool = True) -> dict[str, Any]:
        """Return the content of ``ackclock capture --json``.

        Args:
            details: whether to include each retransmission and each stall.
        """
        result: dict[str, Any] = json.loads(self._found.json(details))
        return result

    def arrow(self, table: Table = "flows") -> _native.Table:
        """Return a table as Arrow, for any library with the Arrow PyCapsule interface; the data are not copied.

        Args:
            table: the name of the attribute that holds the same table as a Polars frame.
        """
        return self._found.table(table)

    @cached_property
    def connections(self) -> pl.DataFrame:
        """A row for each connection, with data or without: how it was opened and closed, its requests and answers."""
        return self._polars("connections")

    @cached_property
    def exchanges(self) -> pl.DataFrame:
        """A row for each request and its answer: the times to its ACK, to the first and to the last byte."""
        return self._polars("exchanges")

    @cached_property
    def flows(self) -> pl.DataFrame:
        """A row for each direction with data: bytes, goodput, RTTs, verdicts, reordering, stalls, options, place."""
        return self._polars("flows")

    @cached_property
    def retransmissions(self) -> pl.DataFrame:
        """A row for each retransmission: its frame, its verdict, and the evidence in words."""
        return self._polars("retransmissions")

    @cached_property
    def reordering(self) -> pl.DataFrame:
        """RFC 4737's metrics of each direction, and the source of the sending order (``order_source``)."""
        return self._polars("reordering")

    @cached_property
    def densities(self) -> pl.DataFrame:
        """RFC 5236's densities, if requested and if every packet has a number: a row for each value that occurred."""
        return self._polars("densities")

    @cached_property
    def times(self) -> pl.DataFrame:
        """A row for each cause of each flow: the part of the flow's duration that it waited for it, or was sending."""
        return self._polars("times")

    @cached_property
    def stalls(self) -> pl.DataFrame:
        """A row for each period in which a transfer stood still: its cause, and the evidence in words."""
        return self._polars("stalls")

    @cached_property
    def datagrams(self) -> pl.DataFrame:
        """UDP with sequence numbers (RTP and iperf3): a row for each source, with loss and RFC 4737's metrics."""
        return self._polars("datagrams")

    @cached_property
    def files(self) -> pl.DataFrame:
        """A row for each file: packets, connections, what was left out, damage."""
        return self._polars("files")

    @cached_property
    def skipped(self) -> pl.DataFrame:
        """Traffic that was not analysed: packets and bytes by kind."""
        return self._polars("skipped")

    def answers(self, connections: Sequence[tuple[str, int]], transfers: Sequence[tuple[str, int]]) -> list[str]:
        """Return what the capture says about some connections, and about transfers in their order, in sentences.

        Args:
            connections: each by its ``file`` and its number. The sentence counts failed ones.
            transfers: the connections, likewise, whose main flows get a sentence; the first three do.
        """
        return self._found.answers(connections, transfers)

    def write_parquet(self, folder: str | PathLike[str]) -> list[Path]:
        """Write every table as Parquet into a folder, which is created if it is missing.

        Returns:
            The paths of the files.

        Raises:
            OSError: a file could not be written. Each file gets its name only when it is complete.
        """
        to = Path(folder)
        to.mkdir(parents=True, exist_ok=True)
        paths = [to / f"{table}.parquet" for table in TABLES]
        for table, file in zip(TABLES, paths, strict=True):
            content = io.BytesIO()
            self._polars(table).write_parquet(content)
            files.write(file, content.getvalue())
        return paths

    def write_needless(self, to: str | PathLike[str]) -> int:
        """Write the needless retransmissions, unchanged, into a pcapng file.

        The capture is read again. The file gets its name only when it is complete.

        Returns:
            The number of packets written.

        Raises:
            OSError: the file cannot be written.
            ValueError: there are several files, the capture is standard input, or ``to`` is the capture itself.
        """
        file = self._only_file("write", to)
        frames = self.retransmissions.filter(pl.col("verdict") == "needless")["frame"].unique().sort().to_list()
        return _native.capture_copy(file, frames, None, None, fspath(to))[0]

    def write_reordered(self, to: str | PathLike[str]) -> int:
        """Write the packets that arrived late (RFC 4737), unchanged, into a pcapng file.

        The capture is read again. The file gets its name only when it is complete.

        Returns:
            The number of packets written.

        Raises:
            OSError: the file cannot be written.
            ValueError: there are several files; or the capture is standard input, or from the sender's side, where
                nothing arrives; or ``to`` is the capture itself.
        """
        file = self._only_file("write", to)
        frames = self._found.late()
        if frames is None:
            raise ValueError("write: found a capture without arrivals, allowed: a capture not made at the sender")
        return _native.capture_copy(file, frames, None, None, fspath(to))[0]

    def write_comments(self, to: str | PathLike[str]) -> int:
        """Write all packets, unchanged, into a pcapng file, with comments that Wireshark shows and filters.

        Each retransmission has its verdict with the evidence, and the packet that ended a stall its cause:
        ``frame.comment contains "needless"``, ``frame.comment contains "stall"``. The capture is read again. The file
        gets its name only when it is complete.

        Returns:
            The number of packets with a comment.

        Raises:
            OSError: the file cannot be written.
            ValueError: there are several files, the capture is standard input, or ``to`` is the capture itself.
        """
        file = self._only_file("write", to)
        comments: dict[int, str] = {}
        for row in self.retransmissions.to_dicts():
            likely = "suspected " if row["suspected"] else "likely " if row["likely"] else ""
            comments[row["frame"]] = f"{likely}{row['verdict']}: {row['evidence']}"
        for row in self.stalls.to_dicts():
            stall = f"stall of {row['duration_s']:.3f} s, {row['cause']}: {row['evidence']}"
            before = comments.get(row["frame_after"])
            comments[row["frame_after"]] = f"{before}; {stall}" if before else stall
        _native.capture_copy(file, None, comments, None, fspath(to))
        return len(comments)

    def write_report(
        self,
        to: str | PathLike[str],
        *,
        host: str | None = None,
        port: int | None = None,
        having: Having | None = None,
        sort: str | None = None,
        top: int | None = None,
    ) -> None:
        """Write a report as one page of HTML that needs no other file: sentences, tables, graphs of the worst flows.

        The captures are read again for the graphs. The file gets its name only when it is complete. matplotlib and
        jinja2 are needed: ``pip install "ackclock[papers]"``.

        Args:
            to: the file.
            host: only flows with this address or network, such as ``10.0.0.0/8``, at either end.
            port: only flows with this port at either end.
            having: only flows that have any ``retransmissions``, ``stalls`` or ``resets``.
            sort: the column of ``flows`` by which they are sorted, the largest first. Default: bytes.
            top: only the first flows.

        Raises:
            OSError: the file cannot be written.
            ValueError: ``to`` is one of the captures, or an option is invalid.
        """
        from ackclock.captures import report  # noqa: PLC0415 - needs matplotlib and jinja2

        no_capture("report", self._files, to)
        selection = Selection(host, port, having, sort, top)

        def stalls(row: dict[str, Any]) -> list[dict[str, Any]]:
            return self._of(self.stalls, row).to_dicts()

        def draw(row: dict[str, Any]) -> Figure | str:
            return self._undrawable(row) or self._sheet(row)

        page = report.html(self.to_dict(details=False), selection, self.answers, self.exchanges, stalls, draw)
        write(Path(to), page.encode())

    def anonymise(self, to: str | PathLike[str]) -> int:
        """Write all TCP segments into a pcapng file, with replaced addresses and ports and without payload.

        Times, sequence numbers and the options that an analysis reads are kept, so the analysis of the copy is equal.
        Link layers, tunnels, other packets, and connections other than a chosen ``flow`` are left out. The capture is
        read again. The file gets its name only when it is complete.

        Returns:
            The number of packets written.

        Raises:
            OSError: the file cannot be written.
            ValueError: there are several files, the capture is standard input, or ``to`` is the capture itself.
        """
        return _native.capture_copy(self._only_file("anonymise", to), None, None, self._chosen, fspath(to))[0]

    def packets(self, flow: str | None = None) -> pl.DataFrame:
        """Return the packets of one connection, for graphs. The capture is read again.

        ``own`` marks packets in the flow's direction. Offsets (``offset``, ``ack``, ``sack``) count the bytes of a
        direction from its first byte; ``seq`` is the number in the packet. ``time_ns`` counts from the capture's first
        packet, ``at_ns`` from 1970.

        Args:
            flow: its name in ``flows``. Default: the flow with the most bytes.

        Raises:
            ValueError: there is no such flow, the capture is standard input, or the flow has too many packets.
        """
        return self._packets(self._drawn("flow", flow))

    def _packets(self, row: dict[str, Any]) -> pl.DataFrame:
        """The packets of the connection of a row."""
        source = row["flow"].partition(" > ")[0]
        return pl.DataFrame(
            _native.capture_packets(row["file"], row["interface"], row["connection"], source, self._limit)
        )

    def plot(self, flow: str | None = None, start: float | None = None, stop: float | None = None) -> Figure:
        """Draw a flow: time-sequence graph with verdicts on its retransmissions, outstanding data, stalls.

        Args:
            flow: its name in ``flows``. Default: the flow with the most bytes.
            start: start of the graph, in seconds since the capture's first packet. Default: the beginning.
            stop: end of the graph, likewise. Default: the end.

        Raises:
            ValueError: as :meth:`packets`, or there is nothing between ``start`` and ``stop``.
        """
        row = self._drawn("plot", flow)
        title = f"{Path(row['file']).name}: {row['flow']}, captured {row['captured']}"
        return self._sheet(row, title, start, stop)

    def _sheet(
        self, row: dict[str, Any], title: str = "", start: float | None = None, stop: float | None = None
    ) -> Figure:
        """Draw the flow of a row."""
        from ackclock.plot import captured  # noqa: PLC0415 - needs matplotlib

        again, still = (self._of(table, row) for table in (self.retransmissions, self.stalls))
        return captured(self._packets(row), again, still, title=title, start=start, stop=stop)

    def write_xplot(self, to: str | PathLike[str], flow: str | None = None) -> None:
        """Write a flow's time-sequence graph in the format of tcptrace's ``xplot``, complete or not at all.

        Args:
            to: the file.
            flow: its name in ``flows``. Default: the flow with the most bytes.

        Raises:
            OSError: the file cannot be written.
            ValueError: as :meth:`packets`.
        """
        row = self._drawn("xplot", flow)
        lines = xplot.lines(self._packets(row), self._of(self.retransmissions, row), row["flow"])
        write(Path(to), "".join(f"{line}\n" for line in lines).encode())

    def _drawn(self, key: str, flow: str | None) -> dict[str, Any]:
        """The row of the requested flow."""
        rows = self.flows if flow is None else self.flows.filter(pl.col("flow") == flow)
        if rows.is_empty():
            raise ValueError(f"{key}: found {'no flow' if flow is None else repr(flow)}, allowed: one of the flows")
        row = rows.sort("bytes", descending=True, maintain_order=True).row(0, named=True)
        if refusal := self._undrawable(row):
            raise ValueError(f"{key}: {refusal}")
        return row

    def _undrawable(self, row: dict[str, Any]) -> str | None:
        """Why the flow of a row cannot be drawn."""
        packets = self.flows.filter((pl.col("file") == row["file"]) & (pl.col("connection") == row["connection"]))[
            "packets"
        ].sum()
        if row["file"] == "-":
            return "found standard input, allowed: a file, which can be read again"
        if packets > MOST_DRAWN:
            return f"found a connection of {packets:,} packets, allowed: at most {MOST_DRAWN:,}"
        return None

    @staticmethod
    def _of(table: pl.DataFrame, row: dict[str, Any]) -> pl.DataFrame:

        return table.filter(
            (pl.col("file") == row["file"])
            & (pl.col("connection") == row["connection"])
            & (pl.col("flow") == row["flow"])
        )

    def _only_file(self, key: str, to: str | PathLike[str]) -> str:
        """The one capture file, if it can be read again and is not the file to be written."""
        if len(self._files) != 1:
            raise ValueError(f"{key}: found {len(self._files)} captures, allowed: one")
        (file,) = self._files
        if file == "-":
            raise ValueError(f"{key}: found standard input, allowed: a file, which can be read again")
        no_capture(key, self._files, to)
        return file

    def _polars(self, table: Table) -> pl.DataFrame:

        return pl.DataFrame(self.arrow(table))


def no_capture(key: str, files: Sequence[str], to: str | PathLike[str]) -> None:
    """Refuse to write over a capture.

    Raises:
        ValueError: ``to`` is one of the files; the message begins with ``key``.
    """
    captures = [Path(file) for file in files if file != "-"]
    if Path(to).exists() and any(file.exists() and Path(to).samefile(file) for file in captures):
        which = "the capture" if len(captures) == 1 else "one of the captures"
        raise ValueError(f"{key}: found {fspath(to)}, which is {which}, allowed: another file")


def capture(
    files: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    at: Side | None = None,
    flow: str | None = None,
    limit: int = LIMIT,
    densities: bool = True,
    progress: Callable[[float], object] | None = None,
) -> Capture:
    """Read captures of TCP and say what happened to each transfer.

    Args:
        files: one or several files, pcap, pcapng, snoop or ERF, also compressed with gzip, zstd or lz4; ``-`` is
            standard input.
            Captures of both ends of a connection are matched (``receiver_file``).
        at: where the files were captured, relative to the direction with more data; captures are then not matched.
            Default: inferred from the packets.
        flow: only the connection between two ends, as ``"10.0.0.1:5001 > 10.0.0.2:80"``.
        limit: the largest number of connections in memory, and in the result: those with the most bytes.
        densities: whether to compute the densities of RFC 5236. The analysis is faster without them.
        progress: called with the share that has been read, from 0 to 1.

    Raises:
        CaptureError: nothing in a file could be read.
        ValueError: an option is invalid.
    """
    names = [files] if isinstance(files, str | PathLike) else list(files)
    if limit < 1:
        raise ValueError(f"limit: found {limit}, allowed: 1 or more")
    found = _native.capture([fspath(name) for name in names], at, limit, ends(flow), densities, progress)

    def again() -> Fit:
        if any(fspath(name) == "-" for name in names):
            raise ValueError("fit: found standard input, allowed: files, which can be read again")
        return fit(names, at=at, flow=ends(flow), limit=limit)

    return Capture(found, again, [fspath(name) for name in names], ends(flow), limit)


def ends(flow: str | None) -> tuple[str, str] | None:
    """The two ends of ``A:p > B:p``."""
    if flow is None:
        return None
    one, sign, other = flow.partition(">")
    if not sign:
        raise ValueError(f'flow: found "{flow}", allowed: two ends, as in "10.0.0.1:5001 > 10.0.0.2:80"')
    return one.strip(), other.strip()
