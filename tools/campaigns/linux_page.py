"""docs/linux.md: the records of tests/linux, row by row, with a verdict for each number."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path

from ackclock.statistics import Mean, ratio
from linux_records import ROOT, STACKS, Listed, Record, head, paths, read, valid

PAGE = ROOT / "docs/linux.md"
LATE_US = 300.0
"""Limit of lateness in microseconds: a run with a higher 99th percentile is repeated once."""
LEAST, MOST = 4, 16
"""Seeds of the kernel: there is no verdict below the first number, and no more runs than the second."""
NARROW = 0.05
"""Seeds are added, up to :data:`MOST`, until half of goodput's 95 % interval is below this share of goodput."""
GOODPUT = {"cubic": 0.10, "reno": 0.10, "bbr": 0.15}
COUNTS = {"cubic": 0.25, "reno": 0.25, "bbr": 0.40}
"""Allowed difference of our number from the kernel's, as a share of the kernel's."""
TIMEOUTS = 1.0
"""Allowed difference, in timeouts per minute."""
TITLE = "Linux and ours"
MEASURES = ("goodput", "completion", "retransmitted", "needless", "timeouts")
"""Measures with a verdict: completion for transfers, goodput for other flows."""


class Verdict(Enum):
    """The result of comparing one of our numbers with the kernel's."""

    WITHIN = "within"
    INTERVAL = "inside an interval"
    OUTSIDE = "outside"

    @property
    def holds(self) -> bool:
        """Whether it counts as equal."""
        return self is not Verdict.OUTSIDE


def of_goodput(kernel: Mean, ours: Mean, tolerance: float) -> Verdict:
    """Equal if within the tolerance; or inside the kernel's interval, if that is still wide with all seeds."""
    apart = abs(ours.value - kernel.value)
    if apart <= tolerance * kernel.value:
        return Verdict.WITHIN
    wide = kernel.n >= MOST and kernel.half > NARROW * kernel.value
    return Verdict.INTERVAL if wide and apart <= kernel.half else Verdict.OUTSIDE


def of_count(kernel: Mean, ours: Mean, tolerance: float) -> Verdict:
    """Equal if within the tolerance, or if one mean is inside the interval of the other."""
    apart = abs(ours.value - kernel.value)
    if apart <= tolerance * kernel.value:
        return Verdict.WITHIN
    return Verdict.INTERVAL if apart <= max(kernel.half, ours.half) else Verdict.OUTSIDE


def of_timeouts(kernel: Mean, ours: Mean) -> Verdict:
    """Compare the timeouts per minute."""
    return Verdict.WITHIN if abs(ours.value - kernel.value) <= TIMEOUTS else Verdict.OUTSIDE


def mean(measure: str, records: Sequence[Record]) -> Mean:
    """The mean of a measure over one or more runs; for completion, the median of all transfers, in milliseconds."""
    match measure:
        case "goodput":
            return Mean.of([record.goodput_bytes_per_s / 1000 for record in records])
        case "completion":
            took = [ms for record in records for ms in record.completions]
            return Mean(len(took), statistics.median(took), 0.0)
        case "retransmitted":
            return Mean.of([record.retransmissions for record in records])
        case "needless":
            return Mean.of([record.needless + record.refused for record in records])
        case "timeouts":
            return Mean.of([record.timeouts / record.minutes for record in records])
        case _:
            raise KeyError(measure)


@dataclass(frozen=True)
class Row:
    """A path with one congestion control."""

    path: Listed
    control: str
    kernel: Sequence[Record]
    ours: Sequence[Record]

    @property
    def measures(self) -> Sequence[str]:
        """The measures of this path."""
        without = "goodput" if self.path.is_of_transfers else "completion"
        return [measure for measure in MEASURES if measure != without]

    @cached_property
    def means(self) -> Mapping[str, tuple[Mean, Mean]]:
        """The kernel's and our mean, by measure."""
        return {name: (mean(name, self.kernel), mean(name, self.ours)) for name in self.measures}

    @cached_property
    def verdicts(self) -> Mapping[str, Verdict]:
        """Verdicts by measure; empty if the kernel has too few seeds, or we have none."""
        if len(self.kernel) < LEAST or not self.ours:
            return {}
        speed, again, needless, timeouts = (self.means[name] for name in self.measures)
        counts = COUNTS[self.control]
        found = (
            of_goodput(*speed, GOODPUT[self.control]),
            of_count(*again, counts),
            of_count(*needless, counts),
            of_timeouts(*timeouts),
        )
        return dict(zip(self.measures, found, strict=True))

    @property
    def same_luck(self) -> float | None:
        """Goodput or completion as a share of the kernel's, over the seeds of both."""
        seeds = {record.seed for record in self.kernel} & {record.seed for record in self.ours}
        if not seeds:
            return None
        sides = ([record for record in side if record.seed in seeds] for side in (self.ours, self.kernel))
        ours, kernel = (mean(self.measures[0], side).value for side in sides)
        return ratio(ours, kernel)

    @property
    def late(self) -> int:
        """The number of the kernel's runs that were late."""
        return sum(record.late_p99_us > LATE_US for record in self.kernel)


def rows(kernel: Iterable[Record], ours: Iterable[Record], listed: Sequence[Listed]) -> list[Row]:
    """The rows of the page."""
    sides: tuple[dict[tuple[str, str], list[Record]], ...] = (defaultdict(list), defaultdict(list))
    for side, records in zip(sides, (kernel, ours), strict=True):
        for record in valid(records, listed):
            side[record.path, record.control].append(record)
    return [
        Row(path, control, *(side[path.name, control] for side in sides))
        for control in STACKS
        for path in listed
        if control in path.controls
    ]


INTRODUCTION = f"""# {TITLE}

<!-- Written by `tools/dev campaign linux` (tools/campaigns/linux.py) from the records in tests/linux. -->

This page compares the kernel's own TCP with our stacks for it on the same paths: the files in `scenarios/linux` with the
settings of `tests/linux/paths.toml`. The last rows of each table are 150 transfers per run, each over its own connection.
The kernel ran in real time at both ends of each path. Our stacks ran in the simulator with seeds 1 to 8.

`tools/dev campaign linux` measures the missing kernel numbers, runs our stacks again and writes this page. The kernel's numbers are
kept, one record per run, so `make test` compares ours with them on any machine: the first seed of each row must equal the
recorded one, and this page must match the records. On another kernel, `tools/dev campaign linux` adds a file with that kernel's numbers
and a section to this page. To run one row yourself:

```bash
ackclock live path scenarios/linux/jitter-20.toml --sender kernel:reno --compare 8 --realtime
```

| number | holds if ours is |
| --- | --- |
| goodput; median completion | within {100 * GOODPUT["cubic"]:.0f} % of the kernel's (BBR: {100 * GOODPUT["bbr"]:.0f} %), or inside the kernel's wide interval |
| retransmitted; needless | within {100 * COUNTS["cubic"]:.0f} % (BBR: {100 * COUNTS["bbr"]:.0f} %), or one mean is inside the other's interval |
| timeouts | within one per minute |

Each mean is followed by half of its 95 % interval. The kernel ran with four to {MOST} seeds, until the interval of its
goodput was below ± {100 * NARROW:.0f} %. Where {MOST} seeds were not enough, the interval is wide.

A retransmission is *needless* if its original was not lost on the path, even if the receiver
[refused](retransmissions.md) the original. ≈: holds by an interval. **Bold**: does not hold. ‡: held back, that is, chosen
before anything was measured and not looked at while the rules were written. †: in some runs 1 packet in 100 left the path
more than {LATE_US / 1000:.1f} ms late, even in a second run. *Same seeds*: the ratio over the seeds that both have. With the same seed,
the nth packet of a direction meets the same random events in both, so little of the difference is chance.
"""  # noqa: E501 - prose


def page(kept: Path) -> str:
    """Render the page from the records in a folder."""
    listed, ours = paths(), read(kept / "ours.csv")
    parts = [INTRODUCTION]
    for file in sorted(kept.glob("kernel-*.csv")):
        found = rows(read(file), ours, listed)
        release = file.stem.removeprefix("kernel-")
        parts += [f"## Linux {release}\n", " ".join(f"{line}." for line in head(file)) + "\n", _summary(found)]
        for control, stack in STACKS.items():
            of = [row for row in found if row.control == control]
            parts += [f"### {control}: Linux {release} and `{stack}`\n"]
            parts += [_table([row for row in of if row.path.is_of_transfers is short]) for short in (False, True)]
    return "\n".join(parts)


def _summary(found: Sequence[Row]) -> str:
    """The number of rows that hold."""
    kinds: list[tuple[str, Callable[[Row], bool]]] = [
        *((control, lambda row, control=control: row.control == control) for control in STACKS),
        ("without SACK", lambda row: row.path.sysctl.get("net.ipv4.tcp_sack") == 0),
        ("held back", lambda row: row.path.held_back),
        ("all", lambda row: True),
    ]
    lines = [f"| rows that hold | {' | '.join(MEASURES)} |", "| --- |" + " --- |" * len(MEASURES)]
    for name, asked in kinds:
        verdicts = [row.verdicts for row in found if asked(row) and row.verdicts]
        cells = (_share([found[measure] for found in verdicts if measure in found]) for measure in MEASURES)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _share(verdicts: Sequence[Verdict]) -> str:
    if not verdicts:
        return "—"
    hold, by_interval = sum(v.holds for v in verdicts), verdicts.count(Verdict.INTERVAL)
    return f"{hold} of {len(verdicts)}" + (f", {by_interval} of them ≈" if by_interval else "")


def _table(found: Sequence[Row]) -> str:
    if not found:
        return ""
    again, speed = "kernel | ours | ratio", "goodput, kB/s"
    if found[0].path.is_of_transfers:
        speed = "median completion, ms"
    lines = [
        f"| path | seeds | {speed}: {again} | same seeds | retransmitted: {again} | needless: {again} "
        "| timeouts a minute: kernel | ours |",
        "| --- |" + " --- |" * 13,
        *(_line(row) for row in found),
    ]
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    name = f"`{row.path.name}`{' ‡' if row.path.held_back else ''}{' †' if row.late else ''}"
    cells = [name, str(len(row.kernel))]
    for measure in row.measures:
        cells += _cells(row, measure)
    same = row.same_luck
    cells.insert(5, "—" if same is None else f"{same:.2f}")
    return f"| {' | '.join(cells)} |"


def _cells(row: Row, measure: str) -> list[str]:
    texts = [_mean(mean(measure, side)) if side else "—" for side in (row.kernel, row.ours)]
    verdict = row.verdicts.get(measure)
    if measure == "timeouts":
        return [texts[0], f"**{texts[1]}**" if verdict is Verdict.OUTSIDE else texts[1]]
    if not (row.kernel and row.ours):
        return [*texts, "—"]
    kernel, ours = row.means[measure]
    share = f"{ratio(ours.value, kernel.value):.2f}".replace("inf", "∞")
    marked = {None: share, Verdict.WITHIN: share, Verdict.INTERVAL: f"{share} ≈", Verdict.OUTSIDE: f"**{share}**"}
    return [*texts, marked[verdict]]


def _mean(of: Mean) -> str:
    return f"{of.value:,.1f}" + (f" ± {of.half:,.1f}" if of.half >= 0.05 else "")  # noqa: PLR2004 - shown digits
