"""Across the papers: every stack on the paths of all papers, a comparison that no single paper makes."""

from __future__ import annotations

import ackclock
from ackclock import files
from ackclock.papers.paper import Section, Table, Work

from . import pictures
from .compare import NEAR, Cell, Comparison, conclusions
from .paths import FAMILIES, PATHS, family, point


def compare(work: Work) -> Comparison:
    """Run every stack on every path.

    Raises:
        OSError: a paper's scenario is missing, or a result could not be stored.
        ValueError: a scenario is invalid.
    """
    stacks = ackclock.stacks()
    points = [(path, stack["name"]) for path in PATHS for stack in stacks]
    tasks = [point(path, stack, work.folder, work.effort) for path, stack in points]
    ran = work.lab.run("all stacks on all paths", tasks)
    cells = {(path.key, stack): Cell.of(runs) for (path, stack), runs in zip(points, ran, strict=True)}
    return Comparison(cells, {stack["name"]: family(stack) for stack in stacks})


def sections(work: Work) -> list[Section]:
    """The sections of the page.

    Raises:
        OSError, ValueError: see ``compare``; or a file could not be written.
    """
    c = compare(work)
    files.write_csv(work.out / "points.csv", rows(c))
    kinds = [f"{name}: {what}." for name, what in FAMILIES.items()]
    how = (
        "Each path has the links, the transfer and the receiver of a paper's scenario, and every stack its own "
        "parameters instead of the paper's. Goodput is the data acknowledged by all flows together, divided by their "
        "duration; a retransmission is needless if an earlier copy of the data was not dropped."
    )
    return [
        Section("What follows", conclusions(c), [pictures.headline(c, work.out), pictures.of_all(c, work.out)]),
        Section("All numbers", [how, f"Kinds of stacks. {' '.join(kinds)}"], tables=[table(c)]),
        Section("Path by path", pictures=[pictures.of_path(c, path, work.out) for path in PATHS]),
    ]


def table(c: Comparison) -> Table:
    """A line for each stack, sorted by its worst path, best first."""
    ordered = sorted(c.families, key=lambda stack: -c.worst(stack)[0])
    lines = [
        [stack, c.families[stack]]
        + [f"{100 * c.share(path, stack):.0f} / {c.needless(path, stack):.2g}" for path in PATHS]
        + [f"{100 * c.worst(stack)[0]:.0f}", f"{len(c.near(stack))}"]
        for stack in ordered
    ]
    near = f"paths within {100 * (1 - NEAR):.0f} %"
    title = "Goodput, % of the best on the path / needless retransmissions, % of packets sent"
    return Table(title, ["stack", "kind", *(path.title for path in PATHS), "worst goodput", near], lines)


def rows(c: Comparison) -> list[dict[str, object]]:
    """The lines of points.csv."""
    return [
        {
            "path": path.key,
            "stack": stack,
            "kind": kind,
            "goodput_bytes_per_s": f"{cell.goodput.value:.1f}",
            "goodput_half_width_95": f"{cell.goodput.half:.1f}",
            "needless_percent": f"{cell.needless.value:.4f}",
            "needless_half_width_95": f"{cell.needless.half:.4f}",
            "timeouts": f"{cell.timeouts.value:.2f}",
            "seeds": cell.goodput.n,
            "runs": cell.identity,
            "version": ackclock.__version__,
        }
        for path in PATHS
        for stack, kind in c.families.items()
        for cell in [c.cells[path.key, stack]]
    ]
