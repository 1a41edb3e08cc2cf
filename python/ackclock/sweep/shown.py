"""Sweeps for people: tables of means, and the list of sweeps. Imported late, because rich takes long to load."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ackclock.sweep.columns import FLOW_NUMBERS, MEASURED
from ackclock.sweep.manifest import Manifest
from ackclock.tables.columns import HALF, shown
from ackclock.tables.printed import cell
from ackclock.tables.terminal import console, empty_table

if TYPE_CHECKING:
    import polars as pl

SHOWN_ROWS = 60
_SHOWN = {one.name: look for one, look in shown("flow")}


def cells(summary: pl.DataFrame, manifest: Manifest, columns: Sequence[str] = ()) -> tuple[list[str], list[list[str]]]:
    """Titles, and a row of texts for each point and flow; limited to the first points if there are very many.

    Args:
        summary: the sweep's means.
        manifest: the sweep's manifest, which lists the varied parameters.
        columns: the means to show. Default: the usual ones that have values.
    """
    # A column of stack or flow is useless if it is the same in every row.
    more = [name for name in ("stack", "flow") if name not in manifest.parameters and summary[name].n_unique() > 1]
    about = [*manifest.parameters, *more]
    # A mean without values is null; counts that are rarely above zero are hidden if all are zero.
    known = {name: look for name, look in _SHOWN.items() if look.brief and summary[name].count()}
    chosen = columns or [name for name, look in known.items() if not look.seldom or summary[name].sum()]
    titles = [_SHOWN[name].heading if name in _SHOWN else name for name in chosen]
    rows = [
        [str(row[name]) for name in about] + [_mean(row, name) for name in chosen]
        for row in summary.head(SHOWN_ROWS).to_dicts()
    ]
    runs = summary["runs"]
    if runs.n_unique() > 1:
        rows = [[*row, str(n)] for row, n in zip(rows, runs, strict=False)]
        titles.append("runs")
    return [*about, *titles], rows


def _mean(row: dict[str, Any], name: str) -> str:
    digits = 0 if (FLOW_NUMBERS | MEASURED)[name] is int else 3
    scale, digits = (_SHOWN[name].scale, _SHOWN[name].digits) if name in _SHOWN else (1.0, digits)
    return cell({"mean": row[name], "half_width_95": row[name + HALF]}, scale, digits)


def print_means(summary: pl.DataFrame, manifest: Manifest, columns: Sequence[str] = ()) -> None:
    """Print the means of each point."""
    titles, rows = cells(summary, manifest, columns)
    table = empty_table(titles, left={*manifest.parameters, "stack", "flow"})
    for row in rows:
        table.add_row(*row)
    out = console()
    out.print(table)
    if summary.height > SHOWN_ROWS:
        how = f"ackclock results export {shlex.quote(manifest.name)} FILE --summary"
        out.print(f"… {summary.height - SHOWN_ROWS:,} more rows: {how}", markup=False, soft_wrap=True)


def print_list(lines: Sequence[dict[str, Any]]) -> None:
    """Print the sweeps of a store."""
    table = empty_table(("sweep", "points", "runs", "finished", "revision"), left={"sweep", "finished"})
    for line in lines:
        runs = f"{line['runs']:,}" if line["kept"] == line["runs"] else f"{line['kept']:,} of {line['runs']:,}"
        table.add_row(line["name"], f"{line['points']:,}", runs, line["finished"] or "no", str(line["revision"]))
    console().print(table)
