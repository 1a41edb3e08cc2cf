"""The kernels that were built: a folder for each, with the program and its identity."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ackclock.document import nearest
from ackclock.errors import LiveError

PLACE = "ACKCLOCK_KERNELS"
"""The environment variable with the folder of the kernels."""
PROGRAM, CONFIGURATION, IDENTITY = "linux", "config", "kernel.json"
_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z._+-]{0,63}")
_BAD_INPUT, _FAILED = 2, 1


@dataclass(frozen=True)
class Kernel:
    """The identity of a kernel that was built."""

    name: str
    version: str
    """As the kernel calls itself: 6.12.117."""
    hz: int
    """Timer ticks a second."""
    configuration: str
    """SHA-256 of its configuration."""
    program: str
    """SHA-256 of its program."""
    source: str
    """What it was built from."""
    changes: Sequence[str]
    """What was changed in the copy of the source."""
    compiler: str

    def identity(self) -> dict[str, object]:
        """Return what a result says about its kernel. It does not depend on the name."""
        about = dataclasses.asdict(self)
        return {key: about[key] for key in ("version", "hz", "configuration", "program")}

    def in_a_line(self) -> str:
        """Return what people are told about it."""
        hashes = f"configuration {self.configuration[:12]}, program {self.program[:12]}"
        return f"Linux {self.version}, {self.hz} Hz, {hashes}"


def folder() -> Path:
    """Return where kernels are kept: ``$ACKCLOCK_KERNELS``, or ``ackclock/kernels`` in the user's cache."""
    if given := os.environ.get(PLACE):
        return Path(given).absolute()
    cache = os.environ.get("XDG_CACHE_HOME", "")
    # A relative path is to be ignored (XDG Base Directory Specification).
    base = Path(cache) if cache.startswith("/") else Path.home() / ".cache"
    return base / "ackclock" / "kernels"


def place(name: str) -> Path:
    """Return the folder of a kernel that may not exist yet.

    Raises:
        LiveError: it is no name.
    """
    if not _NAME.fullmatch(name):
        allowed = "up to 64 letters, digits and ._+-, beginning with a letter or digit"
        raise LiveError(f'command line: found the kernel\'s name "{name}", allowed: {allowed}', _BAD_INPUT)
    return folder() / name


def every() -> list[Kernel]:
    """Return the kernels, by name; folders without a readable identity are left out."""
    found = [_read(file) for file in sorted(folder().glob(f"*/{IDENTITY}")) if _NAME.fullmatch(file.parent.name)]
    return sorted((kernel for kernel in found if kernel is not None), key=lambda kernel: _by_number(kernel.name))


def find(name: str | None) -> Kernel:
    """Return a kernel by its name; without one, the only kernel there is.

    Raises:
        LiveError: there is none, or a choice between several.
    """
    kernels = every()
    names = [kernel.name for kernel in kernels]
    if not kernels:
        what = f'found the kernel "{name}"' if name else "found no kernel"
        raise LiveError(f"command line: {what}, allowed: one that was built with ackclock kernel build", _BAD_INPUT)
    if not name:
        if len(kernels) > 1:
            allowed = f"the name of one of {', '.join(names)}"
            raise LiveError(f"command line: found {len(kernels)} kernels and no name, allowed: {allowed}", _BAD_INPUT)
        return kernels[0]
    for kernel in kernels:
        if kernel.name == name:
            return kernel
    meant = nearest(name, names)
    hint = f"; did you mean {meant}?" if meant else ""
    allowed = f"one of {', '.join(names)}"
    raise LiveError(f'command line: found the kernel "{name}", allowed: {allowed}{hint}', _BAD_INPUT)


def program(kernel: Kernel) -> Path:
    """Return the file of its program."""
    return place(kernel.name) / PROGRAM


def damage(kernel: Kernel) -> str | None:
    """Return what differs from its identity; ``None`` if nothing does."""
    for file, told in ((PROGRAM, kernel.program), (CONFIGURATION, kernel.configuration)):
        path = place(kernel.name) / file
        try:
            found = sha256(path)
        except OSError as error:
            return str(error)
        if found != told:
            return f"{path}: found another file than the one that was built"
    return None


def remove(name: str) -> None:
    """Delete a kernel.

    Raises:
        LiveError: there is none with this name.
        OSError: it cannot be deleted.
    """
    where = place(find(name).name)
    # Under another name first: what is deleted halfway is no kernel any more.
    gone = where.with_name(f".{name}.removed-{os.getpid()}")
    where.rename(gone)
    shutil.rmtree(gone)


def sha256(path: Path) -> str:
    """Return a file's hash."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def written(kernel: Kernel) -> str:
    """Return the content of its identity's file."""
    return json.dumps(dataclasses.asdict(kernel), indent=2) + "\n"


def _read(file: Path) -> Kernel | None:
    try:
        return Kernel(**{**json.loads(file.read_text(encoding="utf-8")), "name": file.parent.name})
    except (OSError, ValueError, TypeError):
        return None


def _by_number(name: str) -> list[tuple[bool, int, str]]:
    """Sorts 6.9 before 6.12."""
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", name)]
