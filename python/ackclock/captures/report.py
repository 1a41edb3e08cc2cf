"""Captures as one page of HTML: sentences, shares of time, tables, graphs of the flows that lost most time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ackclock import _native
from ackclock.captures.selection import Answers, Selection
from ackclock.captures.shown import (
    FAILED,
    LEAST,
    Row,
    ShownColumn,
    Total,
    remarks,
    shown_columns,
    time_by_cause,
    total,
    total_words,
    totals,
)
from ackclock.plot.style import drawn_inline
from ackclock.quantities import duration

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

ROWS = 50
"""The number of rows of a table, unless the number of flows was chosen."""
EXCHANGES = 20
"""The number of slow exchanges."""
GRAPHS = 4
"""The number of flows with a graph."""
REMARKS = 20
"""The number of remarks."""
STALLS = 8
"""The number of stalls listed below a graph."""
SENDING, IDLE = "sending", "application idle"
"""The parts of a flow's time that are not lost: TCP could not have used them better."""
OWN_COLOURS = {SENDING: "#009e73", IDLE: "#999999"}
OTHER_COLOURS = ("#0072b2", "#e69f00", "#d55e00", "#cc79a7", "#56b4e9", "#f0e442", "#882255", "#332288")
"""Okabe & Ito's palette, then two of Tol's."""
LAST_COLOUR = "#bbbbbb"


class Table(NamedTuple):
    """A table of the page."""

    heads: list[tuple[str, str]]
    """Each heading, with what the column means."""
    kinds: list[str]
    """The class of each column."""
    rows: list[list[str]]
    more: int
    """The number of rows that are left out."""
    unprinted: str
    """The columns that a printed page leaves out, in words."""


class Part(NamedTuple):
    """A part of a bar."""

    name: str
    share: float
    words: str
    colour: str


class Graph(NamedTuple):
    """A flow with its graph."""

    title: str
    answer: str
    bar: list[Part]
    svg: str
    why_not: str
    """Why there is no drawing; empty if there is one."""
    stalls: Table | None


Draw = Callable[[Row], "Figure | str"]
"""Draws the flow of a row, or says why it cannot be drawn."""
Rows = Callable[[Row], Sequence[Row]]


def html(result: Row, selection: Selection, answers: Answers, exchanges: pl.DataFrame, stalls: Rows, draw: Draw) -> str:
    """Render the page.

    Args:
        result: the content of ``ackclock capture --json``, without details.
        selection: which flows to show.
        answers: see :meth:`Selection.applied`.
        exchanges: the requests and their answers.
        stalls: returns the stalls of a flow.
        draw: draws a flow.
    """
    chosen = selection.applied(result, answers)
    flows = selection.of(flow for flow in chosen["flows"] if flow["main"])
    time = time_by_cause(flows)
    colours = _colours(time)
    most = selection.top or ROWS
    failed = [one for one in chosen["connections"] if one["opening"] in FAILED]
    asked = [one for one in chosen["connections"] if one["exchanges"]]
    worst = sorted((flow for flow in flows if lost_s(flow) > 0), key=lambda flow: -lost_s(flow))[:GRAPHS]
    one_file = len(result["files"]) == 1
    graphs = [_graph(flow, f"flow-{n}-", one_file, colours, stalls, draw) for n, flow in enumerate(worst or flows[:1])]
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return templates.get_template("report.html").render(
        title=_title(result),
        selection=selection.words,
        answers=chosen["answers"],
        time=_bar(time, colours),
        flows=_table("captured_flow", flows, most),
        total=total_words(total(flows)) if len(flows) > 1 else "",
        places=_places(flows),
        worst=graphs,
        lost=bool(worst),
        waits=_bar(_waits(asked), _WAITS),
        asked=_table("captured_connection", sorted(asked, key=lambda one: -one["first_byte_s"]), most),
        slow=_slow(asked, exchanges),
        openings=_openings(chosen["connections"]),
        failed=_table("captured_connection", failed, most),
        servers=_totals(totals(chosen, flows, "server"), most),
        causes=_totals(totals(chosen, flows, "cause"), most),
        datagrams=_table("datagram_flow", sorted(chosen["datagrams"], key=lambda row: -row["bytes"]), most),
        remarks=(told := list(dict.fromkeys(remarks(result))))[:REMARKS],
        more=max(len(told) - REMARKS, 0),
        version=_native.__version__,
    )


def lost_s(flow: Row) -> float:
    """The seconds of a flow's time in which it neither sent nor waited for an application."""
    return float(sum(s for cause, s in flow["time_by_cause_s"].items() if cause not in {SENDING, IDLE}))


def _title(result: Row) -> str:
    names = [Path(file["file"]).name for file in result["files"]]
    return names[0] if len(names) == 1 else f"{len(names):,} captures"


def _table(kind: str, rows: Sequence[Row], most: int) -> Table:
    """The first rows of one kind, with the columns that tables for people show."""
    columns = shown_columns(kind, rows[:most])
    unprinted = [c.name for c in columns if not c.look.brief] if any(c.look.brief for c in columns) else []
    kinds = [" ".join(_classes(c, c.name in unprinted)) for c in columns]
    heads = [(c.look.heading, c.column.meaning) for c in columns]
    cells = [list(row) for row in zip(*(c.cells for c in columns), strict=True)]
    return Table(heads, kinds, cells, max(len(rows) - most, 0), ", ".join(unprinted))


def _classes(column: ShownColumn, unprinted: bool) -> Iterator[str]:
    """The classes of a column's cells."""
    yield "text" if column.is_text else "number"
    if column.column.name == "evidence":
        yield "evidence"
    if unprinted:
        yield "wide-only"


def _totals(groups: Sequence[Total], most: int) -> Table:
    titles = ("", "flows", "bytes", "s", "resent", "stalls", "most of the time")
    rows = [
        [
            one.name,
            f"{one.flows:,}",
            f"{one.bytes:,}",
            f"{one.duration_s:,.3f}",
            f"{one.retransmissions:,}",
            f"{one.stalls:,}",
            next((f"{cause} {100 * share:.0f} %" for cause, share in one.times.items()), "-"),
        ]
        for one in groups[:most]
    ]
    kinds = ["text", *["number"] * 5, "text"]
    return Table([(title, "") for title in titles], kinds, rows, max(len(groups) - most, 0), "")


def _colours(time: Counter[str]) -> dict[str, str]:
    """A colour for each cause, those with the most time first; the rest have the last one."""
    others = [cause for cause, _ in time.most_common() if cause not in OWN_COLOURS]
    return {**OWN_COLOURS, **dict(zip(others, OTHER_COLOURS, strict=False))}


def _bar(seconds: Mapping[str, float], colours: Mapping[str, str]) -> list[Part]:
    """The parts of a time, the largest first; those too small to be seen are put together."""
    whole = sum(seconds.values())
    if not whole:
        return []
    largest = sorted(seconds.items(), key=lambda part: -part[1])
    named = [(name, s) for name, s in largest if s >= LEAST * whole]
    rest = whole - sum(s for _, s in named)
    named += [("the rest", rest)] if any(0 < s < LEAST * whole for _, s in largest) else []
    return [Part(name, s / whole, _share(s, whole), colours.get(name, LAST_COLOUR)) for name, s in named]


def _share(s: float, whole: float) -> str:
    percent = 100 * s / whole
    return f"{_span(s)}, {'<1' if percent < 1 else f'{percent:.0f}'} %"


def _span(seconds: float) -> str:
    """A length of time, in milliseconds below a tenth of a second."""
    if seconds < 0.1:  # noqa: PLR2004 - as in the sentences
        return f"{1e3 * seconds:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 60 else duration(seconds)  # noqa: PLR2004 - a minute


_WAITS = {
    "client": "#999999",
    "network": "#0072b2",
    "server": "#e69f00",
    "network or server": "#cc79a7",
    "answers": "#009e73",
}
"""The parts of the time of requests and answers."""


def _waits(connections: Sequence[Row]) -> dict[str, float]:
    """The time that the requests and answers of connections spent with each."""
    parts = dict.fromkeys(_WAITS, 0.0)
    for one in connections:
        parts["client"] += one["client_s"]
        parts["answers"] += one["answers_s"]
        if one["server_s"] is None:
            parts["network or server"] += one["first_byte_s"]
        else:
            parts["server"] += one["server_s"]
            parts["network"] += one["network_s"]
    return {name: s for name, s in parts.items() if s > 0}


def _slow(connections: Sequence[Row], exchanges: pl.DataFrame) -> Table:
    """The exchanges of some connections, the slowest first, with their ends."""
    names = {(one["file"], one["connection"]): f"{one['client']} > {one['server']}" for one in connections}
    rows = [row for row in exchanges.to_dicts() if (row["file"], row["connection"]) in names]
    rows.sort(key=lambda row: -(row["first_byte_s"] or 0))
    table = _table("captured_exchange", rows, EXCHANGES)
    ends = [names[row["file"], row["connection"]] for row in rows]
    cells = [[name, *line] for name, line in zip(ends, table.rows, strict=False)]
    return table._replace(heads=[("client > server", ""), *table.heads], kinds=["text", *table.kinds], rows=cells)


def _openings(connections: Sequence[Row]) -> list[str]:
    """How the connections were opened, in words."""
    by = Counter(one["opening"] for one in connections)
    counts = ", ".join(f"{n:,} {opening}" for opening, n in by.most_common())
    repeated = sum(one["syns"] > 1 for one in connections)
    times = sorted(one["setup_s"] for one in connections if one["setup_s"] is not None)
    words = [f"{len(connections):,} connection{'' if len(connections) == 1 else 's'}: {counts}."] if counts else []
    if repeated:
        words.append(f"{repeated:,} sent {'its' if repeated == 1 else 'their'} SYN more than once.")
    if times:
        words.append(f"Set-up took {_span(times[len(times) // 2])} (median), at most {_span(times[-1])}.")
    return words


def _places(flows: Sequence[Row]) -> list[tuple[str, int]]:
    """Where the flows were captured, each place with the number of flows."""
    return Counter(f"captured {flow['captured']}: {flow['captured_why']}" for flow in flows).most_common(5)


def _graph(flow: Row, id: str, one_file: bool, colours: Mapping[str, str], stalls: Rows, draw: Draw) -> Graph:
    """A flow with its graph and its longest stalls."""
    figure = draw(flow)
    longest = sorted(stalls(flow), key=lambda row: -row["duration_s"])
    return Graph(
        title=flow["flow"] if one_file else f"{Path(flow['file']).name}: {flow['flow']}",
        answer=(flow["answer"] or "").removeprefix(f"{flow['flow']}: "),
        bar=_bar(flow["time_by_cause_s"], colours),
        svg="" if isinstance(figure, str) else drawn_inline(figure, id),
        why_not=figure if isinstance(figure, str) else "",
        stalls=_table("captured_stall", longest, STALLS) if longest else None,
    )
