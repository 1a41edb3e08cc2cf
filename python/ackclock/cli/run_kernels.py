"""``ackclock run`` with kernels in virtual time among its stacks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from itertools import chain, count
from pathlib import Path

import click

from ackclock import _native, files, kernel_stacks
from ackclock.cli.common import FAILED, fail, refusals
from ackclock.cli.live import ends_cleanly
from ackclock.kernel_stacks import KernelStack, Run, is_kernel, parsed
from ackclock.progress import shown_share


def run(
    source: tuple[str, str | None],
    stacks: Sequence[str],
    seeds: tuple[int | None, int | None],
    *,
    as_json: bool,
    trace: Path | None,
    pcap: Path | None,
    snap: int | None,
    threads: int | None,
) -> None:
    """Make the runs of each stack with each seed, kernels' and the engine's, and print them as one result."""
    if twice := next((one for at, one in enumerate(stacks) if one in stacks[:at]), None):
        fail(f'command line: key `--stack`: found "{twice}" a second time, allowed: each stack once')
    file, text = source
    with refusals(), ends_cleanly():
        chosen = [parsed(one) if is_kernel(one) else one for one in stacks]
        name, numbers = kernel_stacks.scenario_of(file, text, *seeds)
        folders = _Folders(pcap, len(stacks), len(numbers))
        made: list[Run] = []
        for at, stack in enumerate(chosen):
            to = str(trace) if trace is not None and at == 0 else None
            of = folders.of if pcap is not None else None
            if isinstance(stack, KernelStack):
                with shown_share(f"running {stack.name}") as progress:
                    whole = files.text(file) if text is None else text
                    runs = kernel_stacks.make(
                        [stack], numbers, file, whole, trace=to, pcap=of, snap=snap, threads=threads, progress=progress
                    )
                _say(stack, runs[0])
            else:
                runs = _simulated((file, text), stack, numbers, to, of, snap, threads)
            made += runs
    result = {
        "ackclock": _native.__version__,
        "results_revision": _native.results_revision,
        "scenario": name,
        "flows": kernel_stacks.means(made, len(numbers)),
        "runs": made,
    }
    if as_json:
        click.echo(json.dumps(result, indent=2, ensure_ascii=False))
    else:
        from ackclock.tables.printed import print_run  # noqa: PLC0415 - not with --json

        print_run(result)
    for one in made:
        for damaged in one.get("kernel", {}).get("damaged", []):
            what = f"{damaged['flow']}: byte {damaged['byte']} of the stream differs from the byte sent"
            fail(f"seed {one['seed']}: {what}", FAILED)


def refuse(given: dict[str, bool]) -> None:
    """Refuse options that runs in kernels do not have."""
    for option, is_given in given.items():
        if is_given:
            fail(f"command line: key `{option}`: found it together with a kernel's stack, allowed: with other stacks")


class _Folders:
    """The folders of captures, named as those of simulated runs."""

    def __init__(self, folder: Path | None, stacks: int, seeds: int) -> None:
        self._folder, self._stacks, self._single = folder or Path(), stacks, stacks * seeds == 1
        self._taken: dict[str, tuple[str, int]] = {}

    def of(self, stack: KernelStack | str, seed: int) -> str:
        """Return the folder of a run."""
        if self._single:
            return str(self._folder)
        written = stack if isinstance(stack, str) else stack.name
        plain = re.sub(r"[^A-Za-z0-9._-]", "-", written)
        name, run = f"{plain}-seed-{seed}" if self._stacks > 1 else f"seed-{seed}", (written, seed)
        others = (f"{name}-{n}" for n in count(2))
        # Two names may be equal without their special characters.
        return str(self._folder / next(one for one in chain([name], others) if self._taken.setdefault(one, run) == run))


def _simulated(
    source: tuple[str, str | None],
    stack: str,
    seeds: list[int],
    trace: str | None,
    pcap: Callable[[KernelStack | str, int], str] | None,
    snap: int | None,
    threads: int | None,
) -> list[Run]:
    """Make the runs of a stack of the engine."""
    with shown_share(f"simulating {stack}") as progress:
        if pcap is None:
            ran = _native.run(*source, [stack], [], None, seeds, trace, None, threads, progress, False, False)
            found: list[Run] = json.loads(ran.json())["runs"]
            return found
        found = []
        for at, seed in enumerate(seeds):
            to = (pcap(stack, seed), None, snap)
            first = trace if at == 0 else None
            ran = _native.run(*source, [stack], [], None, [seed], first, to, threads, None, False, False)
            found += json.loads(ran.json())["runs"]
            progress((at + 1) / len(seeds))
        return found


def _say(stack: KernelStack, run: Run) -> None:
    """Say on standard error which kernel it was, and how its runs differ from the scenario."""
    click.echo(f"{stack.name}: {stack.kernel.in_a_line()}", err=True)
    for note in run["kernel"]["notes"]:
        if not note.startswith(f"{kernel_stacks.PREFIX}{stack.control}:"):
            click.echo(f"  {note}", err=True)
