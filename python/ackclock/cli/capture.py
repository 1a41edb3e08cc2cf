"""``ackclock capture``: what happened to the transfers of a capture."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ackclock.captures.capture import LIMIT, Capture, Side, capture
from ackclock.captures.fitting import AS
from ackclock.cli.common import fail, refusals
from ackclock.cli.fit import command_fit
from ackclock.cli.scenario import complete_path, complete_stack, draw, plot_span

EXAMPLES = """\b
Examples:
  ackclock capture upload.pcapng
  ackclock capture upload.pcapng --retransmissions --stalls
  ackclock capture upload.pcapng --flow '10.0.0.1:5001 > 10.0.0.2:80' --reordering
  ackclock capture upload.pcapng --at receiver --json
  ackclock capture sender.pcapng receiver.pcapng
  ackclock capture upload.pcapng --parquet tables
  ackclock capture upload.pcapng --plot course.svg
  ackclock capture upload.pcapng --xplot course.xpl
  ackclock capture upload.pcapng --write needless needless.pcapng
  ackclock capture upload.pcapng --at receiver --write reordered late.pcapng
  ackclock capture upload.pcapng --anonymise public.pcapng
  ackclock capture upload.pcapng --fit path.toml
  ackclock capture upload.pcapng --what-if --stack rack-tlp --stack linux-bbr-2025
  tcpdump -w - -c 100000 tcp | ackclock capture -
"""
_KEYS = ("flow", "at", "write", "anonymise", "plot", "xplot")
_ENDINGS = (".pcap", ".pcapng", ".cap", ".gz", ".zst", ".lz4")


class At(StrEnum):
    """Where a capture was made."""

    SENDER = "sender"
    RECEIVER = "receiver"
    MIDDLE = "middle"


class Chosen(StrEnum):
    """Which packets to write."""

    NEEDLESS = "needless"
    REORDERED = "reordered"


@dataclass(frozen=True)
class Asked:
    """The reports to print about a capture, and the files to write."""

    retransmissions: bool
    reordering: bool
    stalls: bool
    parquet: Path | None
    write: tuple[Chosen, Path] | None
    anonymise: Path | None
    plot: Path | None
    xplot: Path | None


def _complete_file(incomplete: str) -> list[str]:
    """Folders, and files that look like captures."""
    return complete_path(incomplete, _ENDINGS)


def command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE…",
            help="Captures (pcap or pcapng, optionally compressed); - is standard input.",
            autocompletion=_complete_file,
        ),
    ],
    flow: Annotated[
        str | None, typer.Option(metavar="'A:p > B:p'", help="Only the connection between these two ends.")
    ] = None,
    retransmissions: Annotated[
        bool, typer.Option("--retransmissions", help="List each retransmission: verdict, evidence, frame.")
    ] = False,
    reordering: Annotated[
        bool, typer.Option("--reordering", help="Print reordering metrics (RFC 4737) and densities (RFC 5236).")
    ] = False,
    stalls: Annotated[bool, typer.Option("--stalls", help="List each stall with its cause and evidence.")] = False,
    at: Annotated[
        At | None, typer.Option(help="Where it was captured, relative to the data. [default: detected]")
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=2**31 - 1, help="Largest number of connections in memory.")
    ] = LIMIT,
    parquet: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write all tables as Parquet into a folder.")
    ] = None,
    write: Annotated[
        tuple[Chosen, Path] | None,
        typer.Option(
            metavar="needless|reordered FILE", help="Write needless retransmissions or late packets as pcapng."
        ),
    ] = None,
    anonymise: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all TCP as pcapng without names and payload.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File for a plot of the flow with the most bytes (.png or .svg)."),
    ] = None,
    xplot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The same plot in tcptrace's format, for xplot and jplot.")
    ] = None,
    fit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Fit a path to the flows and write it as a scenario.")
    ] = None,
    what_if: Annotated[bool, typer.Option("--what-if", help="Fit a path, then run it with --stack.")] = False,
    stack: Annotated[
        list[str],
        typer.Option(metavar="NAME", help="Sender to try with --what-if. Repeatable.", autocompletion=complete_stack),
    ] = [],  # noqa: B006 - Typer copies it
    as_: Annotated[
        str,
        typer.Option("--as", metavar="NAME", help="Stack of the capture's sender.", autocompletion=complete_stack),
    ] = AS,
    seeds: Annotated[int, typer.Option(metavar="N", min=2, max=1_000_000, help="Runs per sender with --what-if.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Say what happened to each transfer of a capture.

    A row for each connection: bytes, goodput, round trips, retransmissions that were needed, needless or refused, what
    the path reordered, the longest stall with its cause, options in use, and where the capture was made. Captures of
    both ends of a connection are matched.
    """
    asked = Asked(retransmissions, reordering, stalls, parquet, write, anonymise, plot, xplot)
    where: Side | None = None if at is None else at.value
    if fit is None and not what_if:
        _tell(files, where, flow, limit, asked, as_json)
        return
    for name, value in vars(asked).items():
        if value:
            fail(f"command line: key `--{name}`: found together with --fit or --what-if, allowed: a separate command")
    command_fit(files, where, flow, limit, fit, (stack if what_if else None, as_, seeds), as_json)


def _tell(files: list[str], at: Side | None, flow: str | None, limit: int, asked: Asked, as_json: bool) -> None:
    """Print the requested reports."""
    plot_span(asked.plot, None, None)
    densities = asked.reordering or as_json or asked.parquet is not None
    with refusals():
        try:
            with _progress() as told:
                found = capture(files, at=at, flow=flow, limit=limit, densities=densities, progress=told)
            _write(found, asked)
        except ValueError as error:
            key, _, said = str(error).partition(": ")
            fail(f"command line: key `--{key}`: {said}" if key in _KEYS else str(error))
        if asked.plot is not None:
            draw(asked.plot, found, (None, None))
        if asked.parquet is not None:
            found.write_parquet(asked.parquet)
    result = found.to_dict(asked.retransmissions or asked.stalls or as_json)
    if flow is not None and not result["flows"] and not result["datagrams"]:
        fail(f'command line: key `--flow`: found "{flow}", allowed: one of the flows of the file')
    if as_json:
        typer.echo(json.dumps(result, indent=2))
        return
    _print(result, asked)


def _write(found: Capture, asked: Asked) -> None:
    """Write the requested files of packets and graphs."""
    if asked.write is not None:
        which, to = asked.write
        (found.write_needless if which is Chosen.NEEDLESS else found.write_reordered)(to)
    if asked.anonymise is not None:
        found.anonymise(asked.anonymise)
    if asked.xplot is not None:
        found.write_xplot(asked.xplot)


def _print(result: dict[str, Any], asked: Asked) -> None:
    from ackclock.captures import tables  # noqa: PLC0415 - start-up time

    details = [
        (asked.retransmissions, tables.print_retransmissions),
        (asked.reordering, tables.print_reordering),
        (asked.stalls, tables.print_stalls),
    ]
    if not any(wanted for wanted, _ in details):
        tables.print_flows(result)
        tables.print_datagrams(result)
    for wanted, show in details:
        if wanted:
            show(result)
    tables.print_files(result)


@contextmanager
def _progress() -> Iterator[Callable[[float], object]]:
    """Show the fraction that has been read."""
    from ackclock.progress import Told, shown  # noqa: PLC0415 - start-up time

    with shown("reading") as tell:
        yield lambda share: tell(Told(share, 1, 0))
