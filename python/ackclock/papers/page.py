"""RESULTS.md: every claim of a paper with its verdict, the numbers and the figures."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import ackclock
from ackclock.papers.claims import Finding, Verdict, headline, kinds, ours, published
from ackclock.papers.paper import README, Picture, Reproduced, Table

TITLES = {
    Verdict.DIFFERS: "Claims that differ",
    Verdict.PARTLY: "Claims that hold in part",
    Verdict.UNDECIDED: "Undecided claims",
    Verdict.UNCHECKED: "Claims that cannot be checked",
}


def markdown(done: Reproduced, pictures: Mapping[str, Path], here: Path) -> str:
    """Render the page.

    Args:
        done: the paper and its results.
        pictures: the file of each figure, by name.
        here: the page's folder; links are relative to it.
    """
    return "\n\n".join(_parts(done, pictures, here)) + "\n"


def _parts(done: Reproduced, pictures: Mapping[str, Path], here: Path) -> Iterator[str]:
    paper, outcome, spent = done.paper, done.outcome, done.spent
    found = outcome.findings
    first, last = outcome.seeds
    yield f"# {paper.title}: results"
    readme = " README.md has the set-up and what the paper leaves unsaid."
    yield (
        f"Written by `{'make' if done.own else 'ackclock'} reproduce`: {outcome.runs} runs of {outcome.span}. "
        f"Ackclock {ackclock.__version__}, seeds {first} to {last}, runs {outcome.digest}."
        + (readme if (paper.folder / README).is_file() else "")
    )
    yield (
        f"In all, including runs compared with other simulators: {spent.points:,} points (a set-up with all its "
        f"seeds), {spent.runs:,} runs, {spent.simulated_s:,.0f} s simulated, {spent.packets:,} data packets sent."
    )
    yield f"**{headline(found)}**"
    yield "\n".join(f"- {line}" for line in kinds(found))
    yield "## Claims"
    yield (
        "In brackets are 95 % intervals from 1000 resamples of the seeds. The rule turns the paper's words into "
        "bounds (docs/verdicts.md)."
    )
    head = ("claim", "where", "what", "published", "ours", "rule", "kind", "verdict")
    yield _table(head, [_row(f) for f in found])
    for verdict, title in TITLES.items():
        chosen = [f for f in found if f.verdict is verdict]
        if chosen:
            yield f"## {title}"
            yield "\n".join(line for f in chosen for line in _reasons(f, done))
    if done.section is not None:
        yield f"## {done.section.title}"
        yield from done.section.sentences
        yield from (_picture(picture, pictures, here) for picture in done.section.pictures)
        yield from (part for table in done.section.tables for part in _titled(table))
    yield "## Numbers"
    yield from (part for table in outcome.tables for part in _titled(table))
    for reference in outcome.references:
        yield f"## {reference.table.title}"
        yield "\n".join(f"- {sentence}" for sentence in reference.sentences)
    yield "## Figures"
    yield from (_picture(picture, pictures, here) for picture in outcome.pictures)


def _picture(picture: Picture, pictures: Mapping[str, Path], here: Path) -> str:
    link = Path(os.path.relpath(pictures[picture.name], here)).as_posix()
    return f"![{picture.title}]({link})\n\n*{picture.title}.* {picture.caption}"


def _row(f: Finding) -> list[str]:
    c = f.claim
    verdict = f.verdict.value if f.verdict is Verdict.HOLDS else f"**{f.verdict.value}**"
    return [c.id, c.where, c.quantity, published(c), ours(f), c.rule, c.kind.value, verdict]


def _reasons(f: Finding, done: Reproduced) -> list[str]:
    id = f.claim.id
    what = f"- **{id}** ({f.claim.where}; {f.claim.quantity}): "
    if cause := done.causes.get(id):
        lines = [what + cause.text, f"  - {f.why} ({cause.kind}; shown by `{cause.shown}`)"]
    else:
        lines = [what + f.why]
    if done.readings is not None and id in done.readings.measured:
        lines.append(f"  - {done.readings.says(id)}")
    return lines


def _titled(table: Table) -> list[str]:
    return [f"{table.title}:", _table(table.head, table.rows)]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
