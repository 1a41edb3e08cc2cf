"""``ackclock lab``; the server is in ``ackclock.lab_page``, which is loaded when the command is called."""

from __future__ import annotations

from pathlib import Path

import click

from ackclock import _native, files
from ackclock.cli.common import FAILED, PATH, fail
from ackclock.document.permission import PAGE, refusing
from ackclock.errors import ScenarioError
from ackclock.lab_page import built, fragment, serve, server

EXAMPLES = """\b
Examples:
  ackclock lab
  ackclock lab paths.toml
  ackclock lab --port 9000 --no-open
"""
NOT_BUILT = "the lab page is not built; `make web` builds it (Node and Rust are needed); every wheel includes it"


def _opening(scenario: Path | None) -> str:
    """The URL fragment that opens a valid scenario."""
    if scenario is None:
        return ""
    try:
        text = files.text(scenario)
        with refusing(PAGE):
            _native.identities(str(scenario), text, None, [], None, None)
        return fragment(text)
    except ScenarioError as error:
        fail(str(error))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error.reason
        fail(f"{scenario}: found no readable file ({why}), allowed: the path of a scenario file in TOML")


@click.command(epilog=EXAMPLES)
@click.argument("scenario", type=PATH, required=False, metavar="[SCENARIO.toml]", help="Scenario to open.")
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    help="Port; 0 chooses a free one. [default: 8437, or a free one if that is taken]",
)
@click.option("--open/--no-open", "look", default=True, help="Open a browser.")
def lab(scenario: Path | None, port: int | None, look: bool) -> None:
    """Serve the lab page to this machine: see every packet of a run, change anything.

    A link shares what it shows.
    """
    folder = built()
    if folder is None:
        fail(NOT_BUILT, FAILED)
    at = _opening(scenario)
    try:
        serving = server(folder, port)
    except OSError as error:
        fail(f"port {port}: {error.strerror or error}", FAILED)
    opened = f"#{at}" if at else ""
    serve(serving, at, lambda address: click.echo(f"The lab is at {address}{opened}\nCtrl-C ends it."), look=look)
