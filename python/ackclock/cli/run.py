"""``ackclock run``: runs of a scenario."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ackclock import _native
from ackclock.cli.common import AllowPython, Threads, refusals
from ackclock.cli.scenario import (
    Scenario,
    Seed,
    Seeds,
    Set,
    complete_stack,
    draw,
    plot_span,
    scenario_source,
    set_pairs,
)
from ackclock.permission import allowing

EXAMPLES = """\b
Examples:
  ackclock run paths.toml
  ackclock run paths.toml --stack reno --stack newreno --stack rfc-6675 --seeds 30
  ackclock run paths.toml --stack rfc-6675 --seed 1 --json
  ackclock run paths.toml --stack rack-tlp --stack 'rack-tlp,rto.min=1 s' --seeds 30
  ackclock run paths.toml --set rto.tick=500ms --trace events.parquet
  ackclock run paths.toml --seeds 1 --pcap captures
  ackclock run paths.toml --seed 1 --plot course.svg
  ackclock run paths.toml --plot course.svg --plot-from 1.2s --plot-to 2s
"""


@contextmanager
def _progress() -> Iterator[Callable[[float], object]]:
    """Show the fraction of the runs that is done."""
    from ackclock.progress import Told, shown  # noqa: PLC0415 - start-up time

    with shown("simulating") as tell:
        yield lambda share: tell(Told(share, 1, 0))


def run(
    scenario: Scenario,
    stack: Annotated[
        list[str],
        typer.Option(
            help="Stack for every flow, optionally with parameters: NAME,PATH=VALUE. Repeat to compare stacks.",
            autocompletion=complete_stack,
            metavar="NAME",
        ),
    ] = [],  # noqa: B006 - Typer copies it
    seed: Seed = None,
    seeds: Seeds = None,
    set_: Set = [],  # noqa: B006 - Typer copies it
    measures: Annotated[
        bool, typer.Option("--measures", help="Measure totals, delays, completion times and links.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    trace: Annotated[
        Path | None, typer.Option(help="File for the first run's events (.csv or .parquet).", metavar="FILE")
    ] = None,
    pcap: Annotated[
        Path | None, typer.Option(help="Folder for captures of both sides of every run.", metavar="DIR")
    ] = None,
    pcap_at: Annotated[
        str | None, typer.Option(help="Also capture at this node between the ends.", metavar="NODE")
    ] = None,
    pcap_snap: Annotated[
        int | None, typer.Option(help="Bytes to keep of each packet. Default: 96.", metavar="BYTES")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="File for a plot of the first run's first flow (.png or .svg).", metavar="FILE")
    ] = None,
    plot_from: Annotated[str | None, typer.Option(help='Start of the plot, as in "1.2 s".', metavar="TIME")] = None,
    plot_to: Annotated[str | None, typer.Option(help="End of the plot.", metavar="TIME")] = None,
    threads: Threads = None,
    allow_python: AllowPython = False,
) -> None:
    """Run a scenario once for each stack and seed, and print the results."""
    span = plot_span(plot, plot_from, plot_to)
    pairs, (file, text) = set_pairs(set_), scenario_source(scenario)
    to = None if trace is None else str(trace)
    with refusals(), allowing(allow_python), _progress() as progress:
        captures = _captures(pcap, pcap_at, pcap_snap)
        runs = _native.run(file, text, stack, pairs, seed, seeds, to, captures, threads, progress, measures)
    if as_json:
        typer.echo(runs.json())
    else:
        from ackclock.tables.printed import print_run  # noqa: PLC0415 - start-up time

        print_run(json.loads(runs.json()))
    if plot is not None:
        from ackclock.result import Again, Result  # noqa: PLC0415 - start-up time

        # After the numbers, so that they are printed even if the picture fails.
        with refusals(), _progress() as progress:
            again = Again(file, text, stack[0] if stack else None, tuple(pairs), allow_python)
            draw(plot, Result(runs, partial(again, progress=progress), to), span)


def _captures(folder: Path | None, at: str | None, snap: int | None) -> tuple[str, str | None, int | None] | None:
    """Where captures go and what they contain; ``None`` if no captures are wanted."""
    if folder is None and at is None and snap is None:
        return None
    from ackclock.api import capturing  # noqa: PLC0415 - start-up time

    return capturing(folder, at, snap)
