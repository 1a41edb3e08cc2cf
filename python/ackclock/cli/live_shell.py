"""``ackclock live shell``: any program behind a scenario's path."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import click

from ackclock import _native
from ackclock.cli.common import FAILED, INTERRUPTED, SEED, TERMINATED, fail, refusals
from ackclock.cli.live import mtu, realtime, say
from ackclock.cli.scenario import scenario_file, scenario_source
from ackclock.cli.virtual import Virtual, virtual
from ackclock.document.permission import LIVE, refusing
from ackclock.tables.printed import print_live_shell

EXAMPLES = """\b
Examples:
  ackclock live shell FILE.toml -- ping -c 5 10.77.0.2
  ackclock live shell FILE.toml --peer 'iperf3 -s -1' -- iperf3 -c 10.77.0.2
  ackclock live shell FILE.toml --from S --to D --seed 7 --json -- ./my-client
  ackclock live shell FILE.toml --virtual 6.12 -- ./my-client
  ackclock live shell FILE.toml -- bash
"""


@click.command(cls=Virtual, epilog=EXAMPLES)
@scenario_file
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND...", help="The program and its arguments.")
@click.option("--from", "from_", metavar="NODE", help="The program's node.  [default: the first flow's]")
@click.option("--to", metavar="NODE", help="The peer's node. [default: the first flow's]")
@click.option("--peer", metavar="COMMAND", help="Shell command to start at the other end before the program.")
@click.option("--seed", metavar="N", type=SEED, help="Seed of the path's random events.  [default: the scenario's]")
@mtu("both devices")
@realtime
@virtual("running", lambda _: True)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON on standard output; the programs print on standard error."
)
def shell(
    scenario: str,
    command: tuple[str, ...],
    from_: str | None,
    to: str | None,
    peer: str | None,
    seed: int | None,
    mtu: int,
    realtime: bool,
    as_json: bool,
) -> None:
    """Run any program behind a scenario's path, in real time; its exit code is passed on.

    The program and its peer have network namespaces of their own, and the files of this machine. Each knows its own
    address as ACKCLOCK_ADDRESS, and the other's as ACKCLOCK_PEER. The program starts when its peer listens, or after
    two seconds. The fate of their packets is printed on standard error.
    """
    file, text = scenario_source(scenario)
    with _signals() as ended, refusals(), refusing(LIVE):

        def go_on() -> bool:
            return ended() is None

        ledger = _native.live_shell(
            file, text, list(command), peer, from_, to, seed, mtu, realtime, as_json, say, go_on
        )
    result = json.loads(ledger)
    if as_json:
        click.echo(json.dumps(result, indent=2))
    else:
        print_live_shell(result)
    code = ended() if result["code"] is None else result["code"]
    if code is None:
        fail("the path's clock has reached its end; a run lasts at most a day", FAILED)
    raise click.exceptions.Exit(code)


@contextmanager
def _signals() -> Iterator[Callable[[], int | None]]:
    """Handle signals; yield a function that returns the exit code if a signal ends the run, else ``None``.

    On a terminal the first Ctrl-C goes to the program, which may continue; the second one ends the run.
    """
    code: int | None = None
    before_it = _is_in_foreground()

    def heard(number: int, _: object) -> None:
        nonlocal code, before_it
        if number == signal.SIGTERM:
            code = TERMINATED
        elif not before_it:
            code = INTERRUPTED
        before_it = False

    before = {number: signal.signal(number, heard) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: code
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_in_foreground() -> bool:
    """Whether this process and its children are in the terminal's foreground."""
    with suppress(OSError, ValueError):
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    return False
