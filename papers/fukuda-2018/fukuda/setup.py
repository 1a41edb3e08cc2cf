"""Set-up of the runs for Fukuda et al. 2018, read back from their scenarios, and the order of Figure 2."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from itertools import pairwise

import polars as pl

import ackclock
from ackclock.papers.paper import Work
from ackclock.quantities import number
from ackclock.runs.trial import Document, Trial

from .curves import ONE, Family

FIGURE_2 = Trial("scenario-figure2.toml")
IN_SERVICE = 9
"""The number of the packet that R1 transmits while packets 10 to 20 wait."""


def parameters(families: Sequence[Family], work: Work) -> dict[str, str]:
    """The value of each parameter claim in all these runs, joined by "or" where runs differ.

    Raises:
        OSError, ValueError: see ``Work.document``.
    """
    ri = sorted({ri for family in families for ri in family.ris})
    # The first delay is the paper's; the others are around it.
    ran = [work.document(line[0]) for family in families for line in family.points]

    def common(pick: Callable[[Document], str]) -> str:
        return " or ".join(sorted({pick(document) for document in ran}))

    def interval(ri: int) -> str:
        return common(lambda d: f"{1e3 * ri * packet_s(d):.4g} ms")

    return {
        "S003-03": common(lambda d: f"{1e3 * packet_s(d):.4g} ms"),
        "S003-04": common(lambda d: f"{interval(4)}, {int(round_trip_s(d) / (4 * packet_s(d)))}"),
        "S003-05": f"{ri[0]} to {ri[-1]}, {interval(ri[0]).removesuffix(' ms')} to {interval(ri[-1])}",
        "S003-13": interval(8),
        "S003-18": interval(80),
        "S003-22": common(_topology),
    }


def packet_s(document: Document) -> float:
    """Transmission time of a packet at the bottleneck, in seconds."""
    flow = document["flow"][0]
    return (number(flow["segment"]) + number(flow["header"])) / number(document["link"][1]["rate"])


def round_trip_s(document: Document) -> float:
    """The sum of all links' delays in both directions, in seconds."""
    return 2 * sum(number(link["delay"]) for link in document["link"])


def _topology(document: Document) -> str:
    flow, links = document["flow"][0], document["link"]
    access = {(link["rate"], f"{1e3 * number(link['delay']):g} ms") for link in (links[0], links[2])}
    bottleneck = (links[1]["rate"], f"{1e3 * number(links[1]['delay']):g} ms")
    size = number(flow["segment"]) + number(flow["header"])
    return "; ".join(
        [
            ", ".join(bottleneck),
            " and ".join(", ".join(one) for one in sorted(access)),
            f"{1e3 * round_trip_s(document):g} ms",
            f"{size:g} B",
            f"{number(flow['app']['start']):g} to {number(document['run']['duration']):g} s",
        ]
    )


def factor(work: Work, one: Trial) -> float:
    """The factor by which a loss multiplies Cubic's window, with all defaults filled in.

    Raises:
        OSError, ScenarioError, ValueError: see ``Trial.task``.
    """
    task = work.read(one).task(work.folder, ONE)
    document = tomllib.loads(ackclock.show(task.text, set=dict(task.set), name=task.name))
    return float(document["flow"][0]["set"]["congestion"]["beta_1024"]) / 1024


def order_of_figure_2(work: Work) -> str:
    """The packets' numbers in the order of their arrival at the receiver, without the one in service.

    Raises:
        OSError, ScenarioError, ValueError: see ``Work.events``.
    """
    events = work.events(FIGURE_2)
    arrived = events.filter((pl.col("event") == "delivered") & (pl.col("side") == "receiver") & (pl.col("len") > 0))
    length = arrived["len"][0]
    first = [IN_SERVICE + (seq - 1) // length for seq in arrived["seq"]][:12]
    return ", ".join(str(n) for n in first if n != IN_SERVICE)


def spacing_s(work: Work, one: Trial) -> float:
    """The shortest time between arrivals of two overtaken packets, in seconds; retransmissions are left out.

    Raises:
        OSError, ScenarioError, ValueError: see ``Work.events``.
    """
    events = work.events(one)
    data = events.filter((pl.col("event") == "delivered") & (pl.col("side") == "receiver") & (pl.col("len") > 0))
    arrived = data.unique("seq", keep="first", maintain_order=True)
    late = arrived.filter(pl.col("seq") < pl.col("seq").cum_max())["time_ns"].to_list()
    return float(min(after - before for before, after in pairwise(late))) / 1e9
