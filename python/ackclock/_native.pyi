from collections.abc import Callable, Sequence

__all__ = ["__version__", "interval", "run_json", "stack_names", "stacks_json"]

__version__: str

def run_json(
    file: str,
    text: str | None,
    stack: str | None,
    set: Sequence[tuple[str, str]],
    seed: int | None,
    trace: str | None,
    threads: int | None,
    progress: Callable[[float], object] | None,
) -> str: ...
def stacks_json() -> str: ...
def stack_names() -> list[str]: ...
def interval(values: Sequence[float]) -> tuple[float, float | None]: ...
