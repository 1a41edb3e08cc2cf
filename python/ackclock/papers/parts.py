"""Parts of the pages that come from files: figures and a README's set-up."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markupsafe import Markup

SETUP = "## Set-up"
"""The part of a paper's README.md that its page shows."""
LEARNED = "## What was learned"
"""The part of the README.md of all papers that the front page shows."""


def inline(svg: str, prefix: str) -> Markup:
    """Return a figure for inclusion in the page: file headers are removed and IDs get a prefix."""
    body = svg[svg.index("<svg") :]
    for part in (r"<metadata>.*?</metadata>", r"<style.*?</style>", r"<!--.*?-->"):
        body = re.sub(part, "", body, flags=re.DOTALL)
    head, _, rest = body.partition(">")
    _, _, width, _ = re.findall(r"[\d.]+", head[head.index("viewBox") :])[:4]
    body = re.sub(r'\s(?:xmlns(?::\w+)?|version|width|height)="[^"]*"', "", head) + ">" + rest
    body = re.sub(r'\bid="', f'id="{prefix}', body)
    body = re.sub(r'(xlink:href="|url\()#', rf"\1#{prefix}", body)
    body = re.sub(r"\s*\n\s*", " ", body)
    return Markup(body.replace("<svg", f'<svg role="img" style="--points: {width}"', 1))


def section(readme: str, title: str = SETUP) -> Markup:
    """Return a section of a README as HTML; empty if there is none."""
    _, _, rest = readme.partition(f"\n{title}\n")
    section, _, _ = rest.partition("\n## ")
    text = MarkdownIt("commonmark", {"html": False}).enable("table").render(section)
    return Markup(text.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>"))


LABEL = re.compile(r"(Fig|Table)(?:ure|ures|s)?\.? (\w+(?:\.\d+)?(?:\(\w+\))?(?:, \d+(?:\.\d+)?)*)")


def labels(where: str) -> set[str]:
    """The figures and tables that a claim refers to: ``{"fig 3", "fig 4"}`` for ``§IV-A, Figures 3, 4``."""
    found = set()
    for kind, numbers in LABEL.findall(where):
        found |= {f"{kind.lower()} {number.partition('(')[0]}" for number in numbers.split(", ")}
    return found


def shown_in(name: str, known: set[str]) -> set[str]:
    """The figures and tables of the paper that correspond to a picture of this name.

    Args:
        name: ``fig3-5`` means Figures 3 to 5, or Figure 3.5 if the paper numbers by chapter; ``table5`` Table 5.
        known: all labels in the paper's claims.
    """
    said = re.match(r"(fig|table)(\d+)(?:-(\d+))?(?:-|$)", name)
    if said is None:
        return set()
    kind, first, last = said.groups()
    if last is None:
        return {f"{kind} {first}"}
    if any(re.fullmatch(rf"{kind} \d+\.\d+", label) for label in known):
        return {f"{kind} {first}.{last}"}
    return {f"{kind} {n}" for n in range(int(first), int(last) + 1)}
