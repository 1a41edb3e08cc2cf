"""``ackclock run``: runs of a scenario."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import click

from ackclock import _native
from ackclock.cli.common import PATH, allow_python, as_json, refusals, threads
from ackclock.cli.scenario import (
    complete_stack,
    draw,
    first_seed,
    number_of_seeds,
    parameters,
    plot_span,
    scenario_file,
    scenario_source,
    set_pairs,
)
from ackclock.document.permission import allowing
from ackclock.progress import shown_share

EXAMPLES = """\b
Examples:
  ackclock run paths.toml
  ackclock run paths.toml --stack reno --stack newreno --stack rfc-6675 --seeds 30
  ackclock run paths.toml --stack rfc-6675 --seed 1 --json
  ackclock run paths.toml --stack rack-tlp --stack 'rack-tlp,rto.min=1 s' --seeds 30
  ackclock run paths.toml --set rto.tick=500ms --trace events.parquet
  ackclock run paths.toml --seeds 1 --pcap captures
  ackclock run paths.toml --stack reno --seed 1 --stalls
  ackclock run paths.toml --seed 1 --plot course.svg
  ackclock run paths.toml --stack kernel:cubic@6.12 --stack linux-2025 --seeds 30
  ackclock run paths.toml --plot course.svg --plot-from 1.2s --plot-to 2s
"""


@click.command(epilog=EXAMPLES)
@scenario_file
@click.option(
    "--stack",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_stack,
    help="Stack for every flow, optionally with parameters: NAME,PATH=VALUE; or a kernel's of ackclock kernel list: "
    "kernel:cubic@NAME,sysctl.KEY=VALUE. Repeat to compare stacks.",
)
@first_seed
@number_of_seeds
@parameters
@click.option("--measures", is_flag=True, help="Measure totals, delays, completion times and links.")
@click.option("--stalls", is_flag=True, help="Explain why transfers stood still.")
@as_json()
@click.option("--trace", type=PATH, metavar="FILE", help="File for the first run's events (.csv or .parquet).")
@click.option("--pcap", type=PATH, metavar="DIR", help="Folder for captures of both sides of every run.")
@click.option("--pcap-at", metavar="NODE", help="Also capture at this node between the ends.")
@click.option("--pcap-snap", type=int, metavar="BYTES", help="Bytes to keep of each packet. Default: 96.")
@click.option("--plot", type=PATH, metavar="FILE", help="File for a plot of the first run's first flow (.png or .svg).")
@click.option("--plot-from", metavar="TIME", help='Start of the plot, as in "1.2 s".')
@click.option("--plot-to", metavar="TIME", help="End of the plot.")
@threads
@allow_python
def run(
    scenario: str,
    stack: tuple[str, ...],
    seed: int | None,
    seeds: int | None,
    set_: tuple[str, ...],
    measures: bool,
    stalls: bool,
    as_json: bool,
    trace: Path | None,
    pcap: Path | None,
    pcap_at: str | None,
    pcap_snap: int | None,
    plot: Path | None,
    plot_from: str | None,
    plot_to: str | None,
    threads: int | None,
    allow_python: bool,
) -> None:
    """Run a scenario once for each stack and seed, and print the results."""
    span = plot_span(plot, plot_from, plot_to)
    pairs, (file, text) = set_pairs(set_), scenario_source(scenario)
    to = None if trace is None else str(trace)
    if any(one.startswith("kernel:") for one in stack):
        from ackclock.cli import run_kernels  # noqa: PLC0415 - for kernels alone

        options = {"--set": set_, "--measures": measures, "--stalls": stalls, "--pcap-at": pcap_at, "--plot": plot}
        run_kernels.refuse({option: bool(value) for option, value in options.items()})
        run_kernels.run(
            (file, text), stack, (seed, seeds), as_json=as_json, trace=trace, pcap=pcap, snap=pcap_snap, threads=threads
        )
        return
    with refusals(), allowing(allow_python), shown_share("simulating") as progress:
        captures = _captures(pcap, pcap_at, pcap_snap)
        runs = _native.run(
            file, text, list(stack), pairs, seed, seeds, to, captures, threads, progress, measures, stalls
        )
    if as_json:
        click.echo(runs.json())
    else:
        from ackclock.tables.printed import print_run  # noqa: PLC0415 - not with --json

        print_run(json.loads(runs.json()))
    if plot is not None:
        from ackclock.result import Again, Result  # noqa: PLC0415 - not with --json

        # After the numbers, so that they are printed even if the picture fails.
        with refusals(), shown_share("simulating") as progress:
            again = Again(file, text, stack[0] if stack else None, tuple(pairs), allow_python)
            draw(plot, Result(runs, partial(again, progress=progress), to), span)


def _captures(folder: Path | None, at: str | None, snap: int | None) -> tuple[str, str | None, int | None] | None:
    """Where captures go and what they contain; ``None`` if no captures are wanted."""
    if folder is None and at is None and snap is None:
        return None

    from ackclock.api import capturing  # noqa: PLC0415 - for --pcap alone

    return capturing(folder, at, snap)
