"""The figures of docs/speed.md, made from results/bench.json: targets and measurements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from instructions import ROOT, STACKS_ON

PAGE = ROOT / "docs/speed.md"
BEGIN, END = "<!-- Generated: tools/measures/bench.py --docs -->\n", "<!-- Generated up to here -->"
MILLION = 1e6

Row = Mapping[str, Any]
Rows = Sequence[Row]


@dataclass(frozen=True)
class Figure:
    """A figure and our goals."""

    case: str
    what: str
    value: Callable[[Rows], float | None]
    goal: float | None
    stretch: float | None
    form: str
    part: str
    """The part of tools/measures/bench.py that measures it."""
    most: bool = False
    """Whether lower is better."""

    def reaches(self, value: float, bound: float | None) -> bool:
        """Whether a measured value meets a bound."""
        return bound is not None and (value <= bound if self.most else value >= bound)


def of(case: str, key: str, scale: float = 1.0) -> Callable[[Rows], float | None]:
    """Read a key of the row whose case starts with this word."""

    def value(rows: Rows) -> float | None:
        numbers = (row[key] for row in rows if row["case"] == case or row["case"].startswith(f"{case} ("))
        number = next(numbers, None)
        return None if number is None else number / scale

    return value


def bare(case: str) -> Callable[[Rows], float | None]:
    """Speed in per cent of the bare loop's packets per second."""

    def value(rows: Rows) -> float | None:
        ours, theirs = (of(name, "packets_per_cpu_s")(rows) for name in (case, f"bare-{case}"))
        return 100 * ours / theirs if ours and theirs else None

    return value


def by_stack(rows: Rows) -> dict[str, float]:
    """Instructions of every stack on the path with swaps, sorted in ascending order."""
    named = ((re.fullmatch(rf"{STACKS_ON} \((.+)\)", row["case"]), row["instructions_per_packet"]) for row in rows)
    found = {name[1]: number for name, number in named if name and number is not None}
    return dict(sorted(found.items(), key=lambda item: item[1]))


def dearest(rows: Rows) -> float | None:
    """The largest number of instructions of any stack."""
    return max(by_stack(rows).values(), default=None)


def heard(case: str) -> Callable[[Rows], float | None]:
    """Speed of a run with hash and tally in per cent of the engine alone on the same plan."""
    return of(f"heard-{case}", "ratio", 0.01)


ONE, SWAPS = "one flow, SACK, 5 Mb/s, 600 s", "the same, `dsack-avg`, twelve queue swaps a second"
TWENTY, HUNDRED = "20 flows, SACK, 10 Mb/s, 600 s", "100 flows, SACK, 100 Mb/s, 60 s"
MIXED = "10,000 flows, eight kinds of stacks, 10 Gb/s, 10 s"
DEAREST = "the most expensive stack, with swaps"
RECORDED = "one flow with swaps, every event written as Parquet"
SWEPT, STARTED = "1,000 runs of 5 s on two cores", "`ackclock run`, next to nothing to simulate"
NS2, NS3, RATE, BARE = "times ns-2", "times ns-3", "M packets/s", "% of the bare loop"
HEARD = "with hash and tally, % of the engine alone"
MILLION_FLOWS = "10⁶ flows on one link, 100 Gb/s, 4 s"
INSTRUCTIONS = "instructions a packet"
FIGURES = (
    Figure(ONE, NS2, of("1", "ratio"), 12, 16, ".1f", "flows"),
    Figure(ONE, NS3, of("1", "ratio_ns3"), None, None, ".0f", "flows"),
    Figure(ONE, INSTRUCTIONS, of("1", "instructions_per_packet"), 1500, 1250, ",.0f", "flows", most=True),
    Figure(ONE, BARE, bare("1"), None, 80, ".0f", "flows"),
    Figure(SWAPS, RATE, of("1-swaps", "packets_per_cpu_s", MILLION), 5, 7, ".1f", "flows"),
    Figure(TWENTY, NS2, of("20", "ratio"), 12, 16, ".1f", "flows"),
    Figure(TWENTY, NS3, of("20", "ratio_ns3"), None, None, ".0f", "flows"),
    Figure(HUNDRED, NS2, of("100", "ratio"), 16, 24, ".1f", "flows"),
    Figure(HUNDRED, NS3, of("100", "ratio_ns3"), None, None, ".0f", "flows"),
    Figure(MIXED, RATE, of("10000-mixed", "packets_per_cpu_s", MILLION), 1.2, 2, ".2f", "flows"),
    Figure(MIXED, "MB of memory", of("10000-mixed", "rss_mb"), 200, 100, ".0f", "flows", most=True),
    Figure(MILLION_FLOWS, RATE, of("1000000", "packets_per_cpu_s", MILLION), 1, None, ".2f", "flows"),
    Figure(MILLION_FLOWS, "kB of memory a flow", of("1000000", "rss_mb", 1e6 / 1024), 3, 2, ".1f", "flows", most=True),
    Figure("`ackclock run`, one flow", HEARD, heard("1"), 75, 90, ".0f", "heard"),
    Figure("`ackclock run`, one flow with swaps", HEARD, heard("1-swaps"), 80, 90, ".0f", "heard"),
    Figure("`ackclock run`, 20 flows", HEARD, heard("20"), 80, 90, ".0f", "heard"),
    Figure("`ackclock run`, 100 flows", HEARD, heard("100"), 80, 90, ".0f", "heard"),
    Figure("`ackclock run`, 10,000 flows", HEARD, heard("10000"), 80, 90, ".0f", "heard"),
    Figure(DEAREST, INSTRUCTIONS, dearest, 2500, 1800, ",.0f", "stacks", most=True),
    Figure(RECORDED, RATE, of("ackclock run, trace: parquet", "packets_per_cpu_s", MILLION), 4, 6, ".2f", "recording"),
    Figure(SWEPT, "times one core", of("1000 runs of 5 s: two cores over one", "ratio"), 1.95, None, ".2f", "sweep"),
    Figure("`import ackclock`", "s", of("import ackclock", "seconds"), 0.03, 0.03, ".2f", "start", most=True),
    Figure("`ackclock --version`", "s", of("ackclock --version", "seconds"), 0.15, 0.15, ".2f", "start", most=True),
    Figure(STARTED, "s", of("ackclock run, 1 ms simulated", "seconds"), 0.3, 0.15, ".2f", "start", most=True),
)


def line(*cells: str) -> str:
    """A line of a table."""
    return f"| {' | '.join(cells)} |"


def goals(rows: Rows) -> Iterator[str]:
    """The table of goals."""
    yield line("case", "figure", "our goal", "stretch goal", "measured", "", "command")
    yield line("---", "---", "--:", "--:", "--:", "---", "---")
    for f in FIGURES:
        value, least = f.value(rows), "≤ " if f.most else "≥ "
        bounds = ("" if b is None else f"{least}{b:{',' if b >= 1000 else ''}}" for b in (f.goal, f.stretch))  # noqa: PLR2004
        verdict = ""
        if value is not None and f.reaches(value, f.stretch):
            verdict = "stretch"
        elif value is not None and f.goal is not None:
            verdict = "yes" if f.reaches(value, f.goal) else "no"
        measured = "" if value is None else f"{value:{f.form}}"
        yield line(f.case, f.what, *bounds, measured, verdict, f"`tools/measures/bench.py {f.part}`")


def flows(rows: Rows) -> Iterator[str]:
    """The table of rates and the traffic carried."""
    yield line("case", "packets/s", "ns-2", "ns-3", "carried", "by ns-2", "by ns-3", "instructions", "MB")
    yield line("---", *["--:"] * 8)
    keys = (
        ("packets_per_cpu_s", ",.0f"),
        ("ns2_packets_per_cpu_s", ",.0f"),
        ("ns3_packets_per_cpu_s", ",.0f"),
        ("per_simulated_s", ",.1f"),
        ("ns2_per_simulated_s", ",.1f"),
        ("ns3_per_simulated_s", ",.1f"),
        ("instructions_per_packet", ",.0f"),
        ("rss_mb", ".1f"),
    )
    for row in rows:
        if row["per_simulated_s"] is not None:
            yield line(row["case"], *("" if row[key] is None else f"{row[key]:{form}}" for key, form in keys))


def stacks(rows: Rows) -> Iterator[str]:
    """The table of instructions by stack."""
    yield line("stack", INSTRUCTIONS)
    yield line("---", "--:")
    yield from (line(f"`{stack}`", f"{number:,.0f}") for stack, number in by_stack(rows).items())


def generated(rows: Rows) -> str:
    """The text between the markers."""
    blocks = (
        [f"Measured in one run of `tools/dev measure bench` on {rows[0]['machine']}."],
        goals(rows),
        ["### Flows"],
        flows(rows),
        ["### Stacks"],
        stacks(rows),
    )
    return "\n".join("\n".join(block) + "\n" for block in blocks)


def renewed(page: str, rows: Rows) -> str:
    """The page with the old figures replaced."""
    before, mark, rest = page.partition(BEGIN)
    if not mark or END not in rest:
        raise ValueError(f"{PAGE.name} has lost the marks of its generated part")
    return f"{before}{BEGIN}\n{generated(rows)}\n{END}{rest.partition(END)[2]}"


def renew(rows: Rows) -> None:
    """Update the figures in the page."""
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
