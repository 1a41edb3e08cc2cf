"""Whole stores: what of one is damaged, and a copy of one in another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ackclock import files
from ackclock.runs import damage
from ackclock.runs.keys import key_of_run
from ackclock.runs.store import FILE, Store
from ackclock.sweep import manifest as manifests
from ackclock.sweep import table
from ackclock.sweep.manifest import Manifest

ASIDE = ".damaged"
"""What the name of a file ends in that is damaged and has been put aside."""


@dataclass
class _Place:
    """Where a store is that may be too damaged to be opened."""

    folder: Path


def check(folder: Path) -> list[str]:
    """What is damaged in a store, a line each.

    Raises:
        OSError: there is no store, or it cannot be read.
    """
    found, there = damage.check(folder), _Place(folder)
    said = [] if found.whole else [found.said(folder / FILE)]
    for name in manifests.names(there):
        try:
            read = manifests.read(there, name)
        except OSError as error:
            said.append(str(error))
        else:
            said += [f"{_table(there, name)}: damaged"] if _is_damaged(read, there) else []
    return said


def repair(folder: Path) -> list[str]:
    """Keep all that is not damaged; what was done, a line each.

    Damaged files are put aside under names of their own. Nobody else may use the store meanwhile.

    Raises:
        OSError: there is no store, or it cannot be written.
    """
    found = damage.check(folder)
    said = []
    if not found.whole:
        aside = damage.repair(folder)
        said.append(f"{folder / FILE}: {found.good:,} runs are kept; the file that was there is {aside.name}")
    with Store(folder) as store:
        for name in manifests.names(store):
            said += _mended(store, name)
    return said


def merge(folder: Path, store: Store) -> list[str]:
    """Keep in a store what another one has; what there is to say of it, a line each.

    Args:
        folder: of the other one, in which nothing is changed.
        store: takes its runs, all or none, and those of its sweeps whose names it does not have.

    Raises:
        OSError: a store cannot be read or written, something in the other one is damaged, or a run is in both with
            different trace hashes.
    """
    said, there = [], _Place(folder)
    with Store(folder, create=False) as other:
        runs = ((_own(other, key, run), run, cost) for key, run, cost in other.every())
        new = store.take(runs)
        said.append(f"{store.folder}: {new:,} new runs")
        for name in manifests.names(there):
            theirs = manifests.read(there, name)
            if name not in manifests.names(store):
                content = table.intact(theirs, other)
                _keep(store, theirs, content)
            elif _plan_of(manifests.read(store, name)) != _plan_of(theirs):
                said.append(f"{name}: another sweep of this name is there, which stays; its runs are merged")
    return said


def _own(store: Store, key: str, run: str) -> str:
    """The key of a run, which is a hash of what stands in it."""
    try:
        if key_of_run(run) == key:
            return key
    except (ValueError, KeyError, TypeError):
        pass
    raise OSError(f"{store.file}: the run {key} is damaged: `ackclock results repair` keeps the others")


def _plan_of(manifest: Manifest) -> Manifest:
    return replace(manifest, finished=None, sha256=None)


def _keep(store: Store, manifest: Manifest, content: bytes | None) -> None:
    """Write a sweep whose table is as it was; without a table it goes on when it is asked for."""
    mine = manifest if content is not None else _plan_of(manifest)
    mine.write(store)
    if content is not None:
        files.write(_table(store, manifest.name), content)


def _table(store: manifests.Placed, name: str) -> Path:
    return manifests.folder_of(store, name) / manifests.TABLE


def _is_damaged(manifest: Manifest, store: manifests.Placed) -> bool:
    return manifest.finished is not None and table.intact(manifest, store) is None


def _mended(store: Store, name: str) -> list[str]:
    """Put aside a damaged manifest; make a damaged table anew, or let its sweep go on where runs are missing."""
    file = manifests.folder_of(store, name) / manifests.FILE
    try:
        manifest = manifests.read(store, name)
    except OSError:
        aside = file.with_name(file.name + ASIDE)
        file.replace(aside)
        return [f"{file}: put aside as {aside.name}; the same sweep writes it anew"]
    if not _is_damaged(manifest, store):
        return []
    try:
        table.save(manifest, store)
    except KeyError:
        _keep(store, manifest, None)
        _table(store, name).unlink(missing_ok=True)
        return [f"{_table(store, name)}: gone; the same sweep makes what is missing"]
    return [f"{_table(store, name)}: made anew of the kept runs"]
