"""A study as a single page for a decision, and as a table for papers."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ackclock import _native
from ackclock.runs.network import NetworkPath
from ackclock.study.found import Found, OnPath
from ackclock.study.paired import average
from ackclock.study.words import beside_baseline, sentences


def html(found: Found, picture: str) -> str:
    """Render the page with the picture inside."""
    loader = FileSystemLoader(Path(__file__).parent)
    page = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return page.get_template("page.html").render(
        asked=found.question,
        sentences=sentences(found),
        picture=picture[picture.index("<svg") :],
        head=head(found),
        tables=[(part.name, cells(found, part)) for part in found.parts],
        commands=commands(found),
        version=_native.__version__,
        revision=_native.results_revision,
    )


def head(found: Found) -> list[str]:
    """The header of the ranking, for people."""
    return ["place", "stack", *(m.title for m in found.measures), f"against {found.question.baseline}"]


def cells(found: Found, part: OnPath) -> list[list[str]]:
    """The ranking of a path, for people: a row for each stack."""
    rows = []
    for place in part.places:
        where = f"{place.first}" if place.first == place.last else f"{place.first} to {place.last}"
        means = [(m, average(part.values[m.key][place.stack], m)) for m in found.measures]
        numbers = ["-" if mean is None else m.shown(mean) for m, mean in means]
        rows.append([where, place.stack, *numbers, beside_baseline(found, part, place.stack)])
    return rows


def scenarios(found: Found) -> dict[str, str]:
    """The scenarios of paths that no file contains in the form that was run, by a name for their file."""
    paths = enumerate(found.question.paths, 1)
    return {f"path-{number}.toml": path.text for number, path in paths if not _in_a_file(path)}


def commands(found: Found) -> list[str]:
    """The command that repeats the study, and for each path the command that shows a run of its best stack."""
    asked = found.question
    best = asked.stacks[found.overall.places[0].stack]
    again = [] if asked.file == "study" or asked.file.startswith("<") else [f"ackclock study {shlex.quote(asked.file)}"]
    for number, path in enumerate(asked.paths, 1):
        file = path.file if _in_a_file(path) else f"path-{number}.toml"
        options = "".join(f" --set {shlex.quote(f'{key}={value}')}" for key, value in path.set)
        run = f"ackclock run {shlex.quote(file)} --stack {shlex.quote(best)}{options}"
        again.append(f"{run} --seed {asked.seeds.first} --plot course.svg")
    return again


def _in_a_file(path: NetworkPath) -> bool:
    try:
        return Path(path.file).read_text(encoding="utf-8") == path.text
    except (OSError, UnicodeDecodeError):
        return False


def tex(found: Found) -> str:
    """The rankings as a LaTeX table, for ``booktabs``."""
    rows = []
    for part in found.parts:
        lines = [" & ".join(map(_escaped, row)) + r" \\" for row in cells(found, part)]
        span = len(head(found))
        rows += [rf"\multicolumn{{{span}}}{{l}}{{\emph{{{_escaped(part.name)}}}}} \\", *lines, r"\midrule"]
    columns = "ll" + "r" * (len(head(found)) - 2)
    top = " & ".join(map(_escaped, head(found))) + r" \\"
    said = "\n".join(f"% {line}" for line in sentences(found))
    table = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", top, r"\midrule", *rows[:-1], r"\bottomrule"]
    return "\n".join([said, *table, r"\end{tabular}", ""])


def _escaped(text: str) -> str:
    return re.sub(r"([&%$#_{}])", r"\\\1", text)
