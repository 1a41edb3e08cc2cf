"""``ackclock live path``: a scenario with real TCPs at its ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ackclock import _native
from ackclock.cli.common import FAILED, fail, refusals
from ackclock.cli.live import AsJson, Realtime, run, say
from ackclock.cli.scenario import Scenario, Set, draw, plot_span, scenario_source, set_pairs
from ackclock.permission import LIVE, refusing

if TYPE_CHECKING:
    from ackclock.live import LiveResult

EXAMPLES = """\b
Examples:
  ackclock live path paths.toml
  ackclock live path paths.toml --sender kernel:reno --seconds 10 --compare 8
  ackclock live path paths.toml --sender linux-2025 --set rto.min=300ms --realtime
  ackclock live path paths.toml --sender kernel:cubic --sender flow-2=rfc-6675 --json
  ackclock live path paths.toml --sysctl net.ipv4.tcp_timestamps=0 --pcap captures --trace run.parquet
"""
KERNELS = ("kernel:cubic", "kernel:reno", "kernel:bbr")


def _complete_sender(incomplete: str) -> list[str]:
    flow, given, begun = incomplete.rpartition("=")
    return [f"{flow}{given}{name}" for name in (*KERNELS, *_native.stack_names()) if name.startswith(begun)]


def _complete_receiver(incomplete: str) -> list[str]:
    return [name for name in ("kernel", *_native.stack_names()) if name.startswith(incomplete)]


def path(
    scenario: Scenario,
    sender: Annotated[
        list[str],
        typer.Option(
            help="Sending TCP of all flows or of one: kernel:cubic, kernel:reno, kernel:bbr, or a stack. Repeatable.",
            metavar="[FLOW=]TCP",
            autocompletion=_complete_sender,
        ),
    ] = ["kernel:cubic"],  # noqa: B006 - Typer copies it
    receiver: Annotated[
        str,
        typer.Option(help="Receiving TCP: kernel, or a stack.", metavar="TCP", autocompletion=_complete_receiver),
    ] = "kernel",
    compare: Annotated[
        int, typer.Option(help="Number of seeds to simulate for comparison.", metavar="N", min=0, max=10**6)
    ] = 0,
    seconds: Annotated[
        str | None, typer.Option(help="Length of the run. [default: the scenario's duration]", metavar="N")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Seed of the path's random events.", min=0, max=2**63 - 1)
    ] = None,
    set_: Set = [],  # noqa: B006 - Typer copies it
    sysctl: Annotated[
        list[str], typer.Option(help="Kernel setting of the new namespaces. Repeatable.", metavar="KEY=VALUE")
    ] = [],  # noqa: B006 - Typer copies it
    trace: Annotated[Path | None, typer.Option(help="File for the events (.csv or .parquet).", metavar="FILE")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="File for a plot of the first flow (.png or .svg).", metavar="FILE")
    ] = None,
    pcap: Annotated[Path | None, typer.Option(help="Folder for a capture of each side.", metavar="DIR")] = None,
    pcap_snap: Annotated[
        int | None, typer.Option(help="Bytes to keep of each packet. Default: all.", metavar="BYTES")
    ] = None,
    realtime: Realtime = False,
    as_json: AsJson = False,
) -> None:
    """Run a scenario in real time, with the kernel's TCP or the engine at its ends."""
    from ackclock.live import LiveResult, beside  # noqa: PLC0415 - start-up time

    span = plot_span(plot, None, None)
    pairs, (file, text) = set_pairs(set_), scenario_source(scenario)
    settings = [_setting(option) for option in sysctl]
    to, folder = None if trace is None else str(trace), None if pcap is None else str(pcap)
    with run("running") as progress, refusing(LIVE):
        ran = _native.live_path(
            file, text, pairs, sender, receiver, seconds, seed, settings, to, folder, pcap_snap, realtime, say, progress
        )
    with run("simulating") as progress:
        result = LiveResult(ran, to, beside(ran, compare, progress))
    _print(result, as_json)
    if plot is not None:
        with refusals():
            draw(plot, result, span)
    for damaged in result.about["damaged"]:
        fail(f"{damaged['flow']}: byte {damaged['byte']} of the stream differs from the byte sent", FAILED)


def _setting(option: str) -> tuple[str, str]:
    key, given, value = option.partition("=")
    if not given:
        fail(f"command line: key `--sysctl`: found {option}, allowed: key=value, as in net.ipv4.tcp_sack=0")
    return key.strip(), value.strip()


def _print(result: LiveResult, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(result.to_dict(), indent=2))
    else:
        from ackclock.tables.printed import print_live_path  # noqa: PLC0415 - start-up time

        print_live_path(result.to_dict())
