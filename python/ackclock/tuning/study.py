"""The search: Optuna proposes trials in batches, which are run together and reported in order, so it is repeatable."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ackclock.errors import ScenarioError
from ackclock.late import optuna
from ackclock.runs.laboratory import Runs
from ackclock.runs.network import NetworkPath, Seeds, Setting, setting
from ackclock.runs.task import Task
from ackclock.tuning.objective import OnPath, Score, score
from ackclock.tuning.parameter import Value
from ackclock.tuning.plan import Plan

BATCH = 10
"""Trials per batch: enough for many cores, and few enough that each batch learns from the earlier ones."""
Runner = Callable[[Sequence[Task]], list[Runs]]
"""Makes runs, or finds stored ones, and returns them in the order of the tasks."""


@dataclass(frozen=True)
class Trial:
    """A setting that was tried; number 0 is the defaults."""

    number: int
    values: dict[str, Value]
    """Values by parameter, as run; empty for the defaults."""
    set: Setting
    """The same in the form that ``--set`` takes."""
    measured: tuple[OnPath, ...] | None
    """The runs on each path of the search; ``None`` if the setting was refused."""
    score: Score | None
    refused: str | None = None
    """Why the engine refused this combination of values; ``None`` if it did not."""


def search(plan: Plan, run: Runner) -> list[Trial]:
    """Try the plan's number of settings.

    Args:
        plan: the plan.
        run: makes the runs.

    Returns:
        The trials in order. The same plan, Optuna and engine give the same trials.

    Raises:
        ScenarioError: the defaults deliver nothing on one of the paths.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    defaults = _defaults(plan, run)
    trials = [defaults]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study = optuna.create_study(directions=["maximize", "minimize"], sampler=_sampler(plan))
        space = {p.path: p.distribution() for p in plan.parameters}
        known = plan.default_point()
        if known is not None and defaults.score is not None:
            study.add_trial(optuna.trial.create_trial(params=known, distributions=space, values=list(defaults.score)))
        while len(trials) < plan.trials:
            asked = [study.ask(space) for _ in range(min(BATCH, plan.trials - len(trials)))]
            made = _batch(plan, defaults, len(trials), asked, run)
            for one, trial in zip(asked, made, strict=True):
                state = optuna.trial.TrialState
                good = trial.score is not None
                study.tell(one, list(trial.score or ()) or None, state.COMPLETE if good else state.FAIL)
            trials += made
    return trials


def _sampler(plan: Plan) -> optuna.samplers.BaseSampler:
    if plan.search == "tpe":
        # The constant liar makes the trials of a batch differ.
        return optuna.samplers.TPESampler(seed=plan.seed, multivariate=True, constant_liar=True)
    return optuna.samplers.NSGAIISampler(seed=plan.seed)


def _defaults(plan: Plan, run: Runner) -> Trial:
    measured = tuple(OnPath.of(done) for done in run([p.task(plan.stack, (), plan.seeds) for p in plan.paths]))
    check_goodput(plan.paths, measured)
    return Trial(0, {}, (), measured, score(measured, measured))


def check_goodput(paths: Sequence[NetworkPath], defaults: Sequence[OnPath]) -> None:
    """Refuse paths on which the ratio to the defaults' goodput is undefined.

    Raises:
        ScenarioError: the defaults deliver nothing on a path.
    """
    for path, on in zip(paths, defaults, strict=True):
        if not all(on.goodput):
            found, allowed = "a run in which nothing arrives", "paths on which the defaults deliver data"
            message = f"{path.file}: path {path.name}: found {found}, allowed: {allowed}"
            raise ScenarioError(message, path.file, None, None, found, allowed, None)


def _batch(plan: Plan, defaults: Trial, first: int, asked: Sequence[optuna.Trial], run: Runner) -> list[Trial]:
    """Run a batch of trials."""
    drafts = [_draft(plan, first + i, one) for i, one in enumerate(asked)]
    good = [draft for draft in drafts if draft.refused is None]
    tasks = [path.task(plan.stack, draft.set, plan.seeds) for draft in good for path in plan.paths]
    done = iter(run(tasks))
    measured = {d.number: tuple(OnPath.of(next(done)) for _ in plan.paths) for d in good}
    base = defaults.measured or ()
    return [
        Trial(d.number, d.values, d.set, measured[d.number], score(measured[d.number], base)) if d in good else d
        for d in drafts
    ]


def _draft(plan: Plan, number: int, asked: optuna.Trial) -> Trial:
    """Create a trial before its runs, and check whether it is valid."""
    values = {p.path: p.value(asked.params[p.path]) for p in plan.parameters}
    tried = tuple((path, setting(value)) for path, value in values.items())
    refused = None
    try:
        for path in plan.paths:
            path.task(plan.stack, tried, Seeds(plan.seeds.first, 1)).identities()
    except ScenarioError as error:
        refused = str(error)
    return Trial(number, values, tried, None, None, refused)
