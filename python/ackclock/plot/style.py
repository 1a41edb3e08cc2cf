"""The look of figures: readable on paper, in grey and by colour-blind readers; equal numbers give equal bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from ackclock import files

WIDE_INCHES = (7.0, 2.85)
"""Across both columns of a conference page."""
SINGLE_INCHES = (4.6, 3.2)
"""Wider than one column, to fit a legend above."""
PRINT_DPI = 200


@contextmanager
def paper() -> Iterator[None]:
    """Matplotlib settings for everything drawn and saved in the context."""
    with mpl.rc_context(
        {
            "font.size": 8,
            "axes.titlesize": 8,
            "axes.labelsize": 8,
            "legend.fontsize": 7,
            "xtick.labelsize": 7.5,
            "ytick.labelsize": 7.5,
            "axes.linewidth": 0.6,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "grid.color": "#dddddd",
            "grid.linewidth": 0.5,
            "lines.linewidth": 1.2,
            "lines.markersize": 3.2,
            "lines.markeredgewidth": 0.9,
            "errorbar.capsize": 2,
            "legend.frameon": False,
            "svg.hashsalt": "ackclock",
        }
    ):
        yield


def save(figure: Figure, stem: Path, about: Mapping[str, str]) -> Path:
    """Write ``stem``.svg and ``stem``.png with the metadata ``about`` (Title, Description); return the SVG file.

    Raises:
        OSError: the folder is missing or not writable.
    """
    # Each save solves the layout again, with a rounding difference, so the order affects the bytes.
    for ending, extra in ((".svg", {"Date": None}), (".png", {"Software": None})):
        image = io.BytesIO()
        figure.savefig(image, format=ending[1:], dpi=PRINT_DPI, metadata={**about, **extra})
        drawn = image.getvalue()
        files.write(stem.with_suffix(ending), lean(drawn.decode()).encode() if ending == ".svg" else drawn)
    return stem.with_suffix(".svg")


def lean(svg: str) -> str:
    """Round coordinates to a hundredth of a point, an eighth of a printed dot: traces have thousands of them."""
    return re.sub(r'\b(d|x|y)="([^"]*)"', _rounded, svg)


def _rounded(attribute: re.Match[str]) -> str:
    numbers = re.sub(r"-?\d+\.\d+", lambda n: f"{float(n[0]):.2f}".rstrip("0").rstrip("."), attribute[2])
    return f'{attribute[1]}="{numbers}"'


def inline(svg: str, prefix: str) -> str:
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
    return body.replace("<svg", f'<svg role="img" style="--points: {width}"', 1)


def drawn_inline(figure: Figure, prefix: str) -> str:
    """Draw a figure for inclusion in a page; ``prefix`` sets its IDs apart from those of other figures."""
    image = io.BytesIO()
    with paper():
        figure.savefig(image, format="svg", dpi=PRINT_DPI, metadata={"Date": None})
    return inline(lean(image.getvalue().decode()), prefix)
