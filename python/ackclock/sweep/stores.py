"""Whole stores: checks, repairs, and copies of one store in another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ackclock import files
from ackclock.runs.store import FILE, Store, damage
from ackclock.runs.store.keys import key_of_run
from ackclock.sweep import manifest as manifests
from ackclock.sweep import table
from ackclock.sweep.manifest import Manifest

ASIDE = ".damaged"
"""Suffix of a damaged file that has been renamed."""


@dataclass
class _Place:
    """The place of a store that may be too damaged to open."""

    folder: Path


def check(folder: Path) -> list[str]:
    """List the damage in a store, one line each.

    Raises:
        OSError: there is no store, or it cannot be read.
    """
    found, there = damage.check(folder), _Place(folder)
    lines = [] if found.whole else [found.sentence(folder / FILE)]
    for name in manifests.names(there):
        try:
            read = manifests.read(there, name)
        except OSError as error:
            lines.append(str(error))
        else:
            lines += [f"{_table(there, name)}: damaged"] if _is_damaged(read, there) else []
    return lines


def repair(folder: Path) -> list[str]:
    """Keep all undamaged parts; return the actions taken, one line each.

    Damaged files are kept under new names. No other process may use the store during the repair.

    Raises:
        OSError: there is no store, or it cannot be written.
    """
    found = damage.check(folder)
    lines = []
    if not found.whole:
        aside = damage.repair(folder)
        lines.append(f"{folder / FILE}: {found.good:,} runs are kept; the old file is now {aside.name}")
    with Store(folder) as store:
        for name in manifests.names(store):
            lines += _mended(store, name)
    return lines


def merge(folder: Path, store: Store) -> list[str]:
    """Copy the content of another store into a store; return remarks, one line each.

    Args:
        folder: the folder of the other store, which is not changed.
        store: receives all its runs, or none, and the sweeps whose names it does not have.

    Raises:
        OSError: a store cannot be read or written, the other one is damaged, or a run is in both with different
            trace hashes.
    """
    lines, there = [], _Place(folder)
    with Store(folder, create=False) as other:
        runs = ((_own(other, key, run), run, cost) for key, run, cost in other.every())
        new = store.take(runs)
        lines.append(f"{store.folder}: {new:,} new runs")
        for name in manifests.names(there):
            theirs = manifests.read(there, name)
            if name not in manifests.names(store):
                content = table.intact(theirs, other)
                _keep(store, theirs, content)
            elif _plan_of(manifests.read(store, name)) != _plan_of(theirs):
                lines.append(f"{name}: another sweep has this name and is kept; the runs are merged")
    return lines


def _own(store: Store, key: str, run: str) -> str:
    """The key of a run, computed from its content."""
    try:
        if key_of_run(run) == key:
            return key
    except (ValueError, KeyError, TypeError):
        pass
    raise OSError(f"{store.file}: the run {key} is damaged: `ackclock results repair` keeps the others")


def _plan_of(manifest: Manifest) -> Manifest:
    return replace(manifest, finished=None, sha256=None)


def _keep(store: Store, manifest: Manifest, content: bytes | None) -> None:
    """Write a sweep with its original table; a sweep without a table continues when it is requested."""
    mine = manifest if content is not None else _plan_of(manifest)
    mine.write(store)
    if content is not None:
        files.write(_table(store, manifest.name), content)


def _table(store: manifests.Placed, name: str) -> Path:
    return manifests.folder_of(store, name) / manifests.TABLE


def _is_damaged(manifest: Manifest, store: manifests.Placed) -> bool:
    return manifest.finished is not None and table.intact(manifest, store) is None


def _mended(store: Store, name: str) -> list[str]:
    """Rename a damaged manifest; rebuild a damaged table, or let its sweep continue if runs are missing."""
    file = manifests.folder_of(store, name) / manifests.FILE
    try:
        manifest = manifests.read(store, name)
    except OSError:
        aside = file.with_name(file.name + ASIDE)
        file.replace(aside)
        return [f"{file}: set aside as {aside.name}; the same sweep writes it again"]
    if not _is_damaged(manifest, store):
        return []
    try:
        table.save(manifest, store)
    except KeyError:
        _keep(store, manifest, None)
        _table(store, name).unlink(missing_ok=True)
        return [f"{_table(store, name)}: missing; the same sweep writes it"]
    return [f"{_table(store, name)}: rebuilt from the kept runs"]
