"""The program ``ackclock``, also as ``python -m ackclock``; it loads only the modules that the command line needs."""

from __future__ import annotations

import sys


def main() -> None:
    """Print the version if nothing else is asked for; otherwise run the command."""
    if sys.argv[1:] != ["--version"]:
        from ackclock.cli.main import main as command  # noqa: PLC0415 - start-up time

        command()
        return
    from ackclock import __version__  # noqa: PLC0415 - likewise

    try:
        print(f"ackclock {__version__}", flush=True)
    except OSError as error:
        from ackclock.cli.output import lost  # noqa: PLC0415 - likewise

        sys.exit(lost(error))


if __name__ == "__main__":
    main()
