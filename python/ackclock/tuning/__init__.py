"""Searching for better parameters: more goodput and fewer needless retransmissions over a set of paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock.tuning.result import Tuning


def tune(
    plan: str | PathLike[str] | Mapping[str, Any],
    *,
    trials: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> Tuning:
    """Search a stack's parameters for more goodput and fewer needless retransmissions over a set of paths.

    Args:
        plan: path of a plan (docs/tuning.md), the text of one (anything with a line break in it), or what such a text
            says as a dict, in which scenarios may be :class:`ackclock.Scenario`.
        trials: how many settings are tried, the defaults among them, instead of the plan's number.
        seed: of the search, instead of the plan's. With the same one the same settings are tried.
        threads: how many runs at once; by default one for each core. Results do not depend on it.
        progress: called now and then with the share that is done, from 0 to 1.

    Returns:
        Every trial, the front, the choices, and what these are worth on held-out seeds and paths.

    Raises:
        ScenarioError: the plan, or a scenario that it names, makes no sense.
        OSError: a plan or scenario could not be read.
        ModuleNotFoundError: Optuna is not installed.
        KeyboardInterrupt: as usual; finished runs are kept, and the same call goes on.
    """
    from ackclock.tuning.best import CHOICES, hold_out, named  # noqa: PLC0415 - start-up time
    from ackclock.tuning.plan import read  # noqa: PLC0415 - likewise
    from ackclock.tuning.result import Tuning  # noqa: PLC0415 - likewise
    from ackclock.tuning.runs import Runs  # noqa: PLC0415 - likewise
    from ackclock.tuning.study import search  # noqa: PLC0415 - likewise

    checked = read(plan, trials=trials, seed=seed)
    told = progress or (lambda _: None)
    searched = checked.trials * len(checked.paths) * checked.seeds.count
    settings = len(CHOICES) + 1
    held_out = settings * (len(checked.paths) + len(checked.held_out)) * checked.held_out_seeds.count
    share = searched / (searched + held_out)
    runs = Runs(threads)
    made = search(checked, runs, lambda done: told(share * done / checked.trials))
    rows = hold_out(checked, named(made), runs, lambda done: told(share + (1 - share) * done / settings))
    return Tuning(checked, made, rows)
