"""The results under a paper's readings, as a section of its page: sentences, a picture, tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from ackclock.papers.design import BEST, Readings, Scored, effects, ranked
from ackclock.papers.paper import Paper, Picture, Section, Table
from ackclock.papers.reading import READINGS
from ackclock.papers.readings import FILE
from ackclock.runs.trial import digest

SHOWN = 16
"""The largest number of options in the picture."""


def read(*folders: Path) -> Readings | None:
    """Return the readings from the first of these folders that has any; ``None`` if none has.

    Raises:
        OSError: the file cannot be read.
    """
    file = next((folder / FILE for folder in folders if (folder / FILE).is_file()), None)
    return None if file is None else Readings(json.loads(file.read_text(encoding="utf-8")))


def section(shown: Readings, paper: Paper, out: Path) -> Section:
    """Return the section, and draw its picture into the folder ``out``.

    Raises:
        OSError: the folder is missing or not writable.
    """
    tables = [_best(shown), _choices(shown)]
    if shown.row["other_than_full"]:
        tables.append(_others(shown))
    return Section("Readings", _sentences(shown), [_draw(shown, paper, out)], tables)


def _sentences(shown: Readings) -> list[str]:
    taken, measured = shown.done[0], shown.measured
    holding = [one.holding(measured) for one in shown.done]
    seeds, duration = shown.row["effort"]["seeds"], shown.row["effort"]["duration_s"]
    length = "as long as the paper's" if duration is None else f"{duration} s long"
    best = ranked(shown.done, shown.split)[0]
    more = sum(n > holding[0] for n in holding)
    lead = (
        f"The text leaves {len(shown.choices)} choices open. {len(shown.done)} readings were run: as taken, each "
        "choice changed alone, every pair changed, and a search from the best. "
        f"Each point has {seeds} seed{'' if seeds == 1 else 's'}, and runs are {length}."
    )
    counted = (
        f"Under the reading as taken, {holding[0]} of {len(measured)} measured claims hold. Across all readings "
        f"{min(holding)} to {max(holding)} hold; {more} readings have more than the one taken."
    )
    half = len(shown.split.scored), len(shown.split.held_out)
    reached = f"{best.score(shown.split.scored):g} points of {half[0]} there"
    other = f"{best.score(shown.split.held_out):g} of {half[1]}"
    if best.reading.otherwise:
        result = (
            f"Its best reading is {best.reading.name}: {reached}, compared with {taken.score(shown.split.scored):g} "
            f"for the reading as taken. In the other half it has {other}, compared with "
            f"{taken.score(shown.split.held_out):g}."
        )
    else:
        result = f"Its best reading is the one that is taken: {reached}, and {other} in the other half."
    out = (
        "The search scored half of the measured claims: every second one, in the order of the paper. "
        f"{result} A claim that holds scores one point, a claim that holds in part half a point."
    )
    return [lead, counted, out, "No choice was made because it scores better. Each follows from the text."]


def _best(shown: Readings) -> Table:
    full = {one.reading.name: one for one in shown.full}
    best = [one for one in ranked(shown.done, shown.split) if one.reading.otherwise][:BEST]

    def row(one: Scored) -> list[str]:
        halves = [f"{one.score(shown.split.scored):g}", f"{one.score(shown.split.held_out):g}"]
        in_full = full.get(one.reading.name)
        more = ["–", "–", "–"]  # noqa: RUF001 - nothing
        if in_full is not None:
            scores = (in_full.score(shown.split.scored), in_full.score(shown.split.held_out))
            more = [f"{scores[0]:g}", f"{scores[1]:g}", str(in_full.holding(shown.measured))]
        return [one.reading.name, *halves, str(one.holding(shown.measured)), *more]

    head = ("reading", "scored half", "held-out half", "hold", "in full: scored", "held out", "hold")
    return Table("The reading as taken and the best ones", head, [row(one) for one in [shown.done[0], *best]])


def _choices(shown: Readings) -> Table:
    changed = effects(shown.done, shown.measured)
    rows = []
    for choice in shown.choices:
        for option in choice.options:
            values = changed.get((choice.key, option.key))
            effect = "taken" if option.key == choice.taken else "–"  # noqa: RUF001 - nothing
            if values:
                effect = f"{fmean(values):+.2f} ({min(values):+g} to {max(values):+g})"
            rows.append([f"{choice.key} = {option.key}", effect, choice.question, option.text])
    return Table("The open choices", ("choice", "changes the score by", "question", "what supports it"), rows)


def _others(shown: Readings) -> Table:
    full = shown.full[0].verdicts if shown.full else {}
    rows = [
        [claim, shown.done[0].verdicts[claim].value, full[claim].value if claim in full else "other"]
        for claim in shown.row["other_than_full"]
    ]
    return Table("Claims that few, short runs judge differently", ("claim", "in the design", "in full"), rows)


def _draw(shown: Readings, paper: Paper, out: Path) -> Picture:
    from matplotlib.figure import Figure  # noqa: PLC0415 - needs matplotlib

    from ackclock.plot import style  # noqa: PLC0415 - likewise

    every = effects(shown.done, shown.measured)
    moving = {key: values for key, values in every.items() if any(values)}
    ordered = sorted(moving, key=lambda key: (-abs(fmean(moving[key])), key))[:SHOWN]
    with style.paper():
        figure = Figure(figsize=(7.0, max(2.4, 0.9 + 0.19 * len(ordered))), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.3))
        _histogram(left, shown)
        _effects(right, [(f"{key} = {option}", moving[key, option]) for key, option in ordered])
        svg = style.save(figure, out / "readings", {"Title": f"{paper.title}: readings"})
    still = len(every) - len(moving)
    hidden = len(moving) - len(ordered)
    caption = (
        "Left: the number of readings under which each number of measured claims holds; the line is the reading as "
        "taken. Right: the amount by which an option changes the score of all measured claims, with everything else "
        f"alike: the mean (dot) and the range over all such pairs of readings. {still} of {len(every)} options change "
        "no score."
        + (f" {hidden} more with little effect {'is' if hidden == 1 else 'are'} left out." if hidden else "")
    )
    scenarios = [file.name for file in sorted(paper.folder.glob("scenario*.toml"))]
    point = f"ackclock reproduce {paper.key} --readings --quick"
    return Picture("readings", "Which choices matter", caption, svg, [*scenarios, READINGS], _digest(shown), point)


def _digest(shown: Readings) -> str:

    return digest([json.dumps(shown.row["readings"], sort_keys=True)])


def _histogram(axes: Any, shown: Readings) -> None:  # noqa: ANN401 - matplotlib is loaded late
    counted = Counter(one.holding(shown.measured) for one in shown.done)
    axes.bar(list(counted), list(counted.values()), width=0.8, color="#0072B2")
    axes.axvline(shown.done[0].holding(shown.measured), color="#1c1e21", linewidth=1, linestyle="--")
    axes.set_xlabel(f"measured claims that hold, of {len(shown.measured)}")
    axes.set_ylabel("readings")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.get_major_locator().set_params(integer=True)


def _effects(axes: Any, rows: Sequence[tuple[str, Sequence[float]]]) -> None:  # noqa: ANN401 - likewise
    for at, (_, values) in enumerate(rows):
        axes.plot([min(values), max(values)], [at, at], color="#5b6068", linewidth=1)
        axes.plot([fmean(values)], [at], "o", color="#D55E00")
    axes.axvline(0, color="#1c1e21", linewidth=0.6)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows], fontsize=6.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("change of the score, claims")
