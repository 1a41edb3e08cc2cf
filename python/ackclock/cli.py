"""The command ``ackclock``: thin, quick to start, one message and exit code 2 on bad input."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from ackclock import _native
from ackclock.errors import ScenarioError

BAD_INPUT = 2
INTERRUPTED = 130
RUN_EXAMPLES = """\b
Examples:
  ackclock run paths.toml
  ackclock run paths.toml --stack rfc-6675 --seed 1 --json
  ackclock run paths.toml --set rto.tick=500ms --trace events.parquet
"""

app = typer.Typer(
    name="ackclock",
    help="A laboratory for TCP loss recovery under packet reordering and bursty loss.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"ackclock {_native.__version__}")
        raise typer.Exit


def _complete_stack(incomplete: str) -> list[str]:
    return [name for name in _native.stack_names() if name.startswith(incomplete)]


def _fail(message: str, code: int = BAD_INPUT) -> NoReturn:
    typer.echo(f"ackclock: {message}", err=True)
    raise typer.Exit(code)


@contextmanager
def _progress() -> Iterator[Callable[[float], object] | None]:
    """Show a bar on a terminal once a second has gone by; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    import time  # noqa: PLC0415 - start-up time

    began, bar = time.monotonic(), None

    def show(share: float) -> None:
        nonlocal bar
        if bar is None and time.monotonic() - began > 1:
            from rich.console import Console  # noqa: PLC0415 - start-up time
            from rich.progress import Progress  # noqa: PLC0415 - start-up time

            bar = Progress(console=Console(stderr=True), transient=True)
            bar.add_task("simulating", total=1.0)
            bar.start()
        if bar is not None:
            bar.update(bar.task_ids[0], completed=share)

    try:
        yield show
    finally:
        if bar is not None:
            bar.stop()


def _pairs(options: list[str]) -> list[tuple[str, str]]:
    pairs = [tuple(option.split("=", 1)) for option in options]
    for option, pair in zip(options, pairs, strict=True):
        if len(pair) != 2:  # noqa: PLR2004 - a pair
            _fail(f"command line: key `--set`: found {option}, allowed: path=value, as in rto.tick=500ms")
    return [(pair[0].strip(), pair[1].strip()) for pair in pairs]


@app.callback()
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)] = (
        False
    ),
) -> None:
    pass


@app.command(epilog=RUN_EXAMPLES)
def run(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="Scenario file in TOML; - is standard input.")],
    stack: Annotated[
        str | None, typer.Option(help="Stack for every flow.", autocompletion=_complete_stack, metavar="NAME")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Run only this seed.", min=0, max=2**63 - 1)] = None,
    set_: Annotated[
        list[str], typer.Option("--set", help="Parameter of every flow's stack; repeatable.", metavar="PATH=VALUE")
    ] = [],  # noqa: B006 - Typer copies it
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    trace: Annotated[
        Path | None, typer.Option(help="Write the first run's events here (.csv or .parquet).", metavar="FILE")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(metavar="N", help="Runs at once; default: one for each core.", min=1)
    ] = None,
) -> None:
    """Run a scenario, once for each of its seeds, and print what came out."""
    pairs = _pairs(set_)
    try:
        text = sys.stdin.buffer.read().decode() if scenario == "-" else None
    except UnicodeDecodeError as error:
        _fail(f"<stdin>: found {error.reason}, allowed: text in UTF-8")
    file = scenario if text is None else "<stdin>"
    to = None if trace is None else str(trace)
    try:
        with _progress() as progress:
            result = _native.run_json(file, text, stack, pairs, seed, to, threads, progress)
    except ScenarioError as error:
        _fail(str(error))
    except OSError as error:
        _fail(str(error), 1)
    except KeyboardInterrupt:
        _fail("interrupted", INTERRUPTED)
    if as_json:
        typer.echo(result)
    else:
        from ackclock.tables import print_run  # noqa: PLC0415 - start-up time

        print_run(json.loads(result))


@app.command(epilog="\b\nExamples:\n  ackclock stacks\n  ackclock stacks --json")
def stacks(as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False) -> None:
    """List the stacks: each a name for one choice of components."""
    result = _native.stacks_json()
    if as_json:
        typer.echo(result)
    else:
        from ackclock.tables import print_stacks  # noqa: PLC0415 - start-up time

        every: list[dict[str, Any]] = json.loads(result)
        print_stacks(every)


def main() -> None:
    """Run the command."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
