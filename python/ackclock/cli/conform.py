"""``ackclock conform``: scripts in packetdrill's language against the engine."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from ackclock.cli.common import FAILED, PATH, as_json, fail, refusals, threads
from ackclock.cli.scenario import complete_path, complete_stack
from ackclock.cli.virtual import GIVEN, Virtual, virtual
from ackclock.conforming import Result, ScriptResult, conform

EXAMPLES = """\b
Examples:
  ackclock conform conformance
  ackclock conform conformance/recovery/limited-transmit.pkt -v
  ackclock conform tests --dialect freebsd
  ackclock conform tests --expect expected.txt
  ackclock conform tests --stack 'rack-tlp,rto.min=200 ms' --json
  ackclock conform conformance --library ./libmytcp.so
  ackclock conform conformance --tun tun0 -- ./mytcp
  ackclock conform conformance --tun tun0 --virtual 6.12 -- ./mytcp
"""
_COMMAND = "ackclock.conform.command"
_RESULTS: tuple[Result, ...] = ("pass", "fail", "not understood")


class ConformCommand(Virtual):
    """Keeps the words after ``--`` apart from the scripts: the command of ``--tun``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words before ``--``."""
        ctx.meta[GIVEN] = list(args)
        if "--" in args:
            at = args.index("--")
            args, ctx.meta[_COMMAND] = args[:at], args[at + 1 :]
        return super().parse_args(ctx, args)


@click.command(cls=ConformCommand, epilog=EXAMPLES)
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    type=PATH,
    metavar="DIR|FILE...",
    shell_complete=complete_path(".pkt"),
    help="Scripts, and folders of them.",
)
@click.option(
    "--dialect",
    type=click.Choice(["linux", "freebsd"]),
    default="linux",
    help="System whose settings and option order the scripts expect.",
)
@click.option(
    "--stack",
    metavar="NAME",
    shell_complete=complete_stack,
    help="Sender's stack. Default: the dialect's own.",
)
@click.option(
    "--library", type=PATH, metavar="FILE", help="Shared library with the TCP under test, which has the C interface."
)
@click.option(
    "--tun",
    metavar="NAME",
    help="TUN device of the TCP under test, which the command after -- runs. Time is then real.",
)
@virtual("running", lambda _: False)
@click.option("--expect", type=PATH, metavar="LIST", help="File of expected results. Default: every script passes.")
@click.option(
    "--write-expected",
    type=PATH,
    metavar="LIST",
    help="Write the results as such a file, to be expected from then on.",
)
@click.option("-v", "--verbose", is_flag=True, help="Show each conversation beside its script.")
@threads
@as_json("text")
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    dialect: Literal["linux", "freebsd"],
    stack: str | None,
    library: Path | None,
    tun: str | None,
    expect: Path | None,
    write_expected: Path | None,
    verbose: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Run scripts in packetdrill's language against the engine or another TCP.

    Prints a line for each folder, then a line for each kind of fault, then how many scripts passed. A script that uses
    something unknown counts as not understood, never as passed. The exit code is 0 if every result is as expected.
    """
    with refusals():
        try:
            words: list[str] | None = ctx.meta.get(_COMMAND)
            if tun is None and words is not None:
                fail("found a command after --, allowed: with --tun NAME")
            started = None if tun is None else (tun, words or [])
            results = conform(list(paths), dialect=dialect, stack=stack, library=library, tun=started, threads=threads)
        except (OSError, ValueError) as error:
            fail(str(error))
    if not results:
        fail(f"{paths[0]}: found no script, allowed: a folder with .pkt files")
    base = _base(paths)
    if write_expected is not None:
        _write(write_expected, results, base)
    changed = _changed(results, base, expect or write_expected)
    if as_json:
        counts = {"pass": 0, "fail": 0, "not understood": 0} | Counter(r.result for r in results)
        click.echo(json.dumps({"scripts": [r.to_dict() for r in results], **counts}, indent=2))
    else:
        _print(results, verbose)
        for line in changed:
            click.echo(line)
        _total(results)
    if changed:
        raise click.exceptions.Exit(FAILED)


def _base(paths: Sequence[Path]) -> Path:
    """The folder from which a list of expected results counts its names."""
    first = paths[0]
    return first if first.is_dir() else first.parent


def _name(result: ScriptResult, base: Path) -> str:
    """The script's name in a list of expected results."""
    return result.file.relative_to(base).as_posix() if result.file.is_relative_to(base) else result.file.as_posix()


def _write(to: Path, results: Sequence[ScriptResult], base: Path) -> None:
    """Write a list of expected results: a line per script, with the reason after ``#``."""
    lines = [
        f"{r.result.replace(' ', '-')} {_name(r, base)}" + (f"  # {r.reason}, line {r.line}" if r.reason else "")
        for r in results
    ]
    to.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _read(file: Path) -> dict[str, str]:
    """Expected results by script."""
    expected: dict[str, str] = {}
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{file}: {error}")
    allowed = ", ".join(result.replace(" ", "-") for result in _RESULTS)
    for number, line in enumerate(text.splitlines(), 1):
        result, _, name = line.split("#")[0].strip().partition(" ")
        if not result:
            continue
        if not name or result.replace("-", " ") not in _RESULTS:
            fail(f'{file}: line {number}: found "{line.strip()}", allowed: one of {allowed}, then the name of a script')
        expected[name.strip()] = result.replace("-", " ")
    return expected


def _changed(results: Sequence[ScriptResult], base: Path, expect: Path | None) -> list[str]:
    """A line for each script whose result differs from the expected one."""
    expected = {} if expect is None else _read(expect)
    names = {_name(r, base): r for r in results}
    lines = []
    for name, result in names.items():
        wanted = expected.get(name, "pass")
        if result.result != wanted:
            why = "" if result.text is None else f": line {result.line}: {result.text}"
            lines.append(f"{result.file}: {result.result}, expected: {wanted}{why}")
    missing = [name for name in expected if name not in names]
    lines += [f"{name}: not found, expected: {expected[name]}" for name in missing]
    return lines


def _print(results: Sequence[ScriptResult], verbose: bool) -> None:
    """A line per folder and a line per reason."""
    if verbose:
        for result in results:
            _print_events(result)
    folders: dict[Path, Counter[str]] = {}
    for result in results:
        folders.setdefault(result.file.parent, Counter())[result.result] += 1
    for folder, counts in folders.items():
        click.echo(f"{folder}: {_counts(counts)}")
    reasons: dict[str, list[ScriptResult]] = {}
    for result in results:
        if result.reason is not None:
            reasons.setdefault(result.reason, []).append(result)
    for reason, those in sorted(reasons.items(), key=lambda item: -len(item[1])):
        click.echo(f"{len(those):>6} {reason}, such as {those[0].file}:{those[0].line}")


def _print_events(result: ScriptResult) -> None:
    """The script's lines with what happened under each."""
    source = result.file.read_text(encoding="utf-8", errors="replace").splitlines()
    happened: dict[int, list[str]] = {}
    for event in result.talk:
        happened.setdefault(event.line, []).append(f"{event.ns / 1e9:12.6f} s  {event.text}")
    click.echo(f"{result.file}: {result.result}")
    for number, line in enumerate(source, 1):
        if happened.get(number) or number == result.line:
            click.echo(f"{number:>5}  {line.strip()}")
        for words in happened.get(number, []):
            click.echo(f"       {words}")
        if number == result.line and result.text is not None:
            click.echo(f"       {result.result}: {result.text}")
            break


def _counts(counts: Counter[str]) -> str:
    total = sum(counts.values())
    return f"{counts['pass']} of {total} pass, {counts['fail']} fail, {counts['not understood']} not understood"


def _total(results: Sequence[ScriptResult]) -> None:
    click.echo(_counts(Counter(r.result for r in results)))
