from collections.abc import Callable, Sequence
from typing import final

__all__ = [
    "Runs",
    "Table",
    "__version__",
    "check",
    "events",
    "identities",
    "interval",
    "read_toml",
    "results_revision",
    "run",
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

@final
class Table:
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...

@final
class Runs:
    @property
    def scenario(self) -> str: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def first(self) -> tuple[int, str]: ...
    def json(self) -> str: ...
    def frame(self) -> Table: ...
    def summary(self) -> Table: ...
    def links(self) -> Table: ...
    def background(self) -> Table: ...
    def reordering(self) -> Table: ...
    def __len__(self) -> int: ...

def run(
    file: str,
    text: str | None,
    stacks: Sequence[str],
    set: Sequence[tuple[str, str]],
    seed: int | None,
    seeds: int | None,
    trace: str | None,
    threads: int | None,
    progress: Callable[[float], object] | None,
) -> Runs: ...
def events(
    file: str,
    text: str | None,
    stack: str | None,
    set: Sequence[tuple[str, str]],
    seed: int,
    progress: Callable[[float], object] | None,
) -> tuple[str, Table]: ...
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
