"""The command ``ackclock``: thin, quick to start, one message and exit code 2 on bad input."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ackclock import __version__
from ackclock.cli.command import Origin, group
from ackclock.cli.common import BAD_INPUT, INTERRUPTED
from ackclock.cli.output import lost

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

MAIN_EXAMPLES = """\b
Examples:
  ackclock new scenario.toml
  ackclock run scenario.toml --stack reno --stack rfc-6675
  ackclock COMMAND --help
"""
COMMANDS = {
    "run": Origin("run", "run"),
    "show": Origin("show", "show", "SHOW_EXAMPLES"),
    "new": Origin("show", "new", "NEW_EXAMPLES"),
    "stacks": Origin("show", "stacks", "STACKS_EXAMPLES"),
    "examples": Origin("examples", "examples"),
    "reproduce": Origin("reproduce", "reproduce"),
    "lab": Origin("lab", "lab"),
    "sweep": Origin("sweep", "sweep"),
    "study": Origin("study", "study"),
    "arena": Origin("arena", "arena"),
    "capture": Origin("capture", "command"),
    "conform": Origin("conform", "command"),
    "tune": Origin("tune", "tune"),
    "schema": Origin("show", "schema", "SCHEMA_EXAMPLES"),
    "results": Origin("results", "app", None),
    "live": Origin("live_all", "app", None),
}
"""Every command, in the order of the help."""

app = typer.Typer(
    name="ackclock",
    help="A laboratory for TCP loss recovery under packet reordering and bursty loss.",
    epilog=MAIN_EXAMPLES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    cls=group(COMMANDS),
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"ackclock {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)] = (
        False
    ),
) -> None:
    pass


def _interrupted_again(about: UnraisableHookArgs) -> None:
    """Repeat an interrupt that came while an object was being deleted: Python drops it."""
    if about.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(about)
        return
    import signal  # noqa: PLC0415 - rarely needed
    from threading import Timer, main_thread  # noqa: PLC0415 - the same

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
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(INTERRUPTED)
    except OSError as error:
        sys.exit(lost(error))
    except Exception as error:
        # Errors of the parser have no public base class in some versions of Typer.
        if not hasattr(error, "format_message"):
            raise
        sys.exit(_misused(error))
    sys.exit(code or 0)


def _misused(error: Any) -> int:  # noqa: ANN401 - the parser's
    """Print the error in a command line on one line, or the help if there are no arguments; return the exit code."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
    else:
        command = getattr(getattr(error, "ctx", None), "command_path", "ackclock")
        said = " ".join(error.format_message().split()).rstrip(".")
        typer.echo(f"ackclock: command line: {said}; see {command} --help", err=True)
    return BAD_INPUT
