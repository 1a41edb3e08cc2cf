"""The results of a sweep, and the list of sweeps in a store."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from functools import cached_property
from html import escape
from os import PathLike
from typing import Any

from ackclock.late import pl
from ackclock.runs.store import Store
from ackclock.sweep import manifest as manifests
from ackclock.sweep import table
from ackclock.sweep.manifest import Manifest
from ackclock.sweep.shown import cells


class Sweep:
    """The runs of a sweep, as tables. Polars is loaded with the first table.

    Attributes:
        manifest: the plan, its points, and the keys of their runs.
        notes: remarks for the user: that a damaged file was rebuilt, or that runs are missing.
    """

    def __init__(self, manifest: Manifest, content: bytes, notes: tuple[str, ...] = ()) -> None:
        """Keep the manifest and the Parquet file of the table."""
        self.manifest, self._content, self.notes = manifest, content, notes

    @property
    def name(self) -> str:
        """The name of the plan."""
        return self.manifest.name

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Every number of every run: a row for each point, seed and flow.

        Columns: ``point`` (its position in the plan), one column for each varied parameter, named by its path,
        ``stack``, ``flow``, ``seed``, and the numbers of :attr:`ackclock.Result.frame`.
        """
        return pl.read_parquet(io.BytesIO(self._content))

    @cached_property
    def summary(self) -> pl.DataFrame:
        """Means over the seeds: a row for each point and flow.

        Columns: ``point``, the parameters, ``stack``, ``flow``, ``runs``, ``finished_runs`` (runs in which the flow
        ended), and for each number its mean and ``…_ci95``, half the width of its 95 % confidence interval (null for
        one run). A number that some runs lack, such as ``finish_s``, is averaged over the other runs.
        """
        return table.summary(self.frame, self.manifest)

    @property
    def points(self) -> list[dict[str, Any]]:
        """The values of each point's parameters, in the plan's order."""
        return [dict(zip(self.manifest.parameters, p.values, strict=True)) for p in self.manifest.points]

    def __repr__(self) -> str:
        """The name, and the sizes of the tables."""
        return f"<ackclock.Sweep: {self._sentence}>"

    def _repr_html_(self) -> str:
        """The means, for notebooks; limited to the first points if there are very many."""
        head, rows = cells(self.summary, self.manifest)
        said = f"{escape(self._sentence)}; means ± half the 95 % confidence interval"
        said += f"; the first {len(rows)} rows" if len(rows) < self.summary.height else ""
        top = "".join(f"<th>{escape(title)}</th>" for title in head)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        return f"<table><caption>{said}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"

    @property
    def _sentence(self) -> str:
        return f"{self.name}, {len(self.manifest.points):,} points, {self.manifest.runs:,} runs"


class Results(Mapping[str, Sweep]):
    """The sweeps of a store, by name."""

    def __init__(self, store: str | PathLike[str] | None = None) -> None:
        """Find the sweeps; see :func:`ackclock.results`."""
        with Store(store, create=False) as opened:
            self.folder = opened.folder
            self._names = manifests.names(opened)

    def __getitem__(self, name: str) -> Sweep:
        """Return a sweep; for an unfinished one, the runs finished so far.

        Raises:
            KeyError: there is no sweep of this name.
            OSError: the store cannot be read.
        """
        with Store(self.folder, create=False) as opened:
            return load(opened, name)

    def __iter__(self) -> Iterator[str]:
        """The names, in order."""
        return iter(self._names)

    def __len__(self) -> int:
        """The number of sweeps."""
        return len(self._names)

    def listed(self) -> list[dict[str, Any]]:
        """Describe each sweep: ``name``, ``points``, ``runs``, ``kept`` (stored runs), ``finished``, ``revision``.

        Sweeps with damaged manifests are left out; :meth:`damaged` lists them.

        Raises:
            OSError: the store cannot be read.
        """
        with Store(self.folder, create=False) as opened:
            return [_line(opened, one) for one in self._manifests(opened) if isinstance(one, Manifest)]

    def damaged(self) -> list[str]:
        """Describe the sweeps whose manifests cannot be read, one line each.

        Raises:
            OSError: the store cannot be read.
        """
        with Store(self.folder, create=False) as opened:
            return [str(one) for one in self._manifests(opened) if isinstance(one, OSError)]

    def _manifests(self, store: Store) -> Iterator[Manifest | OSError]:
        for name in self:
            try:
                yield manifests.read(store, name)
            except OSError as error:
                yield error

    def __repr__(self) -> str:
        """The folder, and the names."""
        return f"<ackclock.Results: {self.folder}: {', '.join(self) or 'no sweeps'}>"

    def _repr_html_(self) -> str:
        """The list, for notebooks."""
        lines = self.listed()
        head = "".join(f"<th>{key}</th>" for key in (lines[0] if lines else {"name": None}))
        rows = ("".join(f"<td>{escape(str(v))}</td>" for v in line.values()) for line in lines)
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def load(store: Store, name: str) -> Sweep:
    """Load a sweep from a store; see :meth:`Results.__getitem__`."""
    manifest = manifests.read(store, name)
    if manifest.finished is not None:
        content = table.intact(manifest, store)
        if content is not None:
            return Sweep(manifest, content)
        file = manifests.folder_of(store, name) / manifests.TABLE
        try:
            return Sweep(manifest, table.save(manifest, store), (f"{file}: damaged; rebuilt from the kept runs",))
        except KeyError:
            raise OSError(f"{file}: damaged, and {store.file} lacks runs of it: run the sweep again") from None
    present = store.kept(manifest.keys())
    content = table.content(manifest, store, present)
    note = f"{name}: {len(present):,} of {manifest.runs:,} runs are finished; the same sweep continues"
    return Sweep(manifest, content, (note,))


def _line(store: Store, manifest: Manifest) -> dict[str, Any]:
    return {
        "name": manifest.name,
        "points": len(manifest.points),
        "runs": manifest.runs,
        "kept": store.count(manifest.keys()),
        "finished": manifest.finished,
        "revision": manifest.results_revision,
    }
