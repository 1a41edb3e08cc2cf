"""The command ``ackclock``: thin, quick to start, one message and exit code 2 on bad input."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ackclock import _native, api
from ackclock.cli_capture import EXAMPLES as CAPTURE_EXAMPLES
from ackclock.cli_capture import command as capture
from ackclock.cli_common import BAD_INPUT, INTERRUPTED, AllowPython, fail, refusals
from ackclock.cli_conform import EXAMPLES as CONFORM_EXAMPLES
from ackclock.cli_conform import command as conform
from ackclock.cli_examples import EXAMPLES as EXAMPLES_EXAMPLES
from ackclock.cli_examples import examples
from ackclock.cli_lab import EXAMPLES as LAB_EXAMPLES
from ackclock.cli_lab import lab
from ackclock.cli_live import app as live
from ackclock.cli_live_path import EXAMPLES as LIVE_PATH_EXAMPLES
from ackclock.cli_live_path import path as live_path
from ackclock.cli_live_shell import EXAMPLES as LIVE_SHELL_EXAMPLES
from ackclock.cli_live_shell import shell as live_shell
from ackclock.cli_reproduce import EXAMPLES as REPRODUCE_EXAMPLES
from ackclock.cli_reproduce import reproduce
from ackclock.cli_results import app as results
from ackclock.cli_scenario import Scenario, Set, complete_stack, draw, plot_span, scenario_source, set_pairs
from ackclock.cli_study import EXAMPLES as STUDY_EXAMPLES
from ackclock.cli_study import study
from ackclock.cli_sweep import EXAMPLES as SWEEP_EXAMPLES
from ackclock.cli_sweep import sweep
from ackclock.cli_tune import EXAMPLES as TUNE_EXAMPLES
from ackclock.cli_tune import tune
from ackclock.result import Again, Result
from ackclock.slots.permission import allowing

RUN_EXAMPLES = """\b
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
MAIN_EXAMPLES = """\b
Examples:
  ackclock new scenario.toml
  ackclock run scenario.toml --stack reno --stack rfc-6675
  ackclock COMMAND --help
"""
SHOW_EXAMPLES = """\b
Examples:
  ackclock show paths.toml
  ackclock show paths.toml --stack dsack-avg > all.toml
"""
NEW_EXAMPLES = """\b
Examples:
  ackclock new
  ackclock new swaps.toml
  ackclock new - | ackclock run -
"""

app = typer.Typer(
    name="ackclock",
    help="A laboratory for TCP loss recovery under packet reordering and bursty loss.",
    epilog=MAIN_EXAMPLES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"ackclock {_native.__version__}")
        raise typer.Exit


@contextmanager
def _progress() -> Iterator[Callable[[float], object]]:
    """Show the fraction of the runs that is done."""
    from ackclock.progress import Told, shown  # noqa: PLC0415 - start-up time

    with shown("simulating") as tell:
        yield lambda share: tell(Told(share, 1, 0))


@app.callback()
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)] = (
        False
    ),
) -> None:
    pass


Seed = Annotated[
    int | None, typer.Option(metavar="N", help="First seed; without --seeds, the only one.", min=0, max=2**63 - 1)
]
Seeds = Annotated[
    int | None, typer.Option(metavar="N", help="Number of consecutive seeds from the first.", min=1, max=10**6)
]


@app.command(epilog=RUN_EXAMPLES)
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
    threads: Annotated[
        int | None, typer.Option(metavar="N", help="Runs in parallel. Default: one per core.", min=1)
    ] = None,
    allow_python: AllowPython = False,
) -> None:
    """Run a scenario once for each stack and seed, and print the results."""
    span = plot_span(plot, plot_from, plot_to)
    pairs, (file, text) = set_pairs(set_), scenario_source(scenario)
    to = None if trace is None else str(trace)
    with refusals(), allowing(allow_python), _progress() as progress:
        captures = api.capturing(pcap, pcap_at, pcap_snap)
        runs = _native.run(file, text, stack, pairs, seed, seeds, to, captures, threads, progress, measures)
    if as_json:
        typer.echo(runs.json())
    else:
        from ackclock.tables import print_run  # noqa: PLC0415 - start-up time

        print_run(json.loads(runs.json()))
    if plot is not None:
        # After the numbers, so that they are printed even if the picture fails.
        with refusals(), _progress() as progress:
            again = Again(file, text, stack[0] if stack else None, tuple(pairs), allow_python)
            draw(plot, Result(runs, partial(again, progress=progress), to), span)


@app.command(epilog=SHOW_EXAMPLES)
def show(
    scenario: Scenario,
    stack: Annotated[
        str | None, typer.Option(help="Stack for every flow.", autocompletion=complete_stack, metavar="NAME")
    ] = None,
    seed: Seed = None,
    seeds: Seeds = None,
    set_: Set = [],  # noqa: B006 - Typer copies it
    allow_python: AllowPython = False,
) -> None:
    """Print a scenario with every default as equivalent TOML."""
    pairs, (file, text) = set_pairs(set_), scenario_source(scenario)
    with refusals(), allowing(allow_python):
        typer.echo(_native.show_toml(file, text, stack, pairs, seed, seeds), nl=False)


@app.command(epilog=NEW_EXAMPLES)
def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to create; - is standard output.")] = Path(
        "scenario.toml"
    ),
) -> None:
    """Write a commented scenario to start from. An existing file is kept."""
    if str(file) == "-":
        typer.echo(api.starter(), nl=False)
        return
    try:
        api.new(file)
    except FileExistsError:
        fail(f"{file}: found a file, allowed: a name that does not exist yet")
    except OSError as error:
        fail(str(error), 1)
    typer.echo(f"{file}: written; next: ackclock run {shlex.quote(str(file))}")


@app.command(epilog="\b\nExamples:\n  ackclock stacks\n  ackclock stacks --json")
def stacks(as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False) -> None:
    """List the stacks. Each is a named combination of components."""
    result = _native.stacks_json()
    if as_json:
        typer.echo(result)
    else:
        from ackclock.tables import print_stacks  # noqa: PLC0415 - start-up time

        every: list[dict[str, Any]] = json.loads(result)
        print_stacks(every)


app.command(epilog=EXAMPLES_EXAMPLES)(examples)
app.command(epilog=REPRODUCE_EXAMPLES)(reproduce)
app.command(epilog=LAB_EXAMPLES)(lab)
app.command(epilog=SWEEP_EXAMPLES)(sweep)
app.command(epilog=STUDY_EXAMPLES)(study)
app.add_typer(results, name="results")
live.command(name="path", epilog=LIVE_PATH_EXAMPLES)(live_path)
live.command(name="shell", epilog=LIVE_SHELL_EXAMPLES)(live_shell)
app.add_typer(live, name="live")
app.command(name="capture", epilog=CAPTURE_EXAMPLES)(capture)
app.command(name="conform", epilog=CONFORM_EXAMPLES)(conform)
app.command(epilog=TUNE_EXAMPLES)(tune)


@app.command(epilog="\b\nExamples:\n  ackclock schema > scenario.schema.json")
def schema() -> None:
    """Print the JSON Schema of scenario files, for completion and checks in editors."""
    typer.echo(_native.schema_json(), nl=False)


def main() -> None:
    """Run the command."""
    try:
        code = app(standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(INTERRUPTED)
    except OSError as error:
        typer.echo(f"ackclock: standard output: {error}", err=True)
        # Prevents a second attempt to write, with a second error message, when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        # Errors of the parser have no public base class in some versions of Typer.
        if not hasattr(error, "format_message"):
            raise
        sys.exit(_misused(error))
    sys.exit(code or 0)


def _misused(error: Any) -> int:  # noqa: ANN401 - the parser's
    """Print the error in a command line on one line, or the help if there are no arguments; return the exit code."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
    else:
        command = getattr(getattr(error, "ctx", None), "command_path", "ackclock")
        said = " ".join(error.format_message().split()).rstrip(".")
        typer.echo(f"ackclock: command line: {said}; see {command} --help", err=True)
    return BAD_INPUT
