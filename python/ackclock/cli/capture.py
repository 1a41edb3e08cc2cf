"""``ackclock capture``: what happened to the transfers of a capture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import click

from ackclock.captures import tables
from ackclock.captures.capture import LIMIT, Capture, Side, capture, no_capture
from ackclock.captures.fitting import AS
from ackclock.captures.selection import HAVING, Having, Selection
from ackclock.captures.shown import By
from ackclock.cli.common import PATH, as_json, fail, need, refusals
from ackclock.cli.fit import command_fit
from ackclock.cli.scenario import complete_path, complete_stack, draw, plot_span
from ackclock.files import write as write_file
from ackclock.late import pl
from ackclock.progress import shown_share

EXAMPLES = """\b
Examples:
  ackclock capture upload.pcapng
  ackclock capture upload.pcapng --retransmissions --stalls
  ackclock capture upload.pcapng --flow '10.0.0.1:5001 > 10.0.0.2:80' --reordering
  ackclock capture upload.pcapng --at receiver --json
  ackclock capture sender.pcapng receiver.pcapng
  ackclock capture captures/ --with stalls --sort longest_stall_s --top 20
  ackclock capture captures/ --port 443 --by server
  ackclock capture upload.pcapng --connections
  ackclock capture upload.pcapng --csv flows.csv
  ackclock capture captures/ --port 443 --report report.html
  ackclock capture upload.pcapng --parquet tables
  ackclock capture upload.pcapng --plot course.svg
  ackclock capture upload.pcapng --xplot course.xpl
  ackclock capture upload.pcapng --write needless needless.pcapng
  ackclock capture upload.pcapng --at receiver --write reordered late.pcapng
  ackclock capture upload.pcapng --write comments for-wireshark.pcapng
  ackclock capture upload.pcapng --anonymise public.pcapng
  ackclock capture upload.pcapng --fit path.toml
  ackclock capture upload.pcapng --what-if --stack rack-tlp --stack linux-bbr-2025
  tcpdump -w - -c 100000 tcp | ackclock capture -
"""
_KEYS = ("flow", "at", "csv", "write", "anonymise", "plot", "report", "xplot")
NAMES = (".pcap", ".pcapng", ".cap", ".snoop", ".erf")
"""The endings of captures."""
PAGES = (".html", ".htm")
"""The endings of pages."""
_ENDINGS = (*NAMES, ".gz", ".zst", ".lz4")


Chosen = Literal["needless", "reordered", "comments"]
"""Which packets to write; all, if with comments."""


@dataclass(frozen=True)
class Reports:
    """The reports to print about a capture, and the files to write."""

    retransmissions: bool
    reordering: bool
    stalls: bool
    parquet: Path | None
    write: tuple[Chosen, Path] | None
    anonymise: Path | None
    plot: Path | None
    xplot: Path | None
    connections: bool
    by: By | None
    csv: Path | None
    report: Path | None
    selection: Selection


@click.command(epilog=EXAMPLES)
@click.argument(
    "files",
    nargs=-1,
    required=True,
    metavar="FILE|DIR...",
    shell_complete=complete_path(*_ENDINGS),
    help="Captures (pcap, pcapng, snoop or ERF, optionally compressed), or folders of them; - is standard input.",
)
@click.option("--flow", metavar="'A:p > B:p'", help="Only the connection between these two ends.")
@click.option("--retransmissions", is_flag=True, help="List each retransmission: verdict, evidence, frame.")
@click.option("--reordering", is_flag=True, help="Print reordering metrics (RFC 4737) and densities (RFC 5236).")
@click.option("--stalls", is_flag=True, help="List each stall with its cause and evidence.")
@click.option(
    "--at",
    type=click.Choice(["sender", "receiver", "middle"]),
    help="Where it was captured, relative to the data. [default: detected]",
)
@click.option(
    "--limit",
    default=LIMIT,
    metavar="N",
    type=click.IntRange(1, 2**31 - 1),
    help="Largest number of connections in memory.",
)
@click.option("--connections", is_flag=True, help="How each was opened and closed; server's and client's time.")
@click.option("--host", metavar="ADDRESS", help="Only flows with this address or network (10.0.0.0/8) at either end.")
@click.option("--port", metavar="N", type=click.IntRange(0, 65535), help="Only flows with this port at either end.")
@click.option("--with", "having", type=click.Choice(HAVING), help="Only flows that have any.")
@click.option("--sort", metavar="COLUMN", help="Sort flows by a column.  [default: bytes]")
@click.option("--top", metavar="N", type=click.IntRange(1), help="Only the first flows.  [default: 50]")
@click.option("--by", type=click.Choice(get_args(By)), help="Totals by server, or by the cause of most of the time.")
@click.option("--csv", type=PATH, metavar="FILE", help="Write the selected flows as CSV, with all columns.")
@click.option(
    "--report", type=PATH, metavar="FILE", help="Write a page (.html): sentences, tables, graphs of the worst flows."
)
@click.option("--parquet", type=PATH, metavar="DIR", help="Write all tables as Parquet into a folder.")
@click.option(
    "--write",
    type=(click.Choice(get_args(Chosen)), PATH),
    metavar="needless|reordered|comments FILE",
    help="Write needless retransmissions, late packets, or all with verdicts as comments, as pcapng.",
)
@click.option("--anonymise", type=PATH, metavar="FILE", help="Write all TCP as pcapng without names and payload.")
@click.option(
    "--plot", type=PATH, metavar="FILE", help="File for a plot of the flow with the most bytes (.png or .svg)."
)
@click.option("--xplot", type=PATH, metavar="FILE", help="The same plot in tcptrace's format, for xplot and jplot.")
@click.option("--fit", type=PATH, metavar="FILE", help="Fit a path to the flows and write it as a scenario.")
@click.option("--what-if", is_flag=True, help="Fit a path, then run it with --stack.")
@click.option(
    "--stack",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_stack,
    help="Sender to try with --what-if. Repeatable.",
)
@click.option(
    "--as", "as_", default=AS, metavar="NAME", shell_complete=complete_stack, help="Stack of the capture's sender."
)
@click.option(
    "--seeds", default=10, metavar="N", type=click.IntRange(2, 1_000_000), help="Runs per sender with --what-if."
)
@as_json("tables")
def command(
    files: tuple[str, ...],
    flow: str | None,
    retransmissions: bool,
    reordering: bool,
    stalls: bool,
    at: Side | None,
    limit: int,
    connections: bool,
    host: str | None,
    port: int | None,
    having: Having | None,
    sort: str | None,
    top: int | None,
    by: By | None,
    csv: Path | None,
    report: Path | None,
    parquet: Path | None,
    write: tuple[Chosen, Path] | None,
    anonymise: Path | None,
    plot: Path | None,
    xplot: Path | None,
    fit: Path | None,
    what_if: bool,
    stack: tuple[str, ...],
    as_: str,
    seeds: int,
    as_json: bool,
) -> None:
    """Say what happened to each transfer of a capture.

    First the answer in sentences: what the largest transfers spent their time on. Then a row for each connection:
    bytes, goodput, round trips, retransmissions that were needed, needless or refused, what the path reordered, the
    cause of most of the time, the longest stall with its cause, options in use, and where the capture was made.
    Captures of both ends of a connection are matched.
    """
    try:
        selection = Selection(host, port, having, sort, top)
    except ValueError as error:
        key, _, found = str(error).partition(": ")
        fail(f"command line: key `--{key}`: {found}")
    reports = Reports(
        retransmissions,
        reordering,
        stalls,
        parquet,
        write,
        anonymise,
        plot,
        xplot,
        connections,
        by,
        csv,
        report,
        selection,
    )
    files = expanded(files)
    if fit is None and not what_if:
        _report(files, at, flow, limit, reports, as_json)
        return
    for name, value in vars(reports).items():
        if value and name != "selection":
            fail(f"command line: key `--{name}`: found together with --fit or --what-if, allowed: a separate command")
    command_fit(files, at, flow, limit, fit, (stack if what_if else None, as_, seeds), as_json)


def _report(
    files: Sequence[str], at: Side | None, flow: str | None, limit: int, reports: Reports, as_json: bool
) -> None:
    """Print the requested reports."""
    plot_span(reports.plot, None, None)
    if reports.report is not None:
        _can_report(reports.report)
    densities = reports.reordering or as_json or reports.parquet is not None
    with refusals():
        try:
            with shown_share("reading") as progress:
                found = capture(files, at=at, flow=flow, limit=limit, densities=densities, progress=progress)
            if reports.csv is not None:
                no_capture("csv", files, reports.csv)
                write_file(reports.csv, _csv(found, reports.selection).encode())
            _write(found, reports)
        except ValueError as error:
            key, _, said = str(error).partition(": ")
            fail(f"command line: key `--{key}`: {said}" if key in _KEYS else str(error))
        if reports.plot is not None:
            draw(reports.plot, found, (None, None))
        if reports.parquet is not None:
            found.write_parquet(reports.parquet)
    result = found.to_dict(reports.retransmissions or reports.stalls or as_json)
    if flow is not None and not result["flows"] and not result["datagrams"]:
        fail(f'command line: key `--flow`: found "{flow}", allowed: one of the flows of the file')
    result = reports.selection.applied(result, found.answers)
    if as_json:
        click.echo(json.dumps(result, indent=2))
        return
    _print(result, reports)


def _can_report(file: Path) -> None:
    """Refuse a name that is not one of a page, and say what is not installed, before the captures are read."""
    if file.suffix.lower() not in PAGES:
        fail(f'command line: key `--report`: found "{file}", allowed: a name that ends in {" or ".join(PAGES)}')
    need("capture --report", {"matplotlib": "plot", "jinja2": "papers"})


def _csv(found: Capture, selection: Selection) -> str:
    """The selected flows with all their columns."""
    flows = found.flows
    return pl.DataFrame(selection.of(flows.to_dicts()), schema=flows.schema).write_csv()


def expanded(names: Sequence[str]) -> tuple[str, ...]:
    """Files, with the captures in a folder and below it instead of the folder."""
    found: list[str] = []
    for name in names:
        path = Path(name)
        if name != "-" and _is_folder(path):
            inside = sorted(str(file) for file in path.rglob("*") if file.is_file() and is_capture(file))
            if not inside:
                fail(f"{name}: found a folder without captures, allowed: one with files named {', '.join(NAMES)}")
            found.extend(inside)
        else:
            found.append(name)
    return tuple(found)


def _is_folder(path: Path) -> bool:
    """Whether a path is a folder; what is no path at all is refused when it is read."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_capture(file: Path) -> bool:
    """Whether a file's name is that of a capture, packed or not."""
    return any(suffix in NAMES for suffix in file.suffixes)


def _write(found: Capture, reports: Reports) -> None:
    """Write the requested files of packets and graphs."""
    if reports.write is not None:
        which, to = reports.write
        writers = {
            "needless": found.write_needless,
            "reordered": found.write_reordered,
            "comments": found.write_comments,
        }
        writers[which](to)
    if reports.anonymise is not None:
        found.anonymise(reports.anonymise)
    if reports.xplot is not None:
        found.write_xplot(reports.xplot)
    if reports.report is not None:
        found.write_report(reports.report, **vars(reports.selection))


def _print(result: dict[str, Any], reports: Reports) -> None:
    """Print the requested reports, or else the answer and the flows."""
    details = [
        (reports.retransmissions, tables.print_retransmissions),
        (reports.reordering, tables.print_reordering),
        (reports.stalls, tables.print_stalls),
    ]
    if reports.by is not None:
        tables.print_totals(result, reports.selection, reports.by)
    elif reports.connections:
        tables.print_connections(result)
    elif not any(wanted for wanted, _ in details):
        tables.print_answers(result)
        tables.print_flows(result, reports.selection)
        tables.print_datagrams(result)
    for wanted, show in details:
        if wanted:
            show(result)
    tables.print_remarks(result)
