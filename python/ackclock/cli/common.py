"""Shared by the commands: types and options, and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeVar

import click

from ackclock.errors import AlgorithmError, CaptureError, LiveError, ScenarioError

FAILED, BAD_INPUT, INTERRUPTED, TERMINATED = 1, 2, 130, 143
KEPT = "; finished runs are kept and the same command continues"
"""The end of an error's message in commands that keep runs."""

Function = TypeVar("Function", bound=Callable[..., Any])


class Decorator(Protocol):
    """Adds an option or an argument to a command's function."""

    def __call__(self, function: Function, /) -> Function:
        """Return the function."""


PATH = click.Path(path_type=Path)
"""A file or a folder that may be missing."""
SEED = click.IntRange(0, 2**63 - 1)

store = click.option(
    "--store",
    metavar="DIR",
    type=PATH,
    help="Folder of finished runs.  [default: $ACKCLOCK_STORE or ackclock-results]",
)
on = click.option(
    "--on", metavar="WHERE", help="dask://HOST:PORT, or dask:N for N local processes. Default: this machine."
)
allow_python = click.option(
    "--allow-python",
    is_flag=True,
    help="Run Python code that the file names. It runs with your permissions; use only code that you trust.",
)
threads = click.option(
    "--threads",
    metavar="N",
    type=click.IntRange(1, 2**31 - 1),
    help="Runs in parallel. Default: one per core.",
)
"""The largest number is one that any system takes."""


def as_json(instead: str = "a table") -> Decorator:
    """The option ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print JSON instead of {instead}.")


def fail(message: str, code: int = BAD_INPUT) -> NoReturn:
    """Print one line and exit."""
    click.echo(f"ackclock: {' '.join(message.split())}", err=True)
    raise click.exceptions.Exit(code)


def need(command: str, extras: Mapping[str, str]) -> None:
    """Exit if one of these packages is not installed; each has the extra that installs it."""
    for package, extra in extras.items():
        if find_spec(package) is None:
            fail(f'{command} needs {package}, which is not installed: pip install "ackclock[{extra}]"', FAILED)


@contextmanager
def refusals(kept: Callable[[], str] = lambda: "", extra: str | None = None) -> Iterator[None]:
    """Turn any error inside into one message and an exit code; errors of Python algorithms print a traceback first.

    Args:
        kept: returns the text after a semicolon that says what is not lost.
        extra: the extra of the package that installs the command's dependencies.
    """
    try:
        yield
    except click.exceptions.Exit:  # already reported; it is a subclass of RuntimeError
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
        click.echo(error.traceback, err=True, nl=False)
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
