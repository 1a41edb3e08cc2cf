"""Whether a kernel does here what it must: it boots, its clock jumps, and two boots are the same."""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from dataclasses import dataclass

from ackclock.errors import LiveError
from ackclock.kernels import boot, kept
from ackclock.kernels.kept import Kernel

_SLEEPS_S = 30
_SCRIPT = f"""\
uname -r
cut -d ' ' -f 1 /proc/uptime
sleep {_SLEEPS_S}
cut -d ' ' -f 1 /proc/uptime
test -c /dev/net/tun && echo tun
cat /proc/sys/kernel/random/uuid /proc/sys/net/ipv4/tcp_mem
exit 7
"""
_CODE = 7


@dataclass(frozen=True)
class Checked:
    """What was found."""

    boot_s: float
    """Seconds from the start to the end of a boot in which nothing is done."""
    slept_s: float
    """Seconds that the clock inside moved."""
    took_s: float
    """Seconds that this took outside, boot apart."""
    faults: Sequence[str]
    """Differences from what it must do."""


def check(kernel: Kernel) -> Checked:
    """Boot a kernel three times.

    Raises:
        LiveError: it does not boot.
    """
    if damaged := kept.damage(kernel):
        return Checked(0.0, 0.0, 0.0, [damaged])
    try:
        boot_s, _, _ = _run(kernel, "exit 0")
        (first_s, code, said), (_, _, again) = _run(kernel, _SCRIPT), _run(kernel, _SCRIPT)
    except LiveError as error:
        return Checked(0.0, 0.0, 0.0, [str(error)])
    faults = []
    lines = said.split("\n")
    if code != _CODE:
        faults.append(f"found the exit code {code} instead of {_CODE}")
    if lines[0] != kernel.version:
        faults.append(f"found the version {lines[0]} instead of {kernel.version}")
    slept = _difference(lines[1:3])
    if not _SLEEPS_S <= slept < _SLEEPS_S + 1:
        faults.append(f"its clock moved by {slept:.2f} s in {_SLEEPS_S} s")
    if "tun" not in lines:
        faults.append("it has no /dev/net/tun")
    if said != again:
        faults.append("two boots are not the same; its memory or its random numbers differ")
    return Checked(boot_s, slept, max(first_s - boot_s, 0.0), faults)


def _run(kernel: Kernel, script: str) -> tuple[float, int, str]:
    out, began = io.BytesIO(), time.monotonic()
    code = boot.run(kernel, ["sh", "-c", script], boot.Streams(out, io.BytesIO()))
    return time.monotonic() - began, code, out.getvalue().decode(errors="replace")


def _difference(lines: Sequence[str]) -> float:
    try:
        before, after = map(float, lines)
    except ValueError:
        return 0.0
    return after - before
