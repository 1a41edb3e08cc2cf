"""The results of a tuning: tables, the choices, files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from ackclock import _native
from ackclock.late import optuna, pl
from ackclock.tuning.best import MEANING, Best, HeldOut, named, pareto, table
from ackclock.tuning.plan import Plan
from ackclock.tuning.study import Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Tuning:
    """The trials of a tuning, its front, its choices, and their value on held-out seeds and paths."""

    def __init__(self, plan: Plan, made: Sequence[Trial], held_out: Sequence[HeldOut]) -> None:
        """Keep the results."""
        self.plan = plan
        self._made = list(made)
        self._held_out = list(held_out)
        self._front = {trial.number for trial in pareto(self._made)}

    @cached_property
    def trials(self) -> pl.DataFrame:
        """Every setting tried: a row for each, with the defaults as number 0.

        Columns: ``trial``, a column for each parameter (null for the defaults), ``goodput`` (relative to the defaults,
        geometric mean over the paths), ``needless`` (share of the packets sent, mean over the paths), ``front``
        (whether no other trial dominates it), ``refused`` (why it could not run, else null), and for each path
        ``goodput_bytes_per_s: NAME`` and ``needless: NAME``, means over the seeds.
        """
        return pl.DataFrame([self._row(trial) for trial in self._made], infer_schema_length=None)

    @property
    def front(self) -> pl.DataFrame:
        """The rows of :attr:`trials` on the Pareto front, with the fewest needless retransmissions first."""
        return self.trials.filter(pl.col("front")).sort("needless", "trial")

    @cached_property
    def best(self) -> dict[str, Best]:
        """The named choices: ``most-goodput``, ``fewest-needless`` and ``knee``."""
        found: dict[str, Best] = {}
        for choice, trial in named(self._made).items():
            goodput, needless = trial.score or (0.0, 0.0)
            found[choice] = Best(
                choice, MEANING[choice], trial.number, trial.values, dict(trial.set), goodput, needless
            )
        return found

    @cached_property
    def held_out(self) -> pl.DataFrame:
        """The choices compared with the defaults on seeds, and paths, that the search has not seen.

        There is a row for each choice and path; ``path`` is null in rows about all searched, or all held-out, paths.
        More rows show the first choice that is not the defaults with each parameter in turn reset to its default.
        Columns: ``choice``, ``trial``, ``reset`` (that parameter, else null), ``path``, ``searched`` (whether the
        search has seen the path), ``seeds`` (their number), ``default_goodput``, ``goodput`` (bytes/s),
        ``goodput_change`` (geometric mean, less one, of the ratio to the defaults with the same seed),
        ``default_needless``, ``needless`` (shares of the packets sent), ``needless_change`` (mean difference with the
        same seed), and for each change ``…_low95`` and ``…_high95``, the ends of its 95 % confidence interval.
        """
        return pl.DataFrame([_flat(row) for row in self._held_out], infer_schema_length=None)

    def choices(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows: each parameter with its default and its value in every choice, and the search's scores."""
        return table(self.plan, self.best, self._made[0])

    def plot(self, ax: Axes | None = None, near: bool = False) -> Axes:
        """Draw the trials, the front and the choices: goodput against needless retransmissions.

        Args:
            ax: the axes to draw on. Default: a new figure.
            near: show only the front, without the defaults and the trials around it.
        """
        from ackclock.tuning.figure import front  # noqa: PLC0415 - needs matplotlib

        return front(self._made, self.best, ax, near)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``tuning.json``."""
        plan = self.plan
        return {
            "name": plan.name,
            "stack": plan.stack,
            "ackclock": _native.__version__,
            "results_revision": _native.results_revision,
            "optuna": optuna.__version__,
            "search": {"kind": plan.search, "seed": plan.seed, "trials": plan.trials},
            "seeds": asdict(plan.seeds),
            "held_out_seeds": asdict(plan.held_out_seeds),
            "paths": [path.name for path in plan.paths],
            "held_out_paths": [path.name for path in plan.held_out],
            "plan": plan.said,
            "defaults": plan.defaults,
            "front": [trial.number for trial in pareto(self._made)],
            "best": [asdict(one) for one in self.best.values()],
            "held_out": [_flat(row) for row in self._held_out],
            "trials": [self._row(trial) for trial in self._made],
        }

    @property
    def json(self) -> str:
        """Return the same as text."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"

    def __repr__(self) -> str:
        """The tuned stack, and the sizes of the tables."""
        return f"<ackclock.Tuning: {self.plan.name}, {len(self._made)} trials, {len(self._front)} on the front>"

    def _repr_html_(self) -> str:
        """The choices, for notebooks."""
        head, rows = self.choices()
        top = "".join(f"<th>{escape(title)}</th>" for title in head)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        caption = f"{self.plan.name}: {len(self._made)} trials of {self.plan.stack} on {len(self.plan.paths)} paths"
        return f"<table><caption>{escape(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"

    def _row(self, trial: Trial) -> dict[str, Any]:
        goodput, needless = trial.score or (None, None)
        row: dict[str, Any] = {"trial": trial.number}
        row |= {p.path: trial.values.get(p.path) for p in self.plan.parameters}
        row |= {"goodput": goodput, "needless": needless}
        row |= {"front": trial.number in self._front, "refused": trial.refused}
        for at, path in enumerate(self.plan.paths):
            on = trial.measured[at] if trial.measured else None
            row[f"goodput_bytes_per_s: {path.name}"] = on.mean_goodput if on else None
            row[f"needless: {path.name}"] = on.mean_needless if on else None
        return row


def _flat(row: HeldOut) -> dict[str, Any]:
    """A row with each change split into three columns."""
    flat: dict[str, Any] = {}
    for key, value in asdict(row).items():
        if isinstance(value, Mapping):
            flat |= {key: value["mean"], f"{key}_low95": value["low95"], f"{key}_high95": value["high95"]}
        else:
            flat[key] = value
    return flat
