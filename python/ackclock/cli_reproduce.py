"""``ackclock reproduce``; what it runs is in ``ackclock.papers`` and is loaded when it is called."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from ackclock import _native
from ackclock.papers import EXTRAS, MODULES

if TYPE_CHECKING:
    from ackclock.papers.paper import Extra, Paper

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
EXAMPLES = """\b
Examples:
  ackclock reproduce
  ackclock reproduce --quick --out quick
  ackclock reproduce blanton-allman-2002 --seeds 10
  ackclock reproduce --list
"""


def _complete(incomplete: str) -> list[str]:
    return [key for key in (*MODULES, *EXTRAS) if key.startswith(incomplete)]


def _fail(message: str, code: int = BAD_INPUT) -> NoReturn:
    typer.echo(f"ackclock: {' '.join(message.split())}", err=True)
    raise typer.Exit(code)


@contextmanager
def _refusals(out: Path) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        _fail(f"{error}: pip install 'ackclock[papers]'", FAILED)
    except OSError as error:
        _fail(str(error), FAILED)
    except ValueError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        _fail(f"interrupted; finished points are kept in {out}, the same command goes on", INTERRUPTED)


def _chosen(named: list[str], folder: Path) -> list[str]:
    """What was named, each once, or a message."""
    for key in named:
        if key not in MODULES and key not in EXTRAS:
            _fail(f'command line: key `NAME`: found "{key}", allowed: {", ".join([*MODULES, *EXTRAS])}')
    missing = [key for key in MODULES if key in (named or MODULES) and not (folder / key).is_dir()]
    if missing:
        _fail(
            f"command line: key `--papers`: found no folder {folder / missing[0]}, allowed: the folder papers/ of "
            "Ackclock's repository, which has the scenarios"
        )
    return list(dict.fromkeys(named))


def _papers() -> Path:
    """The folder in the working directory, or that of the repository which this package is run from."""
    both = Path("papers"), Path(__file__).resolve().parents[2] / "papers"
    return next((folder for folder in both if any((folder / key).is_dir() for key in MODULES)), both[0])


def _list(folder: Path, out: Path, as_json: bool) -> None:
    """Print what there is to run."""
    with _refusals(out):
        from ackclock.papers import sizes  # noqa: PLC0415 - start-up time
        from ackclock.papers.reproduce import load, load_extra  # noqa: PLC0415 - likewise

        every: list[Paper | Extra] = [*(load(key) for key in MODULES), *(load_extra(key) for key in EXTRAS)]
        rows = sizes.listing(every, folder, out)
    typer.echo(json.dumps(rows, indent=2, ensure_ascii=False) if as_json else "\n".join(sizes.lines(rows)))


def reproduce(
    name: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Which papers and extra pages; default: all.", autocompletion=_complete),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few, short runs: minutes become seconds.")] = False,
    full: Annotated[bool, typer.Option("--full", help="As many and as long runs as the papers; the default.")] = False,
    seeds: Annotated[
        int | None, typer.Option(metavar="N", help="Runs of each point, instead of the papers'.", min=2, max=100_000)
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the results.")] = Path("results"),
    papers: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder with the papers' scenarios.  [default: papers]", show_default=False),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run finished points again.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary, or the list, as JSON.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="Print what can be run, and how much it is; run nothing.")] = (
        False
    ),
    copy_to: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Copy the figures here, too, and RESULTS.md and claims.json beside the scenarios."
        ),
    ] = None,
) -> None:
    """Run published papers again: draw their figures, judge every claim.

    Writes report.html, which leads to a page for each paper, and claims.json. Finished points are kept: after an
    interruption the same command goes on. Exit code 1: a point lies outside what another simulator's values allow.
    """
    if quick and full:
        _fail("command line: key `--quick`: found --full as well, allowed: one of them")
    folder = papers or _papers()
    if listed:
        _list(folder, out, as_json)
        return
    keys = _chosen(name or [], folder)
    with _refusals(out):
        from ackclock.papers.reproduce import Wish, summary  # noqa: PLC0415 - start-up time
        from ackclock.papers.reproduce import as_json as data  # noqa: PLC0415 - likewise
        from ackclock.papers.reproduce import reproduce as run  # noqa: PLC0415 - likewise

        done = run(Wish(keys, folder, out, quick, seeds, fresh, copy_to))
    if as_json:
        said = {"ackclock": _native.__version__, "out": str(out), **data(done)}
        typer.echo(json.dumps(said, indent=2, ensure_ascii=False))
    else:
        typer.echo(summary(done, out))
    if not done.good:
        raise typer.Exit(FAILED)
