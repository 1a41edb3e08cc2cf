"""``report.html``: everything that came out, in one file that needs nothing else."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

import ackclock
from ackclock.papers.claims import Finding, Verdict, counts, ours
from ackclock.papers.paper import Paper, Picture, Reproduced

SETUP = "## Set-up"
"""The part of a paper's README.md that the report shows."""


@dataclass(frozen=True)
class Mark:
    """How a verdict looks: a word and a sign, so that colour is not needed."""

    name: str
    """Its class in the style sheet."""
    sign: str
    plural: str


MARKS = {
    Verdict.HOLDS.value: Mark("holds", "✓", "hold"),
    Verdict.DIFFERS.value: Mark("differs", "✗", "differ"),
    Verdict.UNCHECKED.value: Mark("open", "?", "cannot be checked"),
}


def html(done: Sequence[Reproduced], options: Sequence[str]) -> str:
    """The page.

    Args:
        done: the papers, and what came out.
        options: those of ``ackclock reproduce`` that change results.

    Raises:
        OSError: a paper's README, a scenario or a figure is missing.
    """
    templates = Environment(
        loader=PackageLoader("ackclock.papers", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def command(*keys: str) -> str:
        return shlex.join(["ackclock", "reproduce", *keys, *options])

    return templates.get_template("report.html").render(
        version=ackclock.__version__,
        marks=MARKS,
        command=command(),
        command_for=command,
        papers=[_paper(one) for one in done],
    )


def _paper(one: Reproduced) -> dict[str, Any]:
    paper, folder, outcome = one.paper, one.folder, one.outcome
    scenarios = {path.name: _hash(path) for path in sorted(folder.glob("scenario*.toml"))}
    return {
        "key": paper.key,
        "title": paper.title,
        "cite": paper.cite,
        "about": paper.about,
        "counts": [(verdict.value, n) for verdict, n in counts(outcome.findings).items()],
        "claims": [_claim(f) for f in outcome.findings],
        "runs": outcome.runs,
        "span": outcome.span,
        "seeds": outcome.seeds,
        "digest": outcome.digest,
        "scenarios": list(scenarios.items()),
        "figures": [_figure(paper, picture, scenarios) for picture in outcome.pictures],
        "references": outcome.references,
        "setup": setup((folder / "README.md").read_text(encoding="utf-8")),
        "tables": outcome.tables,
    }


def _claim(f: Finding) -> dict[str, object]:
    c = f.claim
    return {
        "id": c.id,
        "where": c.where,
        "quantity": c.quantity,
        "published": c.published,
        "accept": c.accept.removeprefix("= ").replace("<=", "≤").replace(">=", "≥"),
        "ours": "ours" in c.provenance,
        "measured": ours(f),
        "verdict": f.verdict.value,
        "why": f.why,
        "tried": f.tried,
    }


def _figure(paper: Paper, picture: Picture, scenarios: Mapping[str, str]) -> dict[str, object]:
    svg = picture.svg.read_text(encoding="utf-8")
    return {
        "name": picture.name,
        "title": picture.title,
        "caption": picture.caption,
        "svg": inline(svg, f"{paper.key}-{picture.name}-"),
        "scenarios": [(name, scenarios[name]) for name in picture.scenarios],
        "runs": picture.runs,
        "point": picture.point,
    }


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def inline(svg: str, prefix: str) -> Markup:
    """A figure as a part of the page: without what only files need, and with names of its own."""
    body = svg[svg.index("<svg") :]
    for part in (r"<metadata>.*?</metadata>", r"<style.*?</style>", r"<!--.*?-->"):
        body = re.sub(part, "", body, flags=re.DOTALL)
    head, _, rest = body.partition(">")
    _, _, width, _ = re.findall(r"[\d.]+", head[head.index("viewBox") :])[:4]
    body = re.sub(r'\s(?:xmlns(?::\w+)?|version|width|height)="[^"]*"', "", head) + ">" + rest
    body = re.sub(r'\bid="', f'id="{prefix}', body)
    body = re.sub(r'(xlink:href="|url\()#', rf"\1#{prefix}", body)
    return Markup(body.replace("<svg", f'<svg role="img" style="--points: {width}"', 1))


def setup(readme: str) -> Markup:
    """The set-up's section of a README, as HTML."""
    _, _, rest = readme.partition(f"\n{SETUP}\n")
    section, _, _ = rest.partition("\n## ")
    # Its headings are one level below the page's own "Set-up".
    section = re.sub(r"^###(?=#* )", "####", section, flags=re.MULTILINE)
    text = MarkdownIt("commonmark", {"html": False}).enable("table").render(section)
    return Markup(text.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>"))
