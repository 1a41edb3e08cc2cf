"""The named choices from the front, and their value on paths and seeds that the search has not seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.document import Value
from ackclock.errors import ScenarioError
from ackclock.runs.network import Seeds, Setting
from ackclock.statistics import interval
from ackclock.tuning.objective import OnPath, Score, front, geometric_mean, knee, mean
from ackclock.tuning.plan import Plan
from ackclock.tuning.study import Runner, Trial, check_goodput

MOST_GOODPUT, FEWEST_NEEDLESS, KNEE = CHOICES = ("most-goodput", "fewest-needless", "knee")
MEANING: Mapping[str, str] = {
    MOST_GOODPUT: "the most goodput with no more needless retransmissions than the defaults",
    FEWEST_NEEDLESS: "the fewest needless retransmissions with no less goodput than the defaults",
    KNEE: "the knee of the front",
}


@dataclass(frozen=True)
class Best:
    """A named choice from the front."""

    choice: str
    meaning: str
    trial: int
    parameters: dict[str, Any]
    """The values that were tried; empty for the defaults."""
    set: dict[str, str]
    """The same in the form that ``--set``, ``ak.run(set=…)`` and ``[flow.set]`` take."""
    goodput: float
    """Goodput on the search's paths and seeds, relative to the defaults."""
    needless: float
    """Needless retransmissions there, as a share of the packets sent."""


@dataclass(frozen=True)
class Change:
    """The effect of a choice, paired by seed: a mean, and the ends of its 95 % confidence interval."""

    mean: float
    low95: float | None
    """``None`` for a single seed, or if a run delivered nothing."""
    high95: float | None

    @classmethod
    def of_shares(cls, differences: Sequence[float]) -> Change:
        """Compute the change of a share from its differences, one for each seed."""
        mean, half = interval(differences)
        return cls(mean, None, None) if half is None else cls(mean, mean - half, mean + half)

    @classmethod
    def of_ratios(cls, ratios: Sequence[float]) -> Change:
        """Compute a relative change from its ratios, one for each seed: the geometric mean, less one.

        Logarithms are averaged, because the mean of ratios is above one even if neither side is better.
        """
        if not all(ratios):
            return cls(-1.0, None, None)
        mean, half = interval([math.log(ratio) for ratio in ratios])
        low, high = (None, None) if half is None else (math.expm1(mean - half), math.expm1(mean + half))
        return cls(math.expm1(mean), low, high)


@dataclass(frozen=True)
class HeldOut:
    """A choice compared with the defaults on one path, or on all paths of a kind, on seeds new to the search."""

    choice: str
    trial: int
    reset: str | None
    """A parameter reset to its default; ``None`` for the choice as found."""
    path: str | None
    """The path; ``None`` for all paths of this kind."""
    searched: bool
    """Whether the search has seen the path (it has never seen these seeds)."""
    seeds: int
    default_goodput: float | None
    """Bytes/s, mean over the seeds; ``None`` for all paths."""
    goodput: float | None
    goodput_change: Change
    """Change of the ratio to the defaults' goodput with the same seed, 0 if equal; its geometric mean over paths."""
    default_needless: float
    """Share of the packets sent, mean over the seeds and the paths."""
    needless: float
    needless_change: Change
    """Change of that share."""


def pareto(trials: Sequence[Trial]) -> list[Trial]:
    """The trials that no other dominates, with the fewest needless retransmissions first."""
    run, scores = _run(trials)
    return [run[i] for i in front(scores)]


def named(trials: Sequence[Trial]) -> dict[str, Trial]:
    """Return the trial for each of ``CHOICES``; the first two are the defaults if nothing better was found."""
    run, scores = _run(trials)
    base = scores[0]
    few = [i for i, s in enumerate(scores) if s.needless <= base.needless]
    fast = [i for i, s in enumerate(scores) if s.goodput >= base.goodput]
    best = front(scores)
    return {
        MOST_GOODPUT: run[min(few, key=lambda i: (-scores[i].goodput, scores[i].needless, i))],
        FEWEST_NEEDLESS: run[min(fast, key=lambda i: (scores[i].needless, -scores[i].goodput, i))],
        KNEE: run[best[knee([scores[i] for i in best])]],
    }


def _run(trials: Sequence[Trial]) -> tuple[list[Trial], list[Score]]:
    """The trials that were not refused."""
    pairs = [(t, t.score) for t in trials if t.score is not None]
    return [t for t, _ in pairs], [s for _, s in pairs]


def hold_out(plan: Plan, best: Mapping[str, Trial], run: Runner) -> list[HeldOut]:
    """Run the choices and the defaults on new seeds: on the search's paths, and on the held-out paths.

    The first choice that is not the defaults is also run with each of its parameters in turn reset to its default,
    which shows the value of that parameter.

    Args:
        plan: the paths and seeds.
        best: the choices by name.
        run: makes the runs.

    Returns:
        For each choice a row for each path, one for all searched paths and one for all held-out paths; then the last
        two kinds of rows for each parameter that is reset.

    Raises:
        ScenarioError: a held-out path is invalid.
    """
    paths = (*plan.paths, *plan.held_out)
    variants = [_Variant(choice, trial.number, None, trial.set) for choice, trial in best.items()]
    variants += _resets(plan, best)
    settings = dict.fromkeys([(), *(variant.set for variant in variants)])
    done = iter(run([path.task(plan.stack, tried, plan.held_out_seeds) for tried in settings for path in paths]))
    measured = {tried: [OnPath.of(next(done)) for _ in paths] for tried in settings}
    check_goodput(paths, measured[()])
    rows: list[HeldOut] = []
    for variant in variants:
        both = list(zip(measured[variant.set], measured[()], strict=True))
        parts = ((plan.paths, both[: len(plan.paths)], True), (plan.held_out, both[len(plan.paths) :], False))
        for part, pairs, searched in parts:
            if variant.reset is None:
                rows += [_row(variant, path.name, searched, [pair]) for path, pair in zip(part, pairs, strict=True)]
            if pairs:
                rows.append(_row(variant, None, searched, pairs))
    return rows


@dataclass(frozen=True)
class _Variant:
    """A choice, possibly with one parameter reset to its default."""

    choice: str
    trial: int
    reset: str | None
    set: Setting


def _resets(plan: Plan, best: Mapping[str, Trial]) -> list[_Variant]:
    """The first choice that is not the defaults, with each parameter reset in turn; invalid settings are left out."""
    variants: list[_Variant] = []
    choice, trial = next(((c, t) for c, t in best.items() if len(t.set) > 1), (None, None))
    if choice is None or trial is None:
        return variants
    for path, _ in trial.set:
        rest = tuple(pair for pair in trial.set if pair[0] != path)
        try:
            for on in (*plan.paths, *plan.held_out):
                on.task(plan.stack, rest, Seeds(plan.held_out_seeds.first, 1)).identities()
        except ScenarioError:
            continue
        variants.append(_Variant(choice, trial.number, path, rest))
    return variants


def _row(variant: _Variant, path: str | None, searched: bool, pairs: Sequence[tuple[OnPath, OnPath]]) -> HeldOut:
    """Make a row from pairs of runs (the choice's, the defaults') on one or more paths."""
    seeds = range(len(pairs[0][0].goodput))
    ratios = [geometric_mean([ours.goodput[i] / base.goodput[i] for ours, base in pairs]) for i in seeds]
    shares = [mean([ours.needless[i] - base.needless[i] for ours, base in pairs]) for i in seeds]
    alone = pairs[0] if path is not None else None
    return HeldOut(
        variant.choice,
        variant.trial,
        variant.reset,
        path,
        searched,
        len(seeds),
        alone[1].mean_goodput if alone else None,
        alone[0].mean_goodput if alone else None,
        Change.of_ratios(ratios),
        mean([base.mean_needless for _, base in pairs]),
        mean([ours.mean_needless for ours, _ in pairs]),
        Change.of_shares(shares),
    )


def table(plan: Plan, best: Mapping[str, Best], defaults: Trial) -> tuple[list[str], list[list[str]]]:
    """Header and rows: each parameter with its default and its value in every choice, and the scores of the search."""
    usual, choices = plan.defaults, best.values()
    rows = [
        [
            p.path,
            " or ".join(dict.fromkeys(_shown(default[p.path]) for default in usual)),
            *(_shown(one.parameters.get(p.path, "default")) for one in choices),
        ]
        for p in plan.parameters
    ]
    needless = [defaults.score.needless if defaults.score else math.nan, *(one.needless for one in choices)]
    rows += [
        ["trial", "0", *(str(one.trial) for one in choices)],
        ["goodput, searched", "", *(f"{100 * (one.goodput - 1):+.2f} %" for one in choices)],
        ["needless, searched", *(f"{100 * share:.3f} %" for share in needless)],
    ]
    return ["parameter", "default", *best], rows


def _shown(value: Value) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
