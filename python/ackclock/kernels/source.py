"""The source of a kernel: where it comes from, a copy of it, and what is changed in the copy."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ackclock.errors import LiveError

Report = Callable[[float], object]
_BAD_INPUT, _FAILED, _UNAVAILABLE = 2, 1, 3
_DEBIAN = Path("/usr/src")
_ARCHIVES = {".xz": "--xz", ".gz": "--gzip", ".bz2": "--bzip2", ".zst": "--zstd"}
_CHUNK = 1 << 20
_BUILT = {".o", ".a", ".ko", ".cmd", ".mod", ".order", ".symvers", ".d"}
"""Endings of files that a build makes."""
_BUILT_PLACES = re.compile(r"(^|/)(\.git|\.config.*|include/(config|generated)|arch/[^/]+/include/generated)$")

SEED = "ACKCLOCK_SEED"
"""The environment variable with the seed of a kernel's random numbers."""
RANDOM = f"""\
\t/* Ackclock: the same numbers in every run with the same seed (splitmix64). */
\tstatic unsigned long long state;
\tstatic int seeded;
\tunsigned char *to = buf;
\tsize_t i;

\tif (!seeded) {{
\t\tconst char *seed = getenv("{SEED}");

\t\tstate = (seed ? strtoull(seed, NULL, 10) : 0) * 0xd1342543de82ef95ULL;
\t\tseeded = 1;
\t}}
\tfor (i = 0; i < len; i++) {{
\t\tunsigned long long z = state += 0x9e3779b97f4a7c15ULL;

\t\tz = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
\t\tz = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
\t\tto[i] = z ^ (z >> 31);
\t}}
\treturn len;
"""


@dataclass(frozen=True)
class Source:
    """A kernel's source, which is only read."""

    path: Path
    """A tree, or an archive of one."""
    about: str

    @property
    def is_archive(self) -> bool:
        """Whether it must be unpacked."""
        return self.path.suffix in _ARCHIVES

    def copy(self, to: Path, report: Report) -> None:
        """Copy or unpack it into an existing folder.

        Raises:
            LiveError: it is no archive.
            OSError: a file cannot be read or written.
        """
        if self.is_archive:
            _unpack(self.path, to, report)
        else:
            _copy(self.path, to, report)
        if not (to / "arch" / "um" / "Kconfig").is_file():
            raise LiveError(f"{self.path}: found no arch/um/Kconfig, allowed: the source of a Linux kernel", _BAD_INPUT)


def of_debian(version: str) -> Source:
    """Return the source of Debian's package ``linux-source-VERSION``.

    Raises:
        LiveError: it is not installed.
    """
    package = f"linux-source-{version}"
    path = _DEBIAN / f"{package}.tar.xz"
    if not re.fullmatch(r"\d+\.\d+", version):
        raise LiveError(f'command line: key `--debian`: found "{version}", allowed: a version as in 6.12', _BAD_INPUT)
    if not path.is_file():
        there = ", ".join(sorted(file.name.removesuffix(".tar.xz") for file in _DEBIAN.glob("linux-source-*.tar.xz")))
        also = f" (installed: {there})" if there else ""
        raise LiveError(f"{path} is missing{also}; on Debian: apt install {package}", _UNAVAILABLE)
    revision = _said(["dpkg-query", "--show", "--showformat=${Version}", package])
    return Source(path, f"{package} {revision}".strip())


def of_user(path: Path) -> Source:
    """Return the source in a folder or an archive.

    Raises:
        LiveError: it is neither.
    """
    source = Source(path.absolute(), str(path.absolute()))
    if path.is_dir():
        if not (path / "arch" / "um" / "Kconfig").is_file():
            problem = f"{path}: found no arch/um/Kconfig, allowed: the source of a Linux kernel"
            raise LiveError(f"command line: key `--source`: {problem}", _BAD_INPUT)
        commit = _said(["git", "-C", str(path), "describe", "--always", "--dirty"])
        return Source(source.path, f"{source.path} {commit}".strip())
    if path.is_file() and source.is_archive:
        return source
    allowed = f"a folder, or an archive that ends in {', '.join(f'.tar{end}' for end in _ARCHIVES)}"
    raise LiveError(f"command line: key `--source`: found {path}, allowed: {allowed}", _BAD_INPUT)


@dataclass(frozen=True)
class _Change:
    """A piece of text that is replaced in a file."""

    file: str
    before: re.Pattern[str]
    after: str
    about: str
    needed: bool
    """Whether nothing works without it; else newer kernels do it themselves."""


def change(tree: Path, hz: int) -> list[str]:
    """Change a copy; return what was changed, a line each.

    Raises:
        LiveError: a place was not found.
    """
    done = []
    for one in _changes(hz):
        file = tree / one.file
        try:
            text = file.read_text(encoding="utf-8")
        except OSError:
            text = ""
        text, found = one.before.subn(lambda _, after=one.after: after, text)  # type: ignore[misc]
        if found == 1:
            file.write_text(text, encoding="utf-8")
            done.append(f"{one.file}: {one.about}")
        elif one.needed:
            raise LiveError(f"{one.file}: the place where {one.about} is not there, or more than once", _FAILED)
    return done


def _changes(hz: int) -> Iterator[_Change]:
    ticks = re.compile(r"(?m)^config HZ\n\tint\n\tdefault 100$")
    yield _Change("arch/um/Kconfig", ticks, f"config HZ\n\tint\n\tdefault {hz}", f"HZ is 100 becomes {hz}", True)
    state = re.compile(r"DEFINE_LONGS\(HOST_FP_SIZE, 2696\);")
    # With AMX the processor's state is larger than 2,696 bytes; more than a processor has does no harm.
    about = "the floating point state has 2696 bytes becomes 11008"
    yield _Change("arch/x86/um/user-offsets.c", state, "DEFINE_LONGS(HOST_FP_SIZE, 11008);", about, False)
    draws = re.compile(r"(?m)^\treturn getrandom\(buf, len, flags\);\n")
    about = "the host's random numbers are read becomes a sequence by seed"
    yield _Change("arch/um/os-Linux/util.c", draws, RANDOM, about, True)


def _unpack(archive: Path, to: Path, report: Report) -> None:
    command = ["tar", "--extract", _ARCHIVES[archive.suffix], "--strip-components=1", "--no-same-owner", "-C", str(to)]
    size = archive.stat().st_size
    with archive.open("rb") as read, subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as tar:
        assert tar.stdin is not None
        try:
            while some := read.read(_CHUNK):
                tar.stdin.write(some)
                report(read.tell() / size)
        except BrokenPipeError:
            pass  # tar says why
        except BaseException:
            tar.kill()
            raise
        _, said = tar.communicate()
    if tar.returncode:
        why = said.decode(errors="replace").strip().splitlines()
        raise LiveError(f"{archive}: cannot be unpacked: {why[0] if why else 'tar failed'}", _FAILED)


def _copy(tree: Path, to: Path, report: Report) -> None:
    """Copy a tree without what a build or Git has left in it."""
    listed = _said(["git", "-C", str(tree), "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
    files = [name for name in listed.split("\0") if name] if listed else list(_walk(tree))
    for n, name in enumerate(files):
        source, target = tree / name, to / name
        if not source.is_symlink() and not source.is_file():
            continue  # deleted, or a submodule
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
        if n % 1000 == 0:
            report(n / len(files))


def _walk(tree: Path) -> Iterator[str]:
    for place, folders, files in os.walk(tree):
        below = os.path.relpath(place, tree)
        inside = "" if below == "." else f"{below}/"
        folders[:] = [name for name in folders if not _BUILT_PLACES.search(f"{inside}{name}")]
        for name in files:
            if Path(name).suffix not in _BUILT and not _BUILT_PLACES.search(f"{inside}{name}"):
                yield f"{inside}{name}"


def _said(command: list[str]) -> str:
    """What a program prints; nothing if it is missing or fails."""
    try:
        done = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return os.fsdecode(done.stdout).strip("\n")
