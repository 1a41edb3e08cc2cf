"""The pages: ``report.html`` for everything, ``KEY.html`` for each paper and extra page, ``comparison.html``.

Each page is a single file without scripts, external fonts or external pictures.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import ackclock
from ackclock.lab_page import HOST, PORT
from ackclock.papers import sizes
from ackclock.papers.causes import CAUSES
from ackclock.papers.claims import Finding, Kind, Verdict, by_kind, counts, headline, ours, published
from ackclock.papers.folder import PAPER
from ackclock.papers.paper import README, Done, Picture, Reference, Reproduced, Section, Shown
from ackclock.papers.parts import LEARNED, labels, section, shown_in
from ackclock.papers.reading import READINGS
from ackclock.papers.rules import TEXT
from ackclock.plot.style import inline
from ackclock.runs.laboratory import Spent
from ackclock.statistics import Verdict as Agreement

FRONT, COMPARISON = "report.html", "comparison.html"
COSTS = (
    ("points", "points", False),
    ("runs", "runs", False),
    ("simulated", "simulated", False),
    ("packets", "packets", False),
    ("packets a second", "speed", True),
    ("processor time", "processor", True),
    ("wall time", "wall", True),
)
"""Columns: title, entry of ``sizes.words``, and whether the value is measured and so changes from run to run."""


DECIDED = (Verdict.HOLDS, Verdict.PARTLY, Verdict.UNDECIDED, Verdict.DIFFERS)
"""Verdicts on claims that could be checked."""


@dataclass(frozen=True)
class Mark:
    """The display of a verdict: a word and a sign, so that it does not depend on colour."""

    name: str
    """Its class in the style sheet."""
    sign: str
    plural: str


OTHERS = (PAPER, READINGS, CAUSES)
"""TOML files of a paper's folder that are not scenarios."""
MARKS = {
    Verdict.HOLDS.value: Mark("holds", "✓", "hold"),
    Verdict.PARTLY.value: Mark("partly", "◐", "partly"),
    Verdict.UNDECIDED.value: Mark("undecided", "~", "undecided"),
    Verdict.DIFFERS.value: Mark("differs", "✗", "differ"),
    Verdict.UNCHECKED.value: Mark("open", "?", "cannot be checked"),
}


@dataclass(frozen=True)
class Link:
    """A page as other pages refer to it."""

    file: str
    title: str


def pages(
    done: Done, named: Sequence[str], options: Sequence[str], papers: Path, lab: str | None = None
) -> dict[str, str]:
    """Render every page, by file name.

    Args:
        done: the results.
        named: the papers and extra pages that were requested by name; empty: all of them.
        options: options of ``ackclock reproduce`` that change results.
        papers: the folder of Ackclock's papers, whose README.md says what was learned.
        lab: the address of the lab page, for links to it. Default: the one that ``ackclock lab`` serves.

    Raises:
        OSError: a scenario or a figure is missing.
    """
    elsewhere = {one.paper.key: str(one.paper.folder) for one in done.papers if not one.own}

    def command(*keys: str) -> str:
        return shlex.join(["ackclock", "reproduce", *(elsewhere.get(key, key) for key in keys), *options])

    site = _site(done)
    templates = Environment(
        loader=PackageLoader("ackclock.papers"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals |= {"version": ackclock.__version__, "marks": MARKS, "site": site, "command_for": command}
    templates.globals |= {"lab": lab or f"http://{HOST}:{PORT}/", "lab_is_here": lab is None}

    def page(file: str, template: str, context: dict[str, Any]) -> str:
        at = [link.file for link in site].index(file)
        before, after = (site[i] if 0 <= i < len(site) else None for i in (at - 1, at + 1))
        return templates.get_template(template).render(here=file, before=before, after=after, **context)

    return {
        FRONT: page(FRONT, "front.html", {**_front(done, papers), "command": command(*named)}),
        **{f"{one.paper.key}.html": page(f"{one.paper.key}.html", "paper.html", _paper(one)) for one in done.papers},
        COMPARISON: page(COMPARISON, "comparison.html", {"references": _references(done)}),
        **{f"{one.extra.key}.html": page(f"{one.extra.key}.html", "extra.html", _extra(one)) for one in done.extras},
    }


def _site(done: Done) -> list[Link]:
    """The pages in order."""
    return [
        Link(FRONT, "Overview"),
        *(Link(f"{one.paper.key}.html", one.paper.title) for one in done.papers),
        Link(COMPARISON, "Other simulators"),
        *(Link(f"{one.extra.key}.html", one.extra.title) for one in done.extras),
    ]


def _front(done: Done, papers: Path) -> dict[str, Any]:
    spent = [(one.paper.title, one.spent) for one in done.papers] + [(e.extra.title, e.spent) for e in done.extras]
    total = Spent.total(each for _, each in spent)
    if len(spent) > 1:
        spent.append(("all", total))
    return {
        "total": sizes.words(total),
        "counts": _counts([f for one in done.papers for f in one.outcome.findings]),
        "papers": [_card(one) for one in done.papers],
        "learned": _learned(done, papers / README),
        "headline": _headline(done),
        "extras": [
            {"key": e.extra.key, "title": e.extra.title, "about": e.extra.about, "spent": sizes.words(e.spent)}
            for e in done.extras
        ],
        "spent": [(title, sizes.words(each)) for title, each in spent],
        "costs": COSTS,
    }


def _card(one: Reproduced) -> dict[str, Any]:
    paper, outcome = one.paper, one.outcome
    of = by_kind(outcome.findings)[Kind.MEASURED]
    compared = [value for reference in outcome.references for value in reference.compared()]
    return {
        "measured": sum(of.values()) - of[Verdict.UNCHECKED],
        "of": [(verdict.value, of[verdict]) for verdict in DECIDED],
        "compared": f"{sum(v.reproduced for v in compared)} of {len(compared)}" if compared else "–",  # noqa: RUF001
        "holding": _range(one),
        "key": paper.key,
        "title": paper.title,
        "about": paper.about,
        "counts": _counts(outcome.findings),
        "spent": sizes.words(one.spent),
        "differing": [_claim(f, one) for f in outcome.findings if _differs(f)],
    }


def _range(one: Reproduced) -> str:
    """The fewest and the most measured claims that hold under the readings of the text."""
    if one.readings is None:
        return "–"  # noqa: RUF001 - nothing
    holding = [each.holding(one.readings.measured) for each in one.readings.done]
    return f"{min(holding)} to {max(holding)} of {len(one.readings.measured)}"


def _headline(done: Done) -> dict[str, Any] | None:
    """The first picture of the first extra page that has one: a result across the papers."""
    drawn = (
        (one.extra, picture) for one in done.extras for section in one.sections for picture in section.pictures[:1]
    )
    return next(({"key": extra.key, "figure": _figure(extra.folder.parent, picture)} for extra, picture in drawn), None)


def _learned(done: Done, readme: Path) -> str:
    """The lessons from Ackclock's papers; empty if none of them was run."""
    own = readme.is_file() and any(one.own for one in done.papers)
    return section(readme.read_text(encoding="utf-8"), LEARNED) if own else ""


def _paper(one: Reproduced) -> dict[str, Any]:
    paper, folder, outcome = one.paper, one.paper.folder, one.outcome
    readme = folder / README
    claims = [_claim(f, one) for f in outcome.findings]
    return {
        "key": paper.key,
        "title": paper.title,
        "cite": paper.cite,
        "about": paper.about,
        "counts": _counts(outcome.findings),
        "claims": claims,
        "readings": None if one.section is None else _section(one.section, folder),
        "runs": outcome.runs,
        "span": outcome.span,
        "seeds": outcome.seeds,
        "digest": outcome.digest,
        "spent": sizes.words(one.spent),
        "scenarios": [(path.name, _hash(path)) for path in sorted(folder.glob("*.toml")) if path.name not in OTHERS],
        "figures": [
            {
                **_figure(folder, picture, f"{paper.key}/{picture.name}" if one.own else None),
                "claims": _drawn(picture, claims),
            }
            for picture in outcome.pictures
        ],
        "references": outcome.references,
        "setup": section(readme.read_text(encoding="utf-8")) if readme.is_file() else None,
        "tables": outcome.tables,
    }


def _extra(one: Shown) -> dict[str, Any]:
    return {
        "key": one.extra.key,
        "title": one.extra.title,
        "about": one.extra.about,
        "spent": sizes.words(one.spent),
        "sections": [_section(section, one.extra.folder.parent) for section in one.sections],
    }


def _references(done: Done) -> list[dict[str, Any]]:
    return [
        {"paper": one.paper.title, "key": one.paper.key, "id": f"{one.paper.key}-{n}", **_compared(reference)}
        for one in done.papers
        for n, reference in enumerate(one.outcome.references, 1)
    ]


def _differs(f: Finding) -> bool:
    """Whether the finding appears on the front page."""
    return f.claim.kind is Kind.MEASURED and f.verdict in (Verdict.DIFFERS, Verdict.PARTLY)


def _compared(reference: Reference) -> dict[str, Any]:
    values = reference.compared()
    kinds = {
        "values": len(values),
        "reproduced": sum(value.reproduced for value in values),
        "intervals overlap": values.count(Agreement.OVERLAP),
        "outside": values.count(Agreement.OUTSIDE),
    }
    return {
        "simulator": reference.simulator,
        "table": reference.table,
        "sentences": reference.sentences,
        "good": reference.good,
        "values_by_kind": [(kind, n if values else "–") for kind, n in kinds.items()],  # noqa: RUF001 - nothing
    }


def _counts(findings: Sequence[Finding]) -> dict[str, object]:
    """Input of the macro ``bar``: the headline, and the verdicts of each kind of claim that occurs."""
    every = by_kind(findings)
    return {
        "headline": headline(findings),
        "kinds": [
            (kind.value, [(verdict.value, n) for verdict, n in of.items()])
            for kind, of in every.items()
            if any(of.values())
        ],
        "all": [(verdict.value, n) for verdict, n in counts(findings).items()],
    }


def _section(section: Section, folder: Path) -> dict[str, Any]:
    return {
        "title": section.title,
        "sentences": section.sentences,
        "figures": [_figure(folder, picture) for picture in section.pictures],
        "tables": section.tables,
    }


def _claim(f: Finding, one: Reproduced) -> dict[str, object]:
    c = f.claim
    known = one.readings is not None and c.id in one.readings.measured
    return {
        "id": c.id,
        "where": c.where,
        "quantity": c.quantity,
        "published": published(c),
        "rule": c.rule.removeprefix(TEXT),
        "kind": c.kind.value,
        "measured": ours(f),
        "verdict": f.verdict.value,
        "brief": f.brief,
        "why": f.why,
        "readings": one.readings.says(c.id) if known and one.readings else None,
        "cause": one.causes.get(c.id),
    }


def _drawn(picture: Picture, claims: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """The claims that name the figure; they are shown beside it."""
    named = [(claim, labels(str(claim["where"]))) for claim in claims]
    here = shown_in(picture.name, set().union(*(which for _, which in named)))
    return [claim for claim, which in named if which & here]


def _figure(folder: Path, picture: Picture, preset: str | None = None) -> dict[str, object]:
    """Input of the macro ``figure``; ``preset`` is the lab page's preset for it."""
    return {
        "name": picture.name,
        "title": picture.title,
        "caption": picture.caption,
        "svg": Markup(inline(picture.svg.read_text(encoding="utf-8"), f"{picture.name}-")),
        "scenarios": [(name, _hash(folder / name)) for name in picture.scenarios],
        "claims": [],
        "runs": picture.runs,
        "point": picture.point,
        "preset": preset,
    }


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
