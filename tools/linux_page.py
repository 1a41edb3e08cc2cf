"""docs/linux.md: what the records of tests/linux say, row by row, with a verdict for each number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path

from linux_records import ROOT, STACKS, Listed, Record, head, paths, read, valid

from ackclock.statistics import Mean, ratio

PAGE = ROOT / "docs/linux.md"
LATE_US = 300.0
"""A run is late, and made again once, if 1 packet in 100 left the path later than this."""
LEAST, MOST = 4, 16
"""Seeds of the kernel: without so many there is no verdict, and there are at most so many."""
NARROW = 0.05
"""The kernel has more seeds, up to :data:`MOST`, until half of goodput's 95 % interval is below this share of it."""
GOODPUT = {"cubic": 0.10, "reno": 0.10, "bbr": 0.15}
COUNTS = {"cubic": 0.25, "reno": 0.25, "bbr": 0.40}
"""By how much ours may differ from the kernel's, as a share of it."""
TIMEOUTS = 1.0
"""By how many timeouts in a minute."""
TITLE = "Linux and ours"
MEASURES = ("goodput", "sent again", "needless", "timeouts")


class Verdict(Enum):
    """How a number of ours stands to the kernel's."""

    WITHIN = "within"
    INTERVAL = "inside an interval"
    OUTSIDE = "outside"

    @property
    def holds(self) -> bool:
        """Whether it counts as equal."""
        return self is not Verdict.OUTSIDE


def of_goodput(kernel: Mean, ours: Mean, tolerance: float) -> Verdict:
    """Within the tolerance; or inside the kernel's interval, if all its seeds did not make that narrow."""
    apart = abs(ours.value - kernel.value)
    if apart <= tolerance * kernel.value:
        return Verdict.WITHIN
    wide = kernel.n >= MOST and kernel.half > NARROW * kernel.value
    return Verdict.INTERVAL if wide and apart <= kernel.half else Verdict.OUTSIDE


def of_count(kernel: Mean, ours: Mean, tolerance: float) -> Verdict:
    """Within the tolerance, or one mean inside the interval of the other."""
    apart = abs(ours.value - kernel.value)
    if apart <= tolerance * kernel.value:
        return Verdict.WITHIN
    return Verdict.INTERVAL if apart <= max(kernel.half, ours.half) else Verdict.OUTSIDE


def of_timeouts(kernel: Mean, ours: Mean) -> Verdict:
    """Both in a minute."""
    return Verdict.WITHIN if abs(ours.value - kernel.value) <= TIMEOUTS else Verdict.OUTSIDE


def _kilobytes(record: Record) -> float:
    return record.goodput_bytes_per_s / 1000


def _retransmissions(record: Record) -> float:
    return record.retransmissions


def _needless(record: Record) -> float:
    return record.needless + record.refused


def _timeouts(record: Record) -> float:
    return record.timeouts / record.minutes


VALUES: Mapping[str, Callable[[Record], float]] = dict(
    zip(MEASURES, (_kilobytes, _retransmissions, _needless, _timeouts), strict=True)
)


@dataclass(frozen=True)
class Row:
    """A path with one congestion control."""

    path: Listed
    control: str
    kernel: Sequence[Record]
    ours: Sequence[Record]

    @cached_property
    def means(self) -> Mapping[str, tuple[Mean, Mean]]:
        """The kernel's and ours, by measure."""
        return {
            name: (Mean.of([value(r) for r in self.kernel]), Mean.of([value(r) for r in self.ours]))
            for name, value in VALUES.items()
        }

    @cached_property
    def verdicts(self) -> Mapping[str, Verdict]:
        """By measure; empty as long as the kernel has too few seeds, or ours has none."""
        if len(self.kernel) < LEAST or not self.ours:
            return {}
        goodput, again, needless, timeouts = (self.means[name] for name in MEASURES)
        counts = COUNTS[self.control]
        found = (
            of_goodput(*goodput, GOODPUT[self.control]),
            of_count(*again, counts),
            of_count(*needless, counts),
            of_timeouts(*timeouts),
        )
        return dict(zip(MEASURES, found, strict=True))

    @property
    def late(self) -> int:
        """How many of the kernel's runs were late."""
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

<!-- Written by `make linux` (tools/linux.py) from the records in tests/linux. -->

The kernel's own TCP and our stacks for it, on the same paths: the files of `scenarios/linux`, with the settings of
`tests/linux/paths.toml`. The kernel ran in real time at both ends of each path, ours in the simulator with seeds 1 to 8.

`make linux` measures what is missing of the kernel's numbers, runs ours again and writes this page. The kernel's numbers
are kept, one record for each run. So `make test` holds ours against them on any machine: the first seed of each row must
be exactly the one that is kept, and this page must be what the records say. On another kernel `make linux` keeps its numbers
beside those that are here, and the page has a section for each. One row by hand:

```bash
ackclock live path scenarios/linux/jitter-20.toml --sender kernel:reno --compare 8 --realtime
```

| number | holds if ours is |
| --- | --- |
| goodput | within {100 * GOODPUT["cubic"]:.0f} % of the kernel's (BBR: {100 * GOODPUT["bbr"]:.0f} %), or inside a wide interval of its |
| sent again; needless | within {100 * COUNTS["cubic"]:.0f} % (BBR: {100 * COUNTS["bbr"]:.0f} %), or one mean is inside the other's interval |
| timeouts | within one in a minute |

Every mean has half of its 95 % interval beside it. The kernel ran with at least four seeds, and with more, up to {MOST}, until
the interval of its goodput was below ± {100 * NARROW:.0f} %. Where {MOST} did not do, the interval is wide.

*Needless* are all retransmissions whose original was not lost on the path, also those whose original the receiver
[refused](retransmissions.md). ≈: holds by an interval. **Bold**: does not hold. ‡: held back, which means chosen before
anything was measured and not looked at while rules were written. †: in some runs 1 packet in 100 left the path more than
{LATE_US / 1000:.1f} ms late, though they were made twice.
"""  # noqa: E501 - prose


def page(kept: Path) -> str:
    """The page that the records in a folder make."""
    listed, ours = paths(), read(kept / "ours.csv")
    parts = [INTRODUCTION]
    for file in sorted(kept.glob("kernel-*.csv")):
        found = rows(read(file), ours, listed)
        release = file.stem.removeprefix("kernel-")
        parts += [f"## Linux {release}\n", " ".join(f"{line}." for line in head(file)) + "\n", _summary(found)]
        for control, stack in STACKS.items():
            of = [row for row in found if row.control == control]
            parts += [f"### {control}: Linux {release} and `{stack}`\n", _table(of)]
    return "\n".join(parts)


def _summary(found: Sequence[Row]) -> str:
    """How many rows hold."""
    kinds: list[tuple[str, Callable[[Row], bool]]] = [
        *((control, lambda row, control=control: row.control == control) for control in STACKS),
        ("without SACK", lambda row: row.path.sysctl.get("net.ipv4.tcp_sack") == 0),
        ("held back", lambda row: row.path.held_back),
        ("all", lambda row: True),
    ]
    lines = [f"| rows that hold | {' | '.join(MEASURES)} |", "| --- |" + " --- |" * len(MEASURES)]
    for name, asked in kinds:
        verdicts = [row.verdicts for row in found if asked(row) and row.verdicts]
        cells = (_share([found[measure] for found in verdicts]) for measure in MEASURES)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _share(verdicts: Sequence[Verdict]) -> str:
    if not verdicts:
        return "—"
    hold, by_interval = sum(v.holds for v in verdicts), verdicts.count(Verdict.INTERVAL)
    return f"{hold} of {len(verdicts)}" + (f", {by_interval} of them ≈" if by_interval else "")


def _table(found: Sequence[Row]) -> str:
    again = "kernel | ours | ratio"
    lines = [
        f"| path | seeds | goodput, kB/s: {again} | sent again: {again} | needless: {again} "
        "| timeouts a minute: kernel | ours |",
        "| --- |" + " --- |" * 12,
        *(_line(row) for row in found),
    ]
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    name = f"`{row.path.name}`{' ‡' if row.path.held_back else ''}{' †' if row.late else ''}"
    cells = [name, str(len(row.kernel))]
    for measure in MEASURES:
        cells += _cells(row, measure)
    return f"| {' | '.join(cells)} |"


def _cells(row: Row, measure: str) -> list[str]:
    texts = [_mean(Mean.of([VALUES[measure](r) for r in side])) if side else "—" for side in (row.kernel, row.ours)]
    verdict = row.verdicts.get(measure)
    if measure == "timeouts":
        return [texts[0], f"**{texts[1]}**" if verdict is Verdict.OUTSIDE else texts[1]]
    if not (row.kernel and row.ours):
        return [*texts, "—"]
    kernel, ours = row.means[measure]
    share = f"{ratio(ours.value, kernel.value):.2f}"
    marked = {None: share, Verdict.WITHIN: share, Verdict.INTERVAL: f"{share} ≈", Verdict.OUTSIDE: f"**{share}**"}
    return [*texts, marked[verdict]]


def _mean(mean: Mean) -> str:
    return f"{mean.value:,.1f}" + (f" ± {mean.half:,.1f}" if mean.half >= 0.05 else "")  # noqa: PLR2004 - shown digits
