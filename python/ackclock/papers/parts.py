"""Parts of the pages that come from files: figures and a README's set-up."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markupsafe import Markup

SETUP = "## Set-up"
"""The part of a paper's README.md that its page shows."""


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
    body = re.sub(r"\s*\n\s*", " ", body)
    return Markup(body.replace("<svg", f'<svg role="img" style="--points: {width}"', 1))


def setup(readme: str) -> Markup:
    """The set-up's section of a README, as HTML."""
    _, _, rest = readme.partition(f"\n{SETUP}\n")
    section, _, _ = rest.partition("\n## ")
    text = MarkdownIt("commonmark", {"html": False}).enable("table").render(section)
    return Markup(text.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>"))
