"""Runs one command within a kernel in virtual time.

The kernel is User-Mode Linux in its time-travel mode: work takes no time, and when nobody can run, the clock jumps to
the next timer. Its file system is the host's, with the rights of the user, who is root inside.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import BinaryIO

from ackclock.errors import LiveError
from ackclock.kernels import kept
from ackclock.kernels.kept import Kernel
from ackclock.kernels.source import SEED
from ackclock.progress import TELL

BORN = 1_767_225_600
"""The time of day at which every kernel starts, 1 January 2026, so that two runs have the same clocks."""
MEMORY_MIB = 1024
_LOOK_S = 0.02
"""How often output is passed on."""
_PATIENCE_S = 5.0
"""The time that a kernel has to end after SIGTERM."""
_FAILED, _UNAVAILABLE = 1, 3
_PARENT_DIES = 1
"""``PR_SET_PDEATHSIG``: no kernel outlives the process that started it."""
_SAME_ADDRESSES = 0x0040000
"""``ADDR_NO_RANDOMIZE``: the kernel's memory is as large in every run."""

_INIT = """\
#!/bin/sh
# The kernel's first program. Until there is another /proc, it sees the host's, where the kernel itself asks.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
run=$(cd -P /proc/self/cwd && pwd)
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs shm /dev/shm
: > "$run/booted"
env -i /bin/sh "$run/command" < "$run/in" > "$run/out" 2> "$run/err"
echo $? > "$run/code.part"
mv "$run/code.part" "$run/code"
echo o > /proc/sysrq-trigger
while :; do sleep 1; done
"""


@dataclass(frozen=True)
class Streams:
    """Where a command's output goes, and where its input comes from."""

    out: BinaryIO
    err: BinaryIO
    stdin: BinaryIO | None = None
    """Read to its end before the kernel starts, because time inside waits for nobody. ``None``: no input."""


def run(
    kernel: Kernel,
    command: Sequence[str],
    streams: Streams,
    *,
    environment: Mapping[str, str] | None = None,
    seed: int = 0,
    progress: Callable[[float], object] = lambda _: None,
    memory_mib: int = MEMORY_MIB,
) -> int:
    """Run a command in the current folder, within a kernel of its own.

    Args:
        kernel: the kernel.
        command: the program and its arguments.
        streams: its standard files.
        environment: its environment. Default: that of this process.
        seed: the seed of the kernel's random numbers.
        progress: called with the share that the command says is done.
        memory_mib: the kernel's memory; what is not used is not taken.

    Returns:
        The command's exit code, or 128 plus the number of the signal that ended it.

    Raises:
        LiveError: the kernel did not start, or ended before the command.
        KeyboardInterrupt: as usual; the kernel has ended.
    """
    # The kernel has a /dev of its own.
    place = kept.folder() if gettempdir().startswith("/dev/") else None
    folder = Path(mkdtemp(prefix=".ackclock-kernel-" if place else "ackclock-kernel-", dir=place))
    try:
        inside = {**(os.environ if environment is None else environment), TELL: str(folder / "share")}
        _write(folder, command, streams.stdin, inside)
        with (folder / "console").open("wb") as console:
            started = _start(kernel, folder, console, memory_mib, seed)
        try:
            _follow(started, folder, streams, progress)
        finally:
            _stop(started)
        return _code(folder, kernel)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write(folder: Path, command: Sequence[str], stdin: BinaryIO | None, environment: dict[str, str]) -> None:
    """Write what the kernel runs."""
    for name in ("in", "out", "err"):
        (folder / name).touch()
    if stdin is not None:
        with (folder / "in").open("wb") as to:
            shutil.copyfileobj(stdin, to)
    lines = [f"export {name}={shlex.quote(value)}" for name, value in environment.items() if name.isidentifier()]
    mask = os.umask(0)
    os.umask(mask)
    lines += [f"umask {mask:04o}", f"cd {shlex.quote(str(Path.cwd()))} || exit 1", f"exec {shlex.join(command)}", ""]
    (folder / "command").write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    (folder / "init").write_text(_INIT, encoding="utf-8")
    (folder / "init").chmod(0o700)


def _start(kernel: Kernel, folder: Path, console: BinaryIO, memory_mib: int, seed: int) -> subprocess.Popen[bytes]:
    command = [
        str(kept.program(kernel)),
        f"mem={memory_mib}M",
        "rootfstype=hostfs",
        "rootflags=/",
        "rw",
        # The same words in every run, because random numbers depend on them: the folder is the kernel's own.
        "init=/proc/self/cwd/init",
        "time-travel=inf-cpu",
        f"time-travel-start={BORN * 1_000_000_000}",
        "con=null",
        "con0=null,null",
        "ssl=null",
        "stderr=1",
        "quiet",
        "panic=-1",
    ]
    environment = {"PATH": os.defpath, "HOME": str(folder), "TMPDIR": _memory_folder(memory_mib), SEED: str(seed)}
    library = ctypes.CDLL(None, use_errno=True)

    def before() -> None:
        library.prctl(_PARENT_DIES, signal.SIGTERM)
        library.personality(_SAME_ADDRESSES)

    try:
        # Its own session: a kernel that fails sends signals to its whole group.
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=console,
            env=environment,
            cwd=folder,
            start_new_session=True,
            preexec_fn=before,  # noqa: PLW1509 - nothing but two system calls
        )
    except OSError as error:
        raise LiveError(f"the kernel {kernel.name} cannot be started: {error}", _UNAVAILABLE) from error


def _memory_folder(memory_mib: int) -> str:
    """Where the kernel's memory is a file: in memory if there is room, or the kernel would end with SIGBUS."""
    with suppress(OSError):
        if shutil.disk_usage("/dev/shm").free >= memory_mib << 20:
            return "/dev/shm"
    return gettempdir()


def _follow(
    started: subprocess.Popen[bytes], folder: Path, streams: Streams, progress: Callable[[float], object]
) -> None:
    """Pass on output and progress until the kernel has ended."""
    share, done = folder / "share", 0.0
    with (folder / "out").open("rb") as out, (folder / "err").open("rb") as err:
        while True:
            ended = _has_ended(started.pid)
            for written, to in ((out, streams.out), (err, streams.err)):
                while some := written.read(1 << 16):
                    to.write(some)
                    to.flush()
            with suppress(OSError, ValueError):
                done = float(share.read_text(encoding="ascii"))
            progress(done)
            if ended:
                return
            time.sleep(_LOOK_S)


def _has_ended(pid: int) -> bool:
    """Whether a child has ended. It stays a zombie, so that its group keeps its number."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _stop(started: subprocess.Popen[bytes]) -> None:
    """End the kernel with all its processes."""
    until = time.monotonic() + _PATIENCE_S
    if not _has_ended(started.pid):
        started.terminate()
        while not _has_ended(started.pid) and time.monotonic() < until:
            time.sleep(_LOOK_S)
    # Whatever is left is in its group.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()


def _code(folder: Path, kernel: Kernel) -> int:
    with suppress(OSError, ValueError):
        return int((folder / "code").read_text(encoding="ascii"))
    said = (folder / "console").read_text(encoding="utf-8", errors="replace").splitlines()
    last = next((line.strip() for line in reversed(said) if line.strip()), "it said nothing")
    how = "ended before the command" if (folder / "booted").exists() else "did not start"
    raise LiveError(f"the kernel {kernel.name} {how}: {last}", _FAILED)


def this_python(script: Path, module: str, arguments: Sequence[str]) -> list[str]:
    """Write a program that calls ``main`` of a module with this process's import path; return the command for it."""
    lines = [
        "import sys",
        f"sys.path[:] = {[str(Path(place).absolute()) for place in sys.path]!r}",
        f"from {module} import main",
        "main()",
        "",
    ]
    script.write_text("\n".join(lines), encoding="utf-8")
    return [sys.executable, str(script), *arguments]
