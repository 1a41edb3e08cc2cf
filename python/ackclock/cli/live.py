"""``ackclock live``; its ``bench``, ``send`` and ``recv``: the engine as a real TCP on a network device."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TextIO

import click

from ackclock import _native
from ackclock.cli.common import FAILED, PATH, TERMINATED, Decorator, Function, as_json, fail, refusals
from ackclock.cli.lazy import Lazy, Origin
from ackclock.cli.scenario import complete_stack
from ackclock.progress import shown_share
from ackclock.tables.printed import print_live_bench

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

BOTH = "both"
COMMANDS = {
    "bench": Origin("live", "bench", "Measure transfers to and from this kernel in new namespaces."),
    "send": Origin("live", "send", "Send a file with the engine's TCP."),
    "recv": Origin("live", "recv", "Receive one connection into a file with the engine's TCP."),
    "path": Origin(
        "live_path", "path", "Run a scenario in real time, with the kernel's TCP or the engine at its ends."
    ),
    "shell": Origin(
        "live_shell", "shell", "Run any program behind a scenario's path, in real time; its exit code is passed on."
    ),
}
live = Lazy("live", origins=COMMANDS, help="Run the engine on a network device, against real kernels (Linux).")

stack_option = click.option(
    "--stack", default="linux-2025", metavar="NAME", shell_complete=complete_stack, help="The engine's stack."
)
realtime = click.option("--realtime", is_flag=True, help="Request real-time priority (SCHED_FIFO).")


def mtu(of: str) -> Decorator:
    """The option ``--mtu``."""
    return click.option(
        "--mtu", default=1500, metavar="N", type=click.IntRange(68, 65535), help=f"MTU of {of}, in bytes."
    )


def transport(peer: str) -> Decorator:
    """The options of a file's transfer, which the engine takes by name; ``peer`` says what its file is for."""
    options = [
        click.option(
            "--tun",
            metavar="NAME",
            help="TUN device that you created and routed. "
            "Default: a new one in its own namespace, with the kernel as the peer.",
        ),
        click.option("--peer", metavar="FILE", help=f"Without --tun: {peer}"),
        stack_option,
        mtu("the new device"),
        click.option("--offload", is_flag=True, help="Allow packets that are trains of segments."),
        realtime,
        click.option("--pcap", metavar="FILE", help="File for a capture of the device, as pcapng."),
        as_json("text"),
    ]

    def decorate(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _end(*_: object) -> NoReturn:
    raise SystemExit(TERMINATED)


@contextmanager
def ends_cleanly() -> Iterator[None]:
    """Context in which SIGTERM ends the work like Ctrl-C."""
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def run(what: str) -> Iterator[Callable[[float], object]]:
    """Context of every live run: one message for an error, a progress bar, and a clean end on Ctrl-C or SIGTERM."""
    with ends_cleanly(), refusals(), shown_share(what) as progress:
        yield progress


def say(line: str) -> None:
    """Print a run's first line to standard error, because standard output may carry the received bytes."""
    click.echo(line, err=True)


def _choice(name: str, values: Sequence[str], text: str) -> Decorator:
    return click.option(name, type=click.Choice(values), default=BOTH, help=text)


@click.command(epilog=BENCH_EXAMPLES)
@click.option("--bytes", "bytes_", default="1 GB", metavar="SIZE", help="Size of each transfer.")
@_choice("--offload", ["on", "off", BOTH], "Whether to allow packets that are trains of segments.")
@_choice("--direction", ["send", "receive", BOTH], "Direction, as seen from the engine.")
@_choice("--ip", ["4", "6", BOTH], "Which IP.")
@stack_option
@mtu("the new device")
@realtime
@click.option("--pcap", type=PATH, metavar="DIR", help="Folder for a capture of each transfer.")
@as_json("text")
def bench(
    bytes_: str,
    offload: str,
    direction: str,
    ip: str,
    stack: str,
    mtu: int,
    realtime: bool,
    pcap: Path | None,
    as_json: bool,
) -> None:
    """Measure transfers to and from this kernel in new namespaces. The exit code is 1 if bytes differ."""
    plan = [
        (sends, v6, train)
        for train in _chosen(offload, "off", "on")
        for sends in reversed(_chosen(direction, "receive", "send"))
        for v6 in _chosen(ip, "4", "6")
    ]
    entries: list[dict[str, Any]] = []
    with run("measuring") as progress:
        if pcap is not None:
            pcap.mkdir(parents=True, exist_ok=True)
        for n, (sends, v6, train) in enumerate(plan):
            name = f"{'send' if sends else 'receive'}-{'v6' if v6 else 'v4'}-{'offload' if train else 'plain'}.pcapng"
            file = None if pcap is None else str(pcap / name)

            def report(share: float, n: int = n) -> None:
                progress((n + share) / len(plan))

            entry = _native.live_bench(sends, v6, train, bytes_, mtu, stack, realtime, file, say, report)
            entries.append(json.loads(entry))
    if as_json:
        click.echo(json.dumps({"entries": entries}, indent=2))
    else:
        print_live_bench(entries)
    if not all(entry["hashes_equal"] for entry in entries):
        fail("the bytes received differ from the bytes sent", FAILED)


def _chosen(value: str, no: str, yes: str) -> list[bool]:
    """Both values, or the chosen one."""
    return [False, True] if value == BOTH else [value == yes]


@click.command(epilog=SEND_EXAMPLES)
@click.argument("file", help="File to send; - is standard input.")
@click.option("--to", required=True, metavar="ADDR:PORT", help="Destination; IPv6 as [ADDR]:PORT.")
@click.option("--from", "from_", metavar="ADDR[:PORT]", help="Local address. [default: next to --to]")
@transport("file for the data that the kernel receives.")
def send(file: str, to: str, from_: str | None, as_json: bool, **way: Any) -> None:  # noqa: ANN401 - see transport
    """Send a file with the engine's TCP."""
    _check(way)
    with run("sending") as progress:
        result = _native.live_send(file, to, from_, way, say, progress)
    _finish(json.loads(result), as_json, "sent", sys.stderr if way["peer"] == "-" else sys.stdout)


@click.command(epilog=RECV_EXAMPLES)
@click.option("--listen", required=True, metavar="ADDR:PORT", help="Address to listen on; IPv6 as [ADDR]:PORT.")
@click.option("-o", "--output", default="-", metavar="FILE", help="File to create; - is standard output.")
@transport("file that the kernel sends; - is standard input.")
def recv(listen: str, output: str, as_json: bool, **way: Any) -> None:  # noqa: ANN401 - see transport
    """Receive one connection into a file with the engine's TCP. The file gets its name when it is complete."""
    _check(way)
    with run("receiving") as progress:
        result = _native.live_recv(output, listen, way, say, progress)
    _finish(json.loads(result), as_json, "received", sys.stderr if output == "-" else sys.stdout)


def _check(way: Mapping[str, object]) -> None:
    """Refuse transport options that exclude each other."""
    tun, peer = way["tun"], way["peer"]
    if tun is not None and peer is not None:
        fail(f"command line: key `--peer`: found {peer} together with --tun {tun}, allowed: one of the two")


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
