"""``tools/dev campaign linux``: the measurements, the records and the page that compare the kernel's TCP with ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import linux
import linux_page
from ackclock.statistics import Mean
from conftest import needs_devices
from linux_page import Row, Verdict, of_count, of_goodput, of_timeouts
from linux_records import KEPT, STACKS, Listed, Record, paths, read

LISTED = paths()
PLAIN, JITTER = (next(path for path in LISTED if path.name == name) for name in ("plain", "jitter-20"))


def record(path: Listed, seed: int, goodput: float, control: str = "cubic") -> Record:
    return Record(path.name, control, seed, path.identity, goodput, 100, 10, 0, 2, 0, 1.0, 100.0, "6.0.1", "")


def only(path: Listed, *controls: str) -> list[Listed]:
    return [replace(path, controls=controls or ("cubic",))]


def test_goodput_inside_a_wide_interval_counts_only_after_all_seeds() -> None:
    narrow, wide = Mean(4, 100.0, 2.0), Mean(16, 100.0, 20.0)
    assert of_goodput(narrow, Mean(8, 91.0, 0.0), 0.10) is Verdict.WITHIN
    assert of_goodput(narrow, Mean(8, 89.0, 30.0), 0.10) is Verdict.OUTSIDE
    assert of_goodput(wide, Mean(8, 85.0, 0.0), 0.10) is Verdict.INTERVAL
    assert of_goodput(wide, Mean(8, 79.0, 30.0), 0.10) is Verdict.OUTSIDE
    assert of_goodput(replace(wide, n=12), Mean(8, 85.0, 0.0), 0.10) is Verdict.OUTSIDE


def test_a_count_holds_by_its_ratio_or_inside_the_interval_of_either_side() -> None:
    assert of_count(Mean(4, 100.0, 0.0), Mean(8, 125.0, 0.0), 0.25) is Verdict.WITHIN
    assert of_count(Mean(4, 100.0, 30.0), Mean(8, 130.0, 0.0), 0.25) is Verdict.INTERVAL
    assert of_count(Mean(4, 100.0, 0.0), Mean(8, 130.0, 30.0), 0.25) is Verdict.INTERVAL
    assert of_count(Mean(4, 100.0, 20.0), Mean(8, 130.0, 20.0), 0.25) is Verdict.OUTSIDE
    assert of_count(Mean(4, 0.0, 0.0), Mean(8, 0.0, 0.0), 0.25) is Verdict.WITHIN
    assert of_timeouts(Mean(4, 1.0, 0.0), Mean(8, 2.0, 0.0)) is Verdict.WITHIN
    assert of_timeouts(Mean(4, 1.0, 9.0), Mean(8, 2.1, 9.0)) is Verdict.OUTSIDE


def sides(kernel: Sequence[Record], ours: Sequence[Record]) -> Row:
    [row] = (row for row in linux_page.rows(kernel, ours, only(PLAIN)))
    return row


def test_a_row_has_a_verdict_once_the_kernel_has_four_seeds() -> None:
    ours = [replace(record(PLAIN, seed, 1000.0), refused=3) for seed in (1, 2)]
    assert sides([record(PLAIN, 1, 1000.0)], ours).verdicts == {}
    row = sides([replace(record(PLAIN, seed, 1200.0), timeouts=seed) for seed in range(1, 5)], ours)
    assert list(row.verdicts.values()) == [Verdict.OUTSIDE, Verdict.WITHIN, Verdict.OUTSIDE, Verdict.OUTSIDE]


def test_the_same_luck_is_that_of_the_seeds_that_both_have() -> None:
    kernel = [record(PLAIN, 1, 1000.0), record(PLAIN, 2, 2000.0)]
    assert sides(kernel, [record(PLAIN, 2, 1000.0), record(PLAIN, 3, 9000.0)]).same_luck == 0.5
    assert sides(kernel, [record(PLAIN, 3, 9000.0)]).same_luck is None


def test_of_transfers_the_median_completion_of_all_runs_counts() -> None:
    path = next(path for path in LISTED if path.is_of_transfers)

    def one(seed: int, took: str) -> Record:
        return replace(record(path, seed, 1.0), completions_ms=took)

    kernel = [one(1, "100.0 110.0 inf"), one(2, "120.0"), one(3, "110.0"), one(4, "90.0")]
    [row] = linux_page.rows(kernel, [one(1, "115.0 125.0 inf")], only(path))
    assert [side.value for side in row.means["completion"]] == [110.0, 125.0]
    assert "goodput" not in row.verdicts
    assert row.verdicts["completion"] is Verdict.OUTSIDE
    assert row.same_luck == 125.0 / 110.0


def test_the_list_has_twenty_paths_and_six_that_were_held_back_all_with_cubic_and_reno() -> None:
    assert len(LISTED) >= 20
    assert sum(path.held_back for path in LISTED) >= 6
    assert all({"cubic", "reno"} <= set(path.controls) <= set(STACKS) for path in LISTED)
    assert len({path.name for path in LISTED}) == len(LISTED)


def test_every_scenario_is_on_the_list() -> None:
    assert {path.file for path in LISTED} == set((KEPT.parents[1] / "scenarios/linux").glob("*.toml"))


def test_our_first_seeds_and_the_page_are_as_they_are_kept() -> None:
    assert linux.check() == 0


@needs_devices
def test_a_live_run_makes_a_record(tmp_path: Path) -> None:
    text = PLAIN.file.read_text(encoding="utf-8").replace('"60 s"', '"2 s"')
    (tmp_path / "short.toml").write_text(text, encoding="utf-8")
    path = Listed("short", str(tmp_path / "short"), sysctl={"net.ipv4.tcp_timestamps": 0})
    made = linux.run_live(path, "reno", 3)
    assert (made.path, made.control, made.seed, made.identity) == ("short", "reno", 3, path.identity)
    assert made.goodput_bytes_per_s > 100_000
    assert made.segments > made.retransmissions >= made.needless
    assert made.by == linux.version()
    with pytest.raises(linux.LiveRunError, match=r"short: .*tcp_none"):
        linux.run_live(replace(path, sysctl={"net.ipv4.tcp_none": 0}), "reno", 3)


@pytest.mark.parametrize("file", sorted(KEPT.glob("kernel-*.csv")), ids=lambda file: file.stem)
def test_what_the_page_says_of_a_kernel_holds_on_most_rows(file: Path) -> None:
    verdicts = [row.verdicts for row in linux_page.rows(read(file), read(KEPT / linux.OURS), LISTED) if row.verdicts]
    assert len(verdicts) >= 20
    for measure, share in (("goodput", 0.9), ("retransmitted", 0.85), ("needless", 0.85), ("timeouts", 0.9)):
        found = [of[measure].holds for of in verdicts if measure in of]
        assert sum(found) >= share * len(found), measure
