"""Builds a kernel in virtual time from a source tree, in a folder that is deleted afterwards."""

from __future__ import annotations

import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

from ackclock.errors import LiveError
from ackclock.kernels import kept
from ackclock.kernels.kept import Kernel
from ackclock.kernels.source import Report, Source, change

SECONDS = 260
"""Processor time of a build, measured with 6.12."""
SPACE = 3 << 30
"""Bytes that a build needs while it lasts."""
FRAGMENT = Path(__file__).with_name("virtual.config")
REQUIRED = (
    *("64BIT", "UML_TIME_TRAVEL_SUPPORT", "HOSTFS", "MAGIC_SYSRQ", "HIGH_RES_TIMERS", "FUTEX", "EPOLL", "BINFMT_ELF"),
    *("BINFMT_SCRIPT", "PROC_FS", "SYSFS", "TMPFS", "DEVTMPFS", "UNIX98_PTYS", "NET_NS", "USER_NS", "PID_NS", "NET"),
    *("UNIX", "PACKET", "INET", "INET_DIAG", "TCP_CONG_CUBIC", "TUN", "VETH"),
)
"""Without one of these nothing would run."""
_LINES = 1190
"""Lines that such a build prints, about."""
_COPYING, _FAILED, _BAD_INPUT, _UNAVAILABLE = 0.1, 1, 2, 3
_OLD_S = 24 * 3600.0
_PACKAGES = {
    "make": "make",
    "gcc": "gcc",
    "ld": "binutils",
    "strip": "binutils",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "tar": "tar",
    "xz": "xz-utils",
}
"""Programs that a build runs, and Debian's packages of them."""
_BUILDERS = ("MAKE", "MFLAGS", "KBUILD", "KCONFIG", "ARCH", "SUBARCH", "CROSS_COMPILE", "LLVM", "LOCALVER", "CFLAGS")
"""Beginnings of the names of variables that change a build."""
_HEADERS = "the C library's headers", "libc6-dev"
_TEST = "#include <stdio.h>\n#include <linux/ptrace.h>\nint main(void) { return 0; }\n"


def build(
    source: Source,
    name: str | None,
    *,
    hz: int = 250,
    jobs: int | None = None,
    say: Callable[[str], object] = lambda _: None,
    report: Report = lambda _: None,
) -> Kernel:
    """Build a kernel and keep it.

    Args:
        source: its source, which is not changed.
        name: its name. Default: its version.
        hz: its timer ticks a second.
        jobs: compilers beside each other. Default: one per core.
        say: called with a line before the longest step, and with the end of the output if it fails.
        report: called with the share that is done.

    Raises:
        LiveError: something is missing, the name is taken, or the source does not build.
        OSError: a file cannot be read or written.
        KeyboardInterrupt: as usual; nothing is left behind.
    """
    check_machine()
    if name is not None:
        _check_free(name)
    check_tools(source.is_archive)
    folder = kept.folder()
    folder.mkdir(parents=True, exist_ok=True)
    _tidy(folder)
    if shutil.disk_usage(folder).free < SPACE:
        raise LiveError(f"{folder}: a build needs {SPACE >> 30} GiB of free space there while it lasts", _UNAVAILABLE)
    where = Path(mkdtemp(prefix=".building-", dir=folder))
    try:
        return _build(source, name, where, hz, jobs or os.cpu_count() or 1, say, report)
    finally:
        shutil.rmtree(where, ignore_errors=True)


def check_machine() -> None:
    """Refuse systems that cannot run such a kernel.

    Raises:
        LiveError: this is one.
    """
    found = f"{platform.system()} on {platform.machine()}"
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise LiveError(f"a kernel in virtual time needs Linux on x86_64; found {found}", _UNAVAILABLE)


def check_tools(unpacks: bool = True) -> None:
    """Refuse a system without the programs that a build needs.

    Raises:
        LiveError: says in a sentence what is missing.
    """
    needed = {tool: package for tool, package in _PACKAGES.items() if unpacks or tool not in {"tar", "xz"}}
    missing = {tool: package for tool, package in needed.items() if shutil.which(tool) is None}
    if "gcc" not in missing and not _compiles():
        missing[_HEADERS[0]] = _HEADERS[1]
    if missing:
        what = _listed(list(missing))
        packages = " ".join(dict.fromkeys(missing.values()))
        are = "is" if len(missing) == 1 else "are"
        said = f"building a kernel needs {what}, which {are} missing here; on Debian: apt install {packages}"
        raise LiveError(said, _UNAVAILABLE)


def _build(
    source: Source,
    name: str | None,
    where: Path,
    hz: int,
    jobs: int,
    say: Callable[[str], object],
    report: Report,
) -> Kernel:
    tree, objects, new = where / "source", where / "objects", where / "new"
    for place in (tree, objects, new):
        place.mkdir()
    source.copy(tree, lambda share: report(_COPYING * share))
    changes = change(tree, hz)
    make = ["make", "-C", str(tree), f"O={objects}", "ARCH=um"]
    log = where / "log"
    _make([*make, f"KCONFIG_ALLCONFIG={FRAGMENT}", "allnoconfig"], log, say)
    _check_configuration(objects / ".config")
    version = _make([*make, "--silent", "--no-print-directory", "kernelrelease"], log, say).strip()
    name = name or version
    _check_free(name)
    minutes = f"{SECONDS / 60:.0f} minutes of processor time"
    say(f"building Linux {version} from {source.about}: about {minutes}, {jobs} compilers beside each other")
    _make([*make, f"-j{jobs}", "linux"], log, say, lambda share: report(_COPYING + (1 - _COPYING) * share))
    run = _system()
    subprocess.run(["strip", "-o", str(new / kept.PROGRAM), str(objects / "linux")], check=True, env=run)
    shutil.copyfile(objects / ".config", new / kept.CONFIGURATION)
    said = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True, env=run).stdout
    configuration, program = (kept.sha256(new / file) for file in (kept.CONFIGURATION, kept.PROGRAM))
    kernel = Kernel(name, version, hz, configuration, program, source.about, changes, said.splitlines()[0])
    (new / kept.IDENTITY).write_text(kept.written(kernel), encoding="utf-8")
    _check_free(name)
    new.rename(kept.place(name))
    return kernel


def _check_free(name: str) -> None:
    if kept.place(name).exists():
        also = f"another --name, or first: ackclock kernel remove {name}"
        raise LiveError(f'command line: found the kernel "{name}", which exists already, allowed: {also}', _BAD_INPUT)


def _check_configuration(file: Path) -> None:
    """Refuse a configuration that lacks something without which nothing runs."""
    lines = set(file.read_text(encoding="utf-8").splitlines())
    missing = [name for name in REQUIRED if f"CONFIG_{name}=y" not in lines]
    if missing:
        raise LiveError(f"the source has no {_listed(missing)} for User-Mode Linux, which virtual time needs", _FAILED)


def _make(command: Sequence[str], log: Path, say: Callable[[str], object], report: Report = lambda _: None) -> str:
    """Run make; return its output. If it fails, the end of that is said.

    Raises:
        LiveError: it failed.
    """
    began = log.stat().st_size if log.exists() else 0
    with log.open("ab") as to:
        # Its own session: on Ctrl-C all of its processes are ended below.
        made = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=to, stderr=to, env=_system(), start_new_session=True
        )
    try:
        with log.open("rb") as read:
            read.seek(began)
            lines = 0
            while made.poll() is None:
                lines += read.read().count(b"\n")
                report(min(lines / _LINES, 0.99))
                with suppress(subprocess.TimeoutExpired):
                    made.wait(0.2)
    finally:
        if made.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(made.pid, signal.SIGKILL)
            made.wait()
    said = log.read_bytes()[began:].decode(errors="replace")
    if made.returncode:
        for line in said.splitlines()[-20:]:
            say(line)
        why = next((line for line in said.splitlines() if re.search(r"\berror\b|\*\*\*", line)), "make failed")
        raise LiveError(f"the source does not build: {why.strip()}", _FAILED)
    return said


def _system() -> Mapping[str, str]:
    """The environment of a build. What it says about the builder is the same everywhere."""
    kept_ones = {key: value for key, value in os.environ.items() if not key.startswith(_BUILDERS) and key != "O"}
    return {
        **kept_ones,
        "LC_ALL": "C",
        "KBUILD_BUILD_TIMESTAMP": "Thu Jan 1 00:00:00 UTC 2026",
        "KBUILD_BUILD_USER": "ackclock",
        "KBUILD_BUILD_HOST": "ackclock",
        "KBUILD_BUILD_VERSION": "1",
    }


def _compiles() -> bool:
    done = subprocess.run(
        ["gcc", "-x", "c", "-", "-o", "/dev/null"], input=_TEST.encode(), capture_output=True, check=False
    )
    return done.returncode == 0


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _tidy(folder: Path) -> None:
    """Remove what killed processes left behind."""
    for left in (*folder.glob(".building-*"), *folder.glob(".*.removed-*")):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _OLD_S:
                shutil.rmtree(left)
