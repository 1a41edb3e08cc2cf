"""The folder of a tuning: the runs as JSON and Parquet, the front, and the best parameters ready to paste."""

from __future__ import annotations

import io
from pathlib import Path

from ackclock import _native, files
from ackclock.document import quoted, written
from ackclock.tuning.best import Best
from ackclock.tuning.result import Tuning

NAMES = ("tuning.json", "trials.parquet", "best.toml", "front.svg")


def write(tuning: Tuning, folder: Path) -> None:
    """Write all of ``NAMES``; the folder is created.

    Raises:
        OSError: a file could not be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    table = io.BytesIO()
    tuning.trials.write_parquet(table)
    content = (tuning.json.encode(), table.getvalue(), best(tuning).encode(), figure(tuning))
    for name, what in zip(NAMES, content, strict=True):
        files.write(folder / name, what)


def best(tuning: Tuning) -> str:
    """The choices as tables of parameters, each with the option that sets it."""
    plan = tuning.plan
    lines = [f"# {plan.name}: parameters of {plan.stack}; ackclock {_native.__version__}, {about(tuning)}."]
    lines += ["# Copy a table's lines into a scenario's [flow.set]; its comment has them for the command line."]
    for one in tuning.best.values():
        lines += ["", *_table(one, plan.stack)]
    return "\n".join(lines) + "\n"


def _table(one: Best, stack: str) -> list[str]:

    change = 100 * (one.goodput - 1)
    lines = [f"# {one.meaning}: trial {one.trial}, goodput {change:+.2f} %, needless {100 * one.needless:.3f} %"]
    if not one.set:
        return [*lines, "# These are the defaults.", f"[{one.choice}]"]
    options = " ".join(f"--set '{path}={value}'" for path, value in one.set.items())
    lines.append(f"# ackclock run scenario.toml --stack {stack} {options}")
    return [*lines, f"[{one.choice}]", *(f"{quoted(k)} = {written(v)}" for k, v in one.parameters.items())]


def figure(tuning: Tuning) -> bytes:
    """Return the front as SVG; equal trials give equal bytes."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - needs matplotlib

    from ackclock.plot import style  # noqa: PLC0415 - needs matplotlib

    with style.paper():
        drawn = Figure(figsize=style.WIDE_INCHES, layout="constrained")
        for axes, near in zip(drawn.subplots(1, 2), (False, True), strict=True):
            tuning.plot(axes, near)
            axes.set_title("the front alone" if near else f"{tuning.plan.name}, all trials", loc="left")
        drawn.supxlabel(about(tuning), fontsize=5, color="#666666", x=0.995, ha="right")
        image = io.BytesIO()
        title = {"Title": f"ackclock tune: {tuning.plan.name}", "Description": about(tuning), "Date": None}
        drawn.savefig(image, format="svg", metadata=title)
    return style.lean(image.getvalue().decode()).encode()


def about(tuning: Tuning) -> str:
    """A short description of the search."""
    plan = tuning.plan
    seeds = f"seeds {plan.seeds.first} to {plan.seeds.last}"
    return f"{plan.trials} trials by {plan.search}, search seed {plan.seed}, {seeds} on {len(plan.paths)} paths"
