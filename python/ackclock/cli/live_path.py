"""``ackclock live path``: a scenario with real TCPs at its ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ackclock import _native
from ackclock.cli.common import FAILED, PATH, SEED, as_json, fail, refusals
from ackclock.cli.live import realtime, run, say
from ackclock.cli.scenario import draw, parameters, plot_span, scenario_file, scenario_source, set_pairs
from ackclock.cli.virtual import Virtual, virtual
from ackclock.document.permission import LIVE, refusing
from ackclock.live import LiveResult, beside
from ackclock.tables.printed import print_live_path

if TYPE_CHECKING:
    from ackclock.live import LiveResult

EXAMPLES = """\b
Examples:
  ackclock live path paths.toml
  ackclock live path paths.toml --sender kernel:reno --seconds 10 --compare 8
  ackclock live path paths.toml --sender linux-2025 --set rto.min=300ms --realtime
  ackclock live path paths.toml --sender kernel:cubic --sender flow-2=rfc-6675 --json
  ackclock live path paths.toml --virtual 6.12 --sender kernel:bbr
  ackclock live path paths.toml --sysctl net.ipv4.tcp_timestamps=0 --pcap captures --trace run.parquet
"""
KERNELS = ("kernel:cubic", "kernel:reno", "kernel:bbr")


def _complete_sender(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    flow, given, begun = incomplete.rpartition("=")
    return [f"{flow}{given}{name}" for name in (*KERNELS, *_native.stack_names()) if name.startswith(begun)]


def _complete_receiver(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in ("kernel", *_native.stack_names()) if name.startswith(incomplete)]


@click.command(cls=Virtual, epilog=EXAMPLES)
@scenario_file
@click.option(
    "--sender",
    multiple=True,
    default=["kernel:cubic"],
    metavar="[FLOW=]TCP",
    shell_complete=_complete_sender,
    help="Sending TCP of all flows or of one: kernel:cubic, kernel:reno, kernel:bbr, or a stack. Repeatable.",
)
@click.option(
    "--receiver",
    default="kernel",
    metavar="TCP",
    shell_complete=_complete_receiver,
    help="Receiving TCP: kernel, or a stack.",
)
@click.option(
    "--compare",
    default=0,
    metavar="N",
    type=click.IntRange(0, 10**6),
    help="Number of seeds to simulate for comparison.",
)
@click.option("--seconds", metavar="N", help="Length of the run. [default: the scenario's duration]")
@click.option("--seed", metavar="N", type=SEED, help="Seed of the path's random events.")
@parameters
@click.option("--sysctl", multiple=True, metavar="KEY=VALUE", help="Kernel setting of the new namespaces. Repeatable.")
@click.option("--trace", type=PATH, metavar="FILE", help="File for the events (.csv or .parquet).")
@click.option("--plot", type=PATH, metavar="FILE", help="File for a plot of the first flow (.png or .svg).")
@click.option("--pcap", type=PATH, metavar="DIR", help="Folder for a capture of each side.")
@click.option("--pcap-snap", type=int, metavar="BYTES", help="Bytes to keep of each packet. Default: all.")
@realtime
@virtual("running", lambda parameters: parameters["scenario"] == "-")
@as_json("text")
def path(
    scenario: str,
    sender: tuple[str, ...],
    receiver: str,
    compare: int,
    seconds: str | None,
    seed: int | None,
    set_: tuple[str, ...],
    sysctl: tuple[str, ...],
    trace: Path | None,
    plot: Path | None,
    pcap: Path | None,
    pcap_snap: int | None,
    realtime: bool,
    as_json: bool,
) -> None:
    """Run a scenario in real time, with the kernel's TCP or the engine at its ends."""
    span = plot_span(plot, None, None)
    pairs, (file, text) = set_pairs(set_), scenario_source(scenario)
    settings = [_setting(option) for option in sysctl]
    to, folder = None if trace is None else str(trace), None if pcap is None else str(pcap)
    with run("running") as progress, refusing(LIVE):
        ran = _native.live_path(
            file,
            text,
            pairs,
            list(sender),
            receiver,
            seconds,
            seed,
            settings,
            to,
            folder,
            pcap_snap,
            realtime,
            say,
            progress,
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
        click.echo(json.dumps(result.to_dict(), indent=2))
    else:
        print_live_path(result.to_dict())
