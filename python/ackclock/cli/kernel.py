"""``ackclock kernel``: kernels in virtual time."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import click

from ackclock.cli.common import FAILED, PATH, as_json, fail, refusals
from ackclock.cli.lazy import Ordered
from ackclock.cli.live import run
from ackclock.cli.virtual import complete_kernel
from ackclock.kernels import build as builds
from ackclock.kernels import checks, kept, source
from ackclock.kernels.kept import Kernel

BUILD_EXAMPLES = """\b
Examples:
  ackclock kernel build --debian 6.12
  ackclock kernel build --source ~/linux --name before
"""

one_or_the_only = click.argument(
    "name", required=False, shell_complete=complete_kernel, help="Its name. Default: the only one there is."
)


@click.group(cls=Ordered, epilog="\b\nExamples:\n  ackclock kernel build --debian 6.12\n  ackclock kernel list")
def kernel() -> None:
    """Build Linux kernels that run in virtual time, without root; look after them (Linux)."""


@kernel.command(epilog=BUILD_EXAMPLES)
@click.option("--debian", metavar="VERSION", help="Build from Debian's package linux-source-VERSION.")
@click.option("--source", "tree", type=PATH, metavar="PATH", help="Build from your own tree, or an archive.")
@click.option("--name", metavar="NAME", help="Its name. [default: the kernel's version]")
@click.option("--hz", default=250, type=click.IntRange(24, 1000), metavar="N", help="Timer ticks a second.")
@click.option("--jobs", type=click.IntRange(1, 1024), metavar="N", help="Compilers in parallel. Default: one per core.")
def build(debian: str | None, tree: Path | None, name: str | None, hz: int, jobs: int | None) -> None:
    """Build a kernel for virtual time, and keep it in your cache. Your tree is not changed."""
    if (debian is None) == (tree is None):
        found = "neither --debian nor --source" if tree is None else "both --debian and --source"
        fail(f"command line: found {found}, allowed: one of the two")
    with run("building") as report:
        chosen = source.of_debian(debian) if debian is not None else source.of_user(tree or Path())
        name = name or debian
        built = builds.build(chosen, name, hz=hz, jobs=jobs, say=lambda line: click.echo(line, err=True), report=report)
    click.echo(f"{built.name}: {built.in_a_line()}; in {kept.place(built.name)}")


@kernel.command("list")
@as_json()
def listing(as_json: bool) -> None:
    """List the kernels."""
    with refusals():
        kernels = kept.every()
    if as_json:
        rows = [{**dataclasses.asdict(one), "folder": str(kept.place(one.name))} for one in kernels]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    elif kernels:
        from ackclock.tables.printed import print_kernels  # noqa: PLC0415 - loads rich

        print_kernels(kernels)
    else:
        click.echo(f"no kernel in {kept.folder()}; ackclock kernel build makes one", err=True)


@kernel.command()
@one_or_the_only
@as_json("text")
def check(name: str | None, as_json: bool) -> None:
    """Boot a kernel twice and say whether its clock jumps and both boots are the same. The exit code is 1 if not."""
    with run("checking"):
        one = kept.find(name)
        checked = checks.check(one)
    _print(one, checked, as_json)
    if checked.faults:
        fail(f"the kernel {one.name}: {'; '.join(checked.faults)}", FAILED)


@kernel.command()
@click.argument(
    "names", nargs=-1, required=True, metavar="NAME...", shell_complete=complete_kernel, help="Their names."
)
def remove(names: tuple[str, ...]) -> None:
    """Delete kernels."""
    with refusals():
        for name in names:
            kept.find(name)
        for name in dict.fromkeys(names):
            kept.remove(name)
            click.echo(f"{name}: removed")


def _print(one: Kernel, checked: checks.Checked, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({**dataclasses.asdict(one), **dataclasses.asdict(checked)}, indent=2, ensure_ascii=False))
        return
    click.echo(f"{one.name}: {one.in_a_line()}")
    if not checked.faults:
        slept = f"{checked.slept_s:.0f} s inside took {checked.took_s:.2f} s"
        click.echo(f"boots in {checked.boot_s:.1f} s; {slept}; two boots are the same")
