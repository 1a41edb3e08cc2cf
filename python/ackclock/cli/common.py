"""Shared by the commands that make many runs: options for the store and the executor, and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from ackclock.errors import AlgorithmError, CaptureError, LiveError, ScenarioError

FAILED, BAD_INPUT, INTERRUPTED, TERMINATED = 1, 2, 130, 143

Store = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder of finished runs.  [default: $ACKCLOCK_STORE or ackclock-results]",
        show_default=False,
    ),
]
On = Annotated[
    str | None,
    typer.Option(metavar="WHERE", help="dask://HOST:PORT, or dask:N for N local processes. Default: this machine."),
]
AllowPython = Annotated[
    bool,
    typer.Option(
        "--allow-python",
        help="Run Python code that the file names. It runs with your permissions; use only code that you trust.",
    ),
]
MOST_THREADS = 2**31 - 1
"""The largest number that any system takes."""
Threads = Annotated[
    int | None,
    typer.Option(metavar="N", help="Runs in parallel. Default: one per core.", min=1, max=MOST_THREADS),
]


def fail(message: str, code: int = BAD_INPUT) -> NoReturn:
    """Print one line and exit."""
    typer.echo(f"ackclock: {' '.join(message.split())}", err=True)
    raise typer.Exit(code)


@contextmanager
def refusals(kept: Callable[[], str] = lambda: "", extra: str | None = None) -> Iterator[None]:
    """Turn any error inside into one message and an exit code; errors of Python algorithms print a traceback first.

    Args:
        kept: returns the text after a semicolon that says what is not lost.
        extra: the extra of the package that installs the command's dependencies.
    """
    try:
        yield
    except typer.Exit:  # already reported; it is a subclass of RuntimeError
        raise
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        if extra is None or missing in {"dask", "distributed"}:
            fail(f'--on needs {missing or "dask"}, which is not installed: pip install "ackclock[dask]"', FAILED)
        fail(f"{error}: pip install 'ackclock[{extra}]'", FAILED)
    except ScenarioError as error:
        fail(f"{error}{kept()}")
    except AlgorithmError as error:
        # The error is in the user's code: show where.
        typer.echo(error.traceback, err=True, nl=False)
        fail(f"{error}{kept()}", FAILED)
    except CaptureError as error:
        fail(f"{error}{kept()}")
    except LiveError as error:
        fail(f"{error}{kept()}", error.exit_code)
    except (OSError, RuntimeError) as error:
        fail(f"{error}{kept()}", FAILED)
    except ValueError as error:
        if extra is None:
            raise
        fail(str(error))
    except KeyboardInterrupt:
        fail(f"interrupted{kept()}", INTERRUPTED)
