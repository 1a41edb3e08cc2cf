"""A page without a paper: two sections on the made-up paper's point."""

from __future__ import annotations

from matplotlib.figure import Figure

from ackclock.papers.paper import Picture, Section, Table, Work
from ackclock.plot import style
from ackclock.runs.trial import Trial, run

SCENARIO = "made-up-1999/scenario.toml"


def sections(work: Work) -> list[Section]:
    """Run the point with another stack."""
    run(work.lab, "more", work.folder, [Trial(SCENARIO, stack="reno")], work.effort)
    figure = Figure((2, 1))
    with style.paper():
        figure.add_subplot().plot([0, 1], [0, 1])
        svg = style.save(figure, work.out / "all", {"Title": "all"})
    picture = Picture("all", "Figure of all", "A line.", svg, [SCENARIO], "0123456789abcdef", "ackclock run it")
    table = Table("Table of it", ["stack", "n"], [["reno", "1"]])
    return [Section("First part", ["It is <so>."], [picture]), Section("Second part", tables=[table])]
