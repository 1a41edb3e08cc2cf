"""The table of a sweep: a row for each run and flow, built from the store."""

from __future__ import annotations

import io
import tomllib
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from ackclock import files
from ackclock.late import pl
from ackclock.runs.store import Store
from ackclock.statistics import known_interval
from ackclock.sweep import manifest as manifests
from ackclock.sweep.columns import FLOW_NUMBERS, MEANS, MEASURED
from ackclock.sweep.manifest import Manifest
from ackclock.sweep.points import as_cell
from ackclock.sweep.rows import unpacked
from ackclock.sweep.writing import written
from ackclock.tables.columns import HALF

_CHUNK = 5_000
"""Runs that are unpacked at a time, because their JSON takes far more memory than their columns."""


def content(manifest: Manifest, store: Store, present: set[str] | None = None) -> bytes:
    """Build the table in memory, as a Parquet file; equal rows give equal bytes.

    Args:
        manifest: manifest of the sweep.
        store: the store with its runs.
        present: the keys that the store has. Default: all of them.

    Raises:
        KeyError: a run is missing.
        OSError: the store cannot be read.
    """
    into = io.BytesIO()
    written(_pieces(manifest, store, present), _schema(manifest), into)
    return into.getvalue()


def save(manifest: Manifest, store: Store) -> bytes:
    """Write the table into the sweep's folder, if that is writable.

    Returns:
        The file's content.

    Raises:
        KeyError: a run is missing.
        OSError: the disk is full, or the folder is not writable.
    """
    if not store.writable:
        return content(manifest, store)
    with files.replacing(manifests.folder_of(store, manifest.name) / manifests.TABLE) as opened:
        written(_pieces(manifest, store), _schema(manifest), opened)
        opened.seek(0)
        return opened.read()


def _pieces(manifest: Manifest, store: Store, present: set[str] | None = None) -> Iterator[pl.DataFrame]:
    """Yield the rows, sorted by point, seed and flow, with columns fixed by the plan."""
    schema, measured = _schema(manifest), _is_measured(manifest)
    wanted = (
        (at, seed, key)
        for at, point in enumerate(manifest.points)
        for seed, key in zip(point.seeds, point.keys, strict=True)
        if present is None or key in present
    )
    cells = _cells(manifest, schema)
    while some := list(islice(wanted, _CHUNK)):
        ats, seeds, keys = zip(*some, strict=True)
        about = pl.DataFrame({"point": ats, "seed": seeds}, schema={"point": pl.Int64, "seed": pl.Int64})
        rows = unpacked(about, list(store.runs(keys)), measured)
        rows = rows.hstack(cells[rows["point"]].drop("point"))
        yield rows.select(list(schema))


def intact(manifest: Manifest, store: manifests.Placed) -> bytes | None:
    """Return the file with the table, if it is unchanged since it was written."""
    try:
        content = (manifests.folder_of(store, manifest.name) / manifests.TABLE).read_bytes()
    except FileNotFoundError:
        return None
    return content if manifests.digest(content) == manifest.sha256 else None


def summary(frame: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """Means over the seeds: a row for each point and flow.

    Columns: ``point``, the parameters, ``stack``, ``flow``, ``runs``, ``finished_runs``, and for each number its mean
    and ``…_ci95``, half the width of its 95 % confidence interval (null for one run). A number that some runs lack
    is averaged over the other runs.
    """
    means = [*MEANS, *(name for name in MEASURED if name in frame.columns)]
    about = ["point", *_shown(manifest), "stack", "flow"]
    grouped = frame.group_by(*about, maintain_order=True).agg(
        pl.len().alias("runs"), pl.col("finish_s").count().alias("finished_runs"), *(pl.col(name) for name in means)
    )
    columns: list[pl.Series] = [grouped[name] for name in (*about, "runs", "finished_runs")]
    for name in means:
        intervals = [known_interval(values) for values in grouped[name].to_list()]
        columns.append(pl.Series(name, [mean for mean, _ in intervals], pl.Float64))
        columns.append(pl.Series(name + HALF, [half for _, half in intervals], pl.Float64))
    return pl.DataFrame(columns).with_columns(pl.col("runs", "finished_runs").cast(pl.Int64))


def _shown(manifest: Manifest) -> list[str]:
    """The parameters that get a column; ``stack`` always has one."""
    return [name for name in manifest.parameters if name != "stack"]


def _schema(manifest: Manifest) -> dict[str, Any]:

    kinds = {int: pl.Int64, float: pl.Float64, str: pl.String}
    schema: dict[str, Any] = {"point": pl.Int64}
    for at, name in enumerate(manifest.parameters):
        if name != "stack":
            found = {type(as_cell(point.values[at])) for point in manifest.points}
            # Text and numbers together become text.
            schema[name] = kinds[str if str in found else float if float in found else int]
    schema |= {"stack": pl.String, "flow": pl.String, "seed": pl.Int64, "duration_s": pl.Float64}
    schema |= {name: kinds[kind] for name, kind in FLOW_NUMBERS.items()}
    if _is_measured(manifest):
        schema |= {name: kinds[kind] for name, kind in MEASURED.items()}
    return schema | {"identity": pl.String, "trace_hash": pl.String}


def _is_measured(manifest: Manifest) -> bool:
    """Whether the runs of any point have measures."""
    varied = any(name.startswith("run.measures") for name in manifest.parameters)
    return varied or bool(tomllib.loads(manifest.scenario).get("run", {}).get("measures", False))


def _cells(manifest: Manifest, schema: Mapping[str, Any]) -> pl.DataFrame:
    """The parameters of each point: a column for each that is shown."""
    found = {"point": pl.Series(range(len(manifest.points)), dtype=pl.Int64)}
    for at, name in enumerate(manifest.parameters):
        if name != "stack":
            values = [as_cell(point.values[at]) for point in manifest.points]
            texts = schema[name] == pl.String
            found[name] = pl.Series([str(v) for v in values] if texts else values, dtype=schema[name])
    return pl.DataFrame(found)
