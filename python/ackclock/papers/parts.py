"""Parts of the pages that come from files: a README's set-up, the labels of figures."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markupsafe import Markup

SETUP = "## Set-up"
"""The part of a paper's README.md that its page shows."""
LEARNED = "## What was learned"
"""The part of the README.md of all papers that the front page shows."""


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
