"""What the package and the command load when they start."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from ackclock.cli.lazy import Origin
from ackclock.cli.live import COMMANDS as LIVE
from ackclock.cli.main import COMMANDS

SLOW = ("matplotlib", "numpy", "polars", "pyarrow", "sqlite3")
"""Packages that take longer to load than a short run."""


def loaded(code: str) -> set[str]:
    """The modules that are loaded after this code has run in a fresh interpreter."""
    show = "import sys; sys.stdout.flush(); print('|'.join(['', *sys.modules]))"
    full = f"import atexit\natexit.register(lambda: exec({show!r}))\n{code}"
    done = subprocess.run([sys.executable, "-c", full], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split("|")[1:])


def command(*words: str) -> str:
    """Code that does what the program does with these words on its command line."""
    return f"import sys; sys.argv = ['ackclock', *{list(words)!r}]\nfrom ackclock.__main__ import main\nmain()"


def slow(found: set[str], *more: str) -> list[str]:
    """The loaded modules that are slow, or begin with one of these names."""
    return sorted(name for name in found if name.split(".")[0] in SLOW or name.startswith(more or ("ackclock.none",)))


def test_the_import_loads_nothing_that_a_first_call_does_not_need() -> None:
    found = loaded("import ackclock")
    assert slow(found, "click", "rich", "json", "inspect", "dataclasses", "tomli_w") == []
    own = {name for name in found if name.startswith("ackclock")}
    assert own == {"ackclock", "ackclock._native", "ackclock.arena", "ackclock.study", "ackclock.sweep"}


def test_the_version_is_printed_without_the_parser() -> None:
    found = loaded(command("--version"))
    assert slow(found, "click", "rich", "json", "inspect", "dataclasses", "ackclock.cli") == []


def test_a_run_loads_its_own_command_alone(short: Path) -> None:
    found = loaded(command("run", str(short), "--json", "--stack", "reno", "--seeds", "2", "--set", "rto.tick=500ms"))
    assert slow(found, "rich", "ackclock.api", "ackclock.tables.printed", "ackclock.result") == []
    used = {name.removeprefix("ackclock.") for name in found if name.startswith("ackclock.cli.")}
    assert used == {"cli.main", "cli.output", "cli.lazy", "cli.common", "cli.run", "cli.scenario"}
    assert slow(loaded(command("run", str(short)))) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_loads_nothing_slow(name: str) -> None:
    assert slow(loaded(command(name, "--help"))) == []


def test_the_package_lists_every_name_and_loads_each() -> None:
    import ackclock  # noqa: PLC0415 - the subject

    assert set(ackclock.__all__) <= set(dir(ackclock))
    assert [name for name in ackclock.__all__ if getattr(ackclock, name, None) is None] == []
    assert callable(ackclock.sweep)
    assert callable(ackclock.study)
    with pytest.raises(AttributeError, match="has no attribute 'polt'"):
        _ = ackclock.polt


def test_every_command_is_in_the_help_in_order_and_can_be_loaded() -> None:
    done = subprocess.run([sys.executable, "-m", "ackclock", "--help"], capture_output=True, text=True, check=True)
    listed = [line.split()[0] for line in done.stdout.partition("Commands:\n")[2].splitlines() if line[2:3].strip()]
    assert [name for name in listed if name in COMMANDS] == list(COMMANDS)


@pytest.mark.parametrize("origin", [*COMMANDS.values(), *LIVE.values()], ids=lambda origin: origin.name)
def test_what_the_list_says_about_a_command_begins_its_own_help(origin: Origin) -> None:
    found = getattr(import_module(f"ackclock.cli.{origin.module}"), origin.name)
    assert " ".join(found.help.split()).startswith(origin.about)


def test_help_and_completion_of_commands_load_none_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def own() -> set[str]:
        return {
            name.removeprefix("ackclock.") for name in loaded(command("--help")) if name.startswith("ackclock.cli.")
        }

    assert own() == {"cli.main", "cli.output", "cli.lazy", "cli.common"}
    for name, value in {"COMPLETE": "bash_complete", "WORDS": "ackclock r", "CWORD": "1"}.items():
        monkeypatch.setenv(("_ACKCLOCK_" if name == "COMPLETE" else "COMP_") + name, value)
    assert own() == {"cli.main", "cli.output", "cli.lazy", "cli.common"}


def test_a_mistyped_command_is_answered_with_the_nearest_one() -> None:
    done = subprocess.run([sys.executable, "-m", "ackclock", "rnu"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("ackclock: command line: No such command 'rnu'. Did you mean 'run'?; see ")
