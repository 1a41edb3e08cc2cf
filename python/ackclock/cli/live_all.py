"""All commands of ``ackclock live``."""

from __future__ import annotations

from ackclock.cli.live import app
from ackclock.cli.live_path import EXAMPLES as PATH_EXAMPLES
from ackclock.cli.live_path import path
from ackclock.cli.live_shell import EXAMPLES as SHELL_EXAMPLES
from ackclock.cli.live_shell import shell

__all__ = ["app"]

app.command(name="path", epilog=PATH_EXAMPLES)(path)
app.command(name="shell", epilog=SHELL_EXAMPLES)(shell)
