"""Published papers, reproduced: ``ackclock reproduce`` runs them, draws their figures and judges their claims.

A paper is a folder of ``papers/`` (scenarios, claims, reference values, a README with its set-up) and a module here
that has a :class:`~ackclock.papers.paper.Paper` under the name ``PAPER``. To add one, list its module below.
"""

from __future__ import annotations

MODULES = {
    "hoe-1995": "ackclock.papers.hoe",
    "blanton-allman-2002": "ackclock.papers.blanton_allman",
    "wang-shin": "ackclock.papers.wang_shin",
    "leung-ma-2005": "ackclock.papers.leung_ma",
    "fukuda-2018": "ackclock.papers.fukuda",
}
"""The module of each paper by the paper's key, which is also its folder's name; in the order of the report."""

EXTRAS = {"across": "ackclock.papers.across"}
"""The module of each page that belongs to no paper, likewise by its name on the command line; it has an
:class:`~ackclock.papers.paper.Extra` under the name ``EXTRA``."""
