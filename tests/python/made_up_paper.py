"""A made-up paper: one point, one figure, a claim for each verdict, and another simulator's values."""

from __future__ import annotations

from matplotlib.figure import Figure

from ackclock.papers import claims
from ackclock.papers.paper import Outcome, Picture, Reference, Table, Work
from ackclock.plot import style
from ackclock.runs.trial import Ran, Trial
from ackclock.statistics import Verdict


def point(work: Work) -> Ran:
    """Run the only point."""
    (ran,) = work.run("runs", [Trial("scenario.toml")]).values()
    return ran


def judged(work: Work) -> list[claims.Finding]:
    """Run the point, and judge."""
    packets = point(work).values("data_packets_sent")[0]
    many, few, taste = claims.read(work.folder / "claims.csv")
    return [
        claims.judge(many, (packets,)),
        claims.judge(few, (packets,), ((packets - 1, packets),), "Rates are others. So it is."),
        claims.Finding(taste, claims.Verdict.UNCHECKED, note="It has none."),
    ]


def reproduce(work: Work) -> Outcome:
    """Judge, and draw."""
    ran, found = point(work), judged(work)
    verdicts = [Verdict(line) for line in (work.folder / "verdicts.txt").read_text(encoding="utf-8").splitlines()]
    table = Table(
        "Compared with ns-0", ["point", "ours", "verdict"], [[str(i), "1", v.value] for i, v in enumerate(verdicts)]
    )
    reference = Reference(["All is said", "All is done."], all(v.good for v in verdicts), table)
    numbers = Table("Numbers of it", ["a", "b"], [["1", "2"]])
    return Outcome.of([ran], found, [draw(work, "fig1", "scenario.toml")], [numbers], [reference])


def draw(work: Work, name: str, scenario: str) -> Picture:
    """A figure with one line."""
    figure = Figure((2, 1))
    with style.paper():
        figure.add_subplot().plot([0, 1], [0, 1])
        svg = style.save(figure, work.out / name, {"Title": name})
    return Picture(name, f"Figure of {name}", "A line.", svg, [scenario], "0123456789abcdef", "ackclock run it")
