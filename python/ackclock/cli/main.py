"""The command ``ackclock``: thin, quick to start, one message and exit code 2 on bad input."""

from __future__ import annotations

import signal
import sys
from threading import Timer, main_thread
from typing import TYPE_CHECKING

import click

from ackclock import __version__
from ackclock.cli.common import BAD_INPUT, INTERRUPTED
from ackclock.cli.lazy import Lazy, Origin
from ackclock.cli.output import lost

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

EXAMPLES = """\b
Examples:
  ackclock new scenario.toml
  ackclock run scenario.toml --stack reno --stack rfc-6675
  ackclock COMMAND --help

\b
Completion by the tab key in bash (likewise in zsh and fish):
  eval "$(_ACKCLOCK_COMPLETE=bash_source ackclock)"
"""
COMMANDS = {
    "run": Origin("run", "run", "Run a scenario once for each stack and seed, and print the results."),
    "show": Origin("show", "show", "Print a scenario with every default as equivalent TOML."),
    "new": Origin("show", "new", "Write a commented scenario to start from."),
    "stacks": Origin("show", "stacks", "List the stacks."),
    "examples": Origin("examples", "examples", "List or copy what comes with Ackclock."),
    "reproduce": Origin("reproduce", "reproduce", "Run published papers again: draw their figures, judge every claim."),
    "lab": Origin("lab", "lab", "Serve the lab page to this machine: see every packet of a run, change anything."),
    "sweep": Origin("sweep", "sweep", "Run every point of a plan that is not finished yet, and print the means."),
    "study": Origin("study", "study", "Find out which sender does best on some paths, and how sure that is."),
    "arena": Origin("arena", "arena", "Let detectors compete on a fixed set of paths, all with the same response."),
    "capture": Origin("capture", "command", "Say what happened to each transfer of a capture."),
    "conform": Origin("conform", "command", "Run scripts in packetdrill's language against the engine or another TCP."),
    "tune": Origin("tune", "tune", "Search a stack's parameters for more goodput and fewer needless retransmissions."),
    "schema": Origin("show", "schema", "Print the JSON Schema of scenario files, for editors."),
    "results": Origin("results", "results", "List, print and export the results of sweeps; look after stores."),
    "live": Origin("live", "live", "Run the engine on a network device, against real kernels (Linux)."),
    "kernel": Origin(
        "kernel", "kernel", "Build Linux kernels that run in virtual time, without root; look after them (Linux)."
    ),
}
"""Every command, in the order of the help."""

app = Lazy(
    "ackclock",
    origins=COMMANDS,
    help="A laboratory for TCP loss recovery under packet reordering and bursty loss.",
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
click.version_option(__version__, message="ackclock %(version)s", help="Print the version.")(app)


def _interrupted_again(about: UnraisableHookArgs) -> None:
    """Repeat an interrupt that arrived while an object was being deleted: Python drops it."""
    if about.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(about)
        return
    # Python drops what is raised here, too. The signal must reach the main thread, which may be in a system call.
    again = Timer(0.05, signal.pthread_kill, (main_thread().ident, signal.SIGINT))
    again.daemon = True
    again.start()


def main() -> None:
    """Run the command."""
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _interrupted_again
    try:
        code = app(standalone_mode=False)
    except (KeyboardInterrupt, click.Abort):
        sys.exit(INTERRUPTED)
    except OSError as error:
        sys.exit(lost(error))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(BAD_INPUT)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "ackclock"
        message = " ".join(error.format_message().split()).rstrip(".")
        click.echo(f"ackclock: command line: {message}; see {command} --help", err=True)
        sys.exit(BAD_INPUT)
    sys.exit(code or 0)
