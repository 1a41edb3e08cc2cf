"""``ackclock reproduce``; the work is done by ``ackclock.papers``, which is loaded when the command is called."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ackclock import _native, shared
from ackclock.cli.common import FAILED, KEPT, PATH, fail, on, refusals, store, threads
from ackclock.progress import Report, shown

if TYPE_CHECKING:
    from ackclock.papers.one import Wish
    from ackclock.papers.paper import Extra, Paper

EXTRA = "papers"
EXAMPLES = """\b
Examples:
  ackclock reproduce
  ackclock reproduce --quick --out quick
  ackclock reproduce blanton-allman-2002 --seeds 10
  ackclock reproduce across --on dask:4
  ackclock reproduce ../my-paper
  ackclock reproduce hoe-1995 --readings --quick
  ackclock reproduce --list
"""


def _complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Keys of papers, taken from the names of folders without reading them."""
    found = sorted(file.parent.name for file in _papers().glob("*/pa[gp]e*.toml"))
    return [key for key in found if key.startswith(incomplete)]


def _chosen(named: Sequence[str], folder: Path) -> list[Paper | Extra]:
    """The papers named by key or folder, each once; without names, all in the folder of papers."""
    from ackclock.papers import folder as folders  # noqa: PLC0415 - needs the extra `papers`

    known = folders.every(folder)
    elsewhere = {name for name in named if name not in known and (os.sep in name or Path(name).exists())}
    if not known and elsewhere != set(named or ("",)):
        fail(
            f"command line: key `--papers`: found no paper in {folder}, allowed: a folder of papers, "
            "as `ackclock examples papers --copy-to .` writes one"
        )
    chosen: dict[str, Paper | Extra] = {}
    for name in named or known:
        if name not in known and name not in elsewhere:
            fail(f'command line: key `NAME`: found "{name}", allowed: {", ".join(known)}; or a paper\'s folder')
        one = known[name] if name in known else folders.read(Path(name))
        if chosen.setdefault(one.key, one).folder != one.folder:
            both = f"{chosen[one.key].folder} and {one.folder}"
            fail(f"command line: key `NAME`: found two papers with the key {one.key}, {both}, allowed: one of them")
    return list(chosen.values())


def _papers() -> Path:
    """The folder `papers` of the working directory if it has papers, else the one in this package."""
    here = Path("papers")
    return here if any(here.glob("*/paper.toml")) else shared.PAPERS


def _list(folder: Path, out: Path, as_json: bool) -> None:
    """Print the papers and pages that can be run."""
    with refusals(extra=EXTRA):
        from ackclock.papers import sizes  # noqa: PLC0415 - needs the extra `papers`

        rows = sizes.listing(_chosen([], folder), folder, out)
    click.echo(json.dumps(rows, indent=2, ensure_ascii=False) if as_json else "\n".join(sizes.lines(rows)))


@click.command(epilog=EXAMPLES)
@click.argument(
    "name",
    nargs=-1,
    metavar="[NAME|FOLDER]...",
    shell_complete=_complete,
    help="Papers and extra pages, or a folder with your own paper, whose Python code is run. "
    "Default: all of `--papers`.",
)
@click.option("--quick", is_flag=True, help="Few, short runs: seconds instead of minutes.")
@click.option("--full", is_flag=True, help="As many runs, and as long, as in the papers. This is the default.")
@click.option(
    "--seeds", metavar="N", type=click.IntRange(2, 100_000), help="Runs per point, instead of the papers' numbers."
)
@click.option("--out", type=PATH, default="results", metavar="DIR", help="Folder for the results.")
@click.option(
    "--papers",
    type=PATH,
    metavar="DIR",
    help="Folder of papers. [default: papers, or the papers installed with Ackclock]",
)
@store
@on
@threads
@click.option("--fresh", is_flag=True, help="Repeat finished runs.")
@click.option(
    "--readings",
    is_flag=True,
    help="Also run each paper under the declared readings of its open choices, with few, short runs. Without "
    "`--quick`, the best readings are then run in full.",
)
@click.option(
    "--lab",
    metavar="URL",
    help="Address of a lab page for the report's links.  [default: the one that `ackclock lab` serves]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary, or the list, as JSON.")
@click.option("--list", "listed", is_flag=True, help="List the papers and their sizes; run nothing.")
@click.option(
    "--copy-to",
    type=PATH,
    metavar="DIR",
    help="Also copy the figures here, and RESULTS.md and claims.json beside the scenarios.",
)
def reproduce(
    name: tuple[str, ...],
    quick: bool,
    full: bool,
    seeds: int | None,
    out: Path,
    papers: Path | None,
    store: Path | None,
    on: str | None,
    threads: int | None,
    fresh: bool,
    readings: bool,
    lab: str | None,
    as_json: bool,
    listed: bool,
    copy_to: Path | None,
) -> None:
    """Run published papers again: draw their figures, judge every claim.

    Writes report.html, which leads to a page for each paper, and claims.json. Finished runs are kept in the store:
    after an interruption the same command continues. Exit code 1: a point is outside the range that another simulator's
    values allow.
    """
    if quick and full:
        fail("command line: key `--quick`: found --full as well, allowed: one of them")
    folder = papers or _papers()
    if listed:
        _list(folder, out, as_json)
        return
    with refusals(extra=EXTRA):
        from ackclock.papers.one import Wish  # noqa: PLC0415 - needs the extra `papers`

        named = list(dict.fromkeys(name))
        what = _chosen(named, folder)
    if lab is not None and not lab.startswith(("http://", "https://")):
        fail(f'command line: key `--lab`: found "{lab}", allowed: an address that begins with http:// or https://')
    if not _made(
        Wish(what, named, folder, out, quick, seeds, fresh, copy_to, store, on, threads, readings, lab), as_json
    ):
        raise click.exceptions.Exit(FAILED)


def _made(wish: Wish, as_json: bool) -> bool:
    """Reproduce the papers and print the results; return whether all comparisons are good."""
    installed = not shared.PAPERS.is_symlink()
    if wish.copy_to is not None and installed and any(one.folder.parent == shared.PAPERS for one in wish.what):
        fail(
            "command line: key `--copy-to`: found papers of the installed package, allowed: your own copies, as "
            "`ackclock examples papers --copy-to .` writes them"
        )
    begun: list[str] = []
    with refusals(lambda: KEPT if begun else "", EXTRA):
        from ackclock.papers import reproduce as papers  # noqa: PLC0415 - needs the extra `papers`

        def show(what: str) -> AbstractContextManager[Report]:
            begun.append(what)
            return shown(what, at_once=True)

        done = papers.reproduce(wish, show)
    if as_json:
        answer = {"ackclock": _native.__version__, "out": str(wish.out), **papers.as_json(done)}
        click.echo(json.dumps(answer, indent=2, ensure_ascii=False))
    else:
        click.echo(papers.summary(done, wish.out))
    return done.good
