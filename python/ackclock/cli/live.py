"""``ackclock live``; its ``bench``, ``send`` and ``recv``: the engine as a real TCP on a network device."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn, TextIO

import typer

from ackclock import _native
from ackclock.cli.common import FAILED, TERMINATED, fail, refusals
from ackclock.cli.scenario import complete_stack

BENCH_EXAMPLES = """\b
Examples:
  ackclock live bench
  ackclock live bench --bytes 100MB --offload off --direction send
  ackclock live bench --realtime --json
  ackclock live bench --stack rfc-6675 --bytes 10MB --pcap captures
"""
SEND_EXAMPLES = """\b
Examples:
  ackclock live send FILE --to 10.77.0.2:5001
  ackclock live send FILE --to 10.77.0.2:5001 --peer COPY
  ackclock live send - --to 192.0.2.9:5001 --tun tun7 --from 10.7.0.2 < FILE
"""
RECV_EXAMPLES = """\b
Examples:
  ackclock live recv --listen 10.77.0.1:5001 -o COPY --peer FILE
  ackclock live recv --listen 10.7.0.2:5001 -o COPY --tun tun7
"""

app = typer.Typer(
    help="Run the engine on a network device, against real kernels (Linux).",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Offload(StrEnum):
    """Whether to allow packets that are trains of segments."""

    ON = "on"
    OFF = "off"
    BOTH = "both"


class Direction(StrEnum):
    """Which way the bytes go, seen from the engine."""

    SEND = "send"
    RECEIVE = "receive"
    BOTH = "both"


class Family(StrEnum):
    """The version of IP."""

    V4 = "4"
    V6 = "6"
    BOTH = "both"


Stack = Annotated[
    str, typer.Option(help="The engine's stack.", autocompletion=complete_stack, metavar="NAME", show_default=True)
]
Mtu = Annotated[int, typer.Option(help="MTU of the new device, in bytes.", min=68, max=65535, metavar="N")]
Realtime = Annotated[bool, typer.Option("--realtime", help="Request real-time priority (SCHED_FIFO).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Tun = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="TUN device that you created and routed. "
        "Default: a new one in its own namespace, with the kernel as the peer.",
    ),
]
Pcap = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="File for a capture of the device, as pcapng.", show_default=False),
]
Received = Annotated[
    str | None,
    typer.Option(
        "--peer", metavar="FILE", help="Without --tun: file for the data that the kernel receives.", show_default=False
    ),
]
Sent = Annotated[
    str | None,
    typer.Option(
        "--peer",
        metavar="FILE",
        help="Without --tun: file that the kernel sends; - is standard input.",
        show_default=False,
    ),
]
OneOffload = Annotated[bool, typer.Option("--offload", help="Allow packets that are trains of segments.")]


def _end(*_: object) -> NoReturn:
    raise SystemExit(TERMINATED)


@contextmanager
def run(what: str) -> Iterator[Callable[[float], object]]:
    """Context of every live run: one message for an error, a progress bar, and a clean end on Ctrl-C or SIGTERM."""
    from ackclock.progress import Told, shown  # noqa: PLC0415 - start-up time

    before = signal.signal(signal.SIGTERM, _end)
    try:
        with refusals(), shown(what) as tell:
            yield lambda share: tell(Told(share, 1, 0))
    finally:
        signal.signal(signal.SIGTERM, before)


def say(line: str) -> None:
    """Print a run's first line to standard error, because standard output may carry the received bytes."""
    typer.echo(line, err=True)


@app.command(epilog=BENCH_EXAMPLES)
def bench(
    bytes_: Annotated[str, typer.Option("--bytes", help="Size of each transfer.", metavar="SIZE")] = "1 GB",
    offload: Annotated[
        Offload, typer.Option(help="Whether to allow packets that are trains of segments.")
    ] = Offload.BOTH,
    direction: Annotated[Direction, typer.Option(help="Direction, as seen from the engine.")] = Direction.BOTH,
    ip: Annotated[Family, typer.Option(help="Which IP.")] = Family.BOTH,
    stack: Stack = "linux-2025",
    mtu: Mtu = 1500,
    realtime: Realtime = False,
    pcap: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for a capture of each transfer.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure transfers to and from this kernel in new namespaces. The exit code is 1 if bytes differ."""
    plan = [
        (sends, v6, train)
        for train in _chosen(offload, Offload.OFF, Offload.ON)
        for sends in reversed(_chosen(direction, Direction.RECEIVE, Direction.SEND))
        for v6 in _chosen(ip, Family.V4, Family.V6)
    ]
    entries: list[dict[str, Any]] = []
    with run("measuring") as progress:
        if pcap is not None:
            pcap.mkdir(parents=True, exist_ok=True)
        for n, (sends, v6, train) in enumerate(plan):
            name = f"{'send' if sends else 'receive'}-{'v6' if v6 else 'v4'}-{'offload' if train else 'plain'}.pcapng"
            file = None if pcap is None else str(pcap / name)

            def told(share: float, n: int = n) -> None:
                progress((n + share) / len(plan))

            entry = _native.live_bench(sends, v6, train, bytes_, mtu, stack, realtime, file, say, told)
            entries.append(json.loads(entry))
    if as_json:
        typer.echo(json.dumps({"entries": entries}, indent=2))
    else:
        from ackclock.tables.printed import print_live_bench  # noqa: PLC0415 - start-up time

        print_live_bench(entries)
    if not all(entry["hashes_equal"] for entry in entries):
        fail("the bytes received differ from the bytes sent", FAILED)


def _chosen(value: StrEnum, no: StrEnum, yes: StrEnum) -> list[bool]:
    """Both values, or the chosen one."""
    return [False, True] if value not in (no, yes) else [value == yes]


@app.command(epilog=SEND_EXAMPLES)
def send(
    file: Annotated[str, typer.Argument(metavar="FILE", help="File to send; - is standard input.")],
    to: Annotated[str, typer.Option(metavar="ADDR:PORT", help="Destination; IPv6 as [ADDR]:PORT.")],
    from_: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="ADDR[:PORT]", help="Local address. [default: next to --to]", show_default=False
        ),
    ] = None,
    tun: Tun = None,
    peer: Received = None,
    stack: Stack = "linux-2025",
    mtu: Mtu = 1500,
    offload: OneOffload = False,
    realtime: Realtime = False,
    pcap: Pcap = None,
    as_json: AsJson = False,
) -> None:
    """Send a file with the engine's TCP."""
    way = _way(tun, peer, stack, mtu, offload, realtime, pcap)
    with run("sending") as progress:
        result = _native.live_send(file, to, from_, way, say, progress)
    _finish(json.loads(result), as_json, "sent", sys.stderr if peer == "-" else sys.stdout)


@app.command(epilog=RECV_EXAMPLES)
def recv(
    listen: Annotated[str, typer.Option(metavar="ADDR:PORT", help="Address to listen on; IPv6 as [ADDR]:PORT.")],
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="File to create; - is standard output.")
    ] = "-",
    tun: Tun = None,
    peer: Sent = None,
    stack: Stack = "linux-2025",
    mtu: Mtu = 1500,
    offload: OneOffload = False,
    realtime: Realtime = False,
    pcap: Pcap = None,
    as_json: AsJson = False,
) -> None:
    """Receive one connection into a file with the engine's TCP. The file gets its name when it is complete."""
    way = _way(tun, peer, stack, mtu, offload, realtime, pcap)
    with run("receiving") as progress:
        result = _native.live_recv(output, listen, way, say, progress)
    _finish(json.loads(result), as_json, "received", sys.stderr if output == "-" else sys.stdout)


def _way(
    tun: str | None, peer: str | None, stack: str, mtu: int, offload: bool, realtime: bool, pcap: str | None
) -> dict[str, object]:
    """The transport options of a file transfer."""
    if tun is not None and peer is not None:
        fail(f"command line: key `--peer`: found {peer} together with --tun {tun}, allowed: one of the two")
    return {
        "tun": tun,
        "peer": peer,
        "stack": stack,
        "mtu": mtu,
        "offload": offload,
        "realtime": realtime,
        "pcap": pcap,
    }


def _finish(result: dict[str, Any], as_json: bool, verb: str, out: TextIO) -> None:
    """Print the result; exit with 1 if the kernel's end received different bytes."""
    if as_json:
        print(json.dumps(result, indent=2), file=out)
    else:
        checked = {True: ", the same at the kernel's end", False: ", but not at the kernel's end", None: ""}
        late = result["late_p99_us"]
        print(
            f"{verb} {result['bytes']:,} bytes in {result['seconds']:.3f} s, {result['gbps']:.3f} Gb/s; "
            f"XXH3 {result['xxh3']}{checked[result['hashes_equal']]}; retransmitted {result['retransmitted']:,}; "
            f"{result['priority']}" + ("" if late is None else f", timers late by {late:,.0f} µs (p99)"),
            file=out,
        )
    if result["hashes_equal"] is False:
        fail("the bytes received differ from the bytes sent", FAILED)
