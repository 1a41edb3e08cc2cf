from collections.abc import Callable, Sequence

__all__ = [
    "__version__",
    "check",
    "identities",
    "interval",
    "read_toml",
    "results_revision",
    "run_json",
    "run_rows",
    "schema_json",
    "seconds",
    "show_toml",
    "stack_names",
    "stacks_json",
]

__version__: str
results_revision: int

def run_json(
    file: str,
    text: str | None,
    stacks: Sequence[str],
    set: Sequence[tuple[str, str]],
    seed: int | None,
    seeds: int | None,
    trace: str | None,
    threads: int | None,
    progress: Callable[[float], object] | None,
) -> str: ...
def run_rows(
    file: str,
    text: str | None,
    stack: str | None,
    set: Sequence[tuple[str, str]],
    seed: int | None,
    seeds: int | None,
    threads: int | None,
    progress: Callable[[float], object] | None,
) -> list[str]: ...
def check(file: str, text: str | None) -> None: ...
def read_toml(file: str, text: str) -> str: ...
def show_toml(
    file: str,
    text: str | None,
    stack: str | None,
    set: Sequence[tuple[str, str]],
    seed: int | None,
    seeds: int | None,
) -> str: ...
def identities(
    file: str,
    text: str | None,
    stack: str | None,
    set: Sequence[tuple[str, str]],
    seed: int | None,
    seeds: int | None,
) -> list[str]: ...
def schema_json() -> str: ...
def stacks_json() -> str: ...
def stack_names() -> list[str]: ...
def seconds(option: str, text: str) -> float: ...
def interval(values: Sequence[float]) -> tuple[float, float | None]: ...
