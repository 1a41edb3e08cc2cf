"""Shared by the commands that take a scenario: its file, its settings, and a picture of its first flow."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

from ackclock import _native
from ackclock.cli.common import SEED, fail, refusals

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLOT_ENDINGS = (".png", ".svg")


def complete_stack(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of stacks."""
    return [name for name in _native.stack_names() if name.startswith(incomplete)]


def complete_path(*endings: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """A completion with folders, and files with these endings; hidden ones if the name begins with a dot."""

    def complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
        folder, _, begun = incomplete.rpartition("/")
        at = f"{folder}/" if "/" in incomplete else ""
        try:
            found = sorted(Path(at or ".").iterdir())
        except OSError:
            return []
        shown = [path for path in found if path.name.startswith(begun) and (begun or not path.name.startswith("."))]
        return [f"{at}{p.name}/" if p.is_dir() else f"{at}{p.name}" for p in shown if p.is_dir() or p.suffix in endings]

    return complete


scenario_file = click.argument(
    "scenario", help="Scenario file in TOML; - is standard input.", shell_complete=complete_path(".toml")
)
parameters = click.option(
    "--set",
    "set_",
    multiple=True,
    metavar="PATH=VALUE",
    help="Parameter of every flow's stack. Repeatable.",
)
first_seed = click.option("--seed", metavar="N", type=SEED, help="First seed; without --seeds, the only one.")
number_of_seeds = click.option(
    "--seeds", metavar="N", type=click.IntRange(1, 10**6), help="Number of consecutive seeds from the first."
)


def set_pairs(options: Sequence[str]) -> list[tuple[str, str]]:
    """Split options of the form `path=value`."""
    pairs = [tuple(option.split("=", 1)) for option in options]
    for option, pair in zip(options, pairs, strict=True):
        if len(pair) != 2:  # noqa: PLR2004 - a pair
            fail(f"command line: key `--set`: found {option}, allowed: path=value, as in rto.tick=500ms")
    return [(pair[0].strip(), pair[1].strip()) for pair in pairs]


def scenario_source(scenario: str) -> tuple[str, str | None]:
    """The scenario's name for messages, and its text if that came from standard input."""
    try:
        return ("<stdin>", sys.stdin.buffer.read().decode()) if scenario == "-" else (scenario, None)
    except UnicodeDecodeError as error:
        fail(f"<stdin>: found {error.reason}, allowed: text in UTF-8")


def plot_span(plot: Path | None, begin: str | None, end: str | None) -> tuple[float | None, float | None]:
    """The start and end of the picture, in seconds; errors in the options are reported before the runs."""
    if plot is None:
        for option, text in (("--plot-from", begin), ("--plot-to", end)):
            if text is not None:
                fail(f'command line: key `{option}`: found "{text}" without a plot, allowed: with --plot FILE')
        return None, None
    if plot.suffix.lower() not in PLOT_ENDINGS:
        fail(
            f'command line: key `--plot`: found "{plot}", allowed: a file name that ends in {" or ".join(PLOT_ENDINGS)}'
        )
    with refusals():
        start = None if begin is None else _native.seconds("--plot-from", begin)
        stop = None if end is None else _native.seconds("--plot-to", end)
    if stop is not None and stop <= (start or 0.0):
        fail(f'command line: key `--plot-to`: found "{end}", allowed: a time after {begin or "0 s"}')
    return start, stop


class Drawn(Protocol):
    """An object that can be drawn: a result or a capture."""

    def plot(self, *, start: float | None, stop: float | None) -> Figure:
        """Return its figure."""


def draw(plot: Path, result: Drawn, span: tuple[float | None, float | None]) -> None:
    """Draw the first flow of the first run, or the largest of a capture."""
    try:
        from ackclock.plot import save  # noqa: PLC0415 - needs matplotlib
    except ImportError as error:
        missing = (error.name or "matplotlib").partition(".")[0]
        fail(f'--plot needs {missing}, which is not installed: pip install "ackclock[plot]"', 1)
    try:
        save(result.plot(start=span[0], stop=span[1]), plot)
    except RuntimeError as error:
        fail(str(error), 1)
    except ValueError as error:
        key, _, said = str(error).partition(": ")
        fail(f"command line: key `--plot`: {said}" if key == "plot" else str(error))
