"""The papers' experiments: scenarios, comparison, figures, files."""

from __future__ import annotations

import csv
import gzip
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

import ackclock
from ackclock.papers import blanton_allman, files
from ackclock.papers.blanton_allman import KEY, SCENARIOS, Point, setting, settings
from ackclock.papers.measure import Comparison, Mean, Verdict

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "papers" / KEY
NS2 = (FOLDER / SCENARIOS["ns2"]).read_text(encoding="utf-8")


@pytest.mark.parametrize("file", SCENARIOS.values())
def test_a_scenario_file_differs_from_what_is_run_only_in_swaps_gap_and_seeds(file: str) -> None:
    text = (FOLDER / file).read_text(encoding="utf-8")
    before, after = tomllib.loads(text), tomllib.loads(blanton_allman.scenario(text, 20, 0.25, 7))
    swap = after["link"][1]["elements"][0]
    assert (swap["count"], swap["gap"], after["run"]["seeds"]["count"]) == (20, {"exponential": "250 ms"}, 7)
    swap["count"], swap["gap"], after["run"]["seeds"]["count"] = 12, {"exponential": "1 s"}, 30
    assert before == after


def test_no_swaps_means_no_element_and_a_text_without_a_place_for_them_is_refused() -> None:
    assert tomllib.loads(blanton_allman.scenario(NS2, 0, 0, 2))["link"][1]["elements"] == []
    with pytest.raises(ValueError, match="0 places"):
        blanton_allman.scenario(NS2.replace("count = 12", "count = twelve"), 3, 1.0, 2)


def test_without_swaps_a_run_is_ns_2_s_to_the_packet() -> None:
    """ns-2: 249585 acknowledged with the SYN, 249743 sent with it, 83 dropped, 83 sent again, 28 fast retransmits."""
    run = ackclock.run(blanton_allman.scenario(NS2, 0, 0, 1))["runs"][0]
    reference = next(csv.DictReader((FOLDER / "reference" / "ns2.csv").read_text(encoding="utf-8").splitlines()))
    flow = run["flows"][0]
    ours = [flow["acked_bytes"] // 1460 + 1, flow["data_packets_sent"] + 1]
    ours += [flow[key] for key in ("retransmissions", "data_drops", "timeouts", "fast_recoveries")]
    columns = ("acked_pkts", "data_sent", "retransmits", "drops", "timeouts", "fast_retransmits")
    assert ours == [int(reference[column]) for column in columns]
    assert ours == [249585, 249743, 83, 83, 0, 28]


def test_where_single_packets_come_late_every_send_is_ns_2_s(tmp_path: Path) -> None:
    """Reordering packet for packet: an unpatched ns-2 in which 52 packets were overtaken (reference/late)."""
    late = FOLDER / "reference" / "late"
    with (late / "delays.csv").open(encoding="utf-8") as table:
        delays = [f'{{ nth = {r["arrival"]}, by = "{r["delay_us"]} us" }}' for r in csv.DictReader(table)]
    assert len(delays) == 52
    text = blanton_allman.scenario(NS2, 0, 0, 1).replace('duration = "600 s"', 'duration = "60 s"')
    script = f'elements = [{{ kind = "script", at = "exit", delay = [{", ".join(delays)}] }}]'
    text = text.replace("elements = []", script, 1)
    trace = tmp_path / "run.csv"
    run = ackclock.run(text, trace=trace)["runs"][0]["flows"][0]
    with trace.open(encoding="utf-8") as table:
        sent = [r for r in csv.DictReader(table) if (r["event"], r["side"]) == ("sent", "sender")]
        carrying = [r for r in sent if r["len"] != "0" or "S" in r["flags"]]
        ours = [(int(r["time_ns"]) / 1e9, (int(r["seq"]) + 1459) // 1460) for r in carrying]
    with gzip.open(late / "sends.csv.gz", "rt", encoding="utf-8") as table:
        theirs = [(float(r["time_s"]), int(r["number"])) for r in csv.DictReader(table)]
    assert [number for _, number in ours] == [number for _, number in theirs]
    assert max(abs(a - b) for (a, _), (b, _) in zip(ours, theirs, strict=True)) < 10e-6
    assert (run["retransmissions"], run["needless_retransmissions"], run["fast_recoveries"]) == (86, 30, 28)


def test_every_point_of_the_figures_is_run_once_and_every_reference_has_its_point() -> None:
    every = settings()
    assert len(every) == len(set(every)) == 2 * (1 + 2 * 12 + 6)
    references = blanton_allman.references(FOLDER)
    assert len(references) == 2 * 13 + 8
    assert {setting("ns2", r.swaps, r.gap_s) for r in references} <= set(every)
    assert {r.throughput.n for r in references if r.sweep == "fig2b"} == {5}


def mean(value: float, half: float) -> Mean:
    return Mean(5, value, half)


@pytest.mark.parametrize(
    ("ours", "reference", "verdict"),
    [
        (mean(103, 0), mean(100, 0), Verdict.WITHIN),
        (mean(104, 0), mean(100, 9), Verdict.OVERLAP),
        (mean(104, 5), mean(100, 9), Verdict.IN_BOTH),
        (mean(104, 1), mean(100, 2), Verdict.OUTSIDE),
        (mean(0, 0), mean(0, 0), Verdict.WITHIN),
        (mean(1, 0), mean(0, 0), Verdict.OUTSIDE),
    ],
)
def test_the_verdict_is_the_best_that_holds(ours: Mean, reference: Mean, verdict: Verdict) -> None:
    assert Comparison(ours, reference, 0.03).verdict is verdict


def test_a_mean_has_student_s_interval() -> None:
    """t(0.975, 4) = 2.776; the standard deviation of 1 … 5 is √2.5."""
    m = Mean.of([1, 2, 3, 4, 5])
    assert (m.n, m.value) == (5, 3)
    assert m.half == pytest.approx(2.7764 * 2.5**0.5 / 5**0.5, abs=1e-4)
    assert Mean.of([7]).half == 0


def test_a_point_says_which_runs_it_is_made_of(short: Path) -> None:
    points = [Point(setting("ns2", 1, 1.0), ackclock.run(short, seed=seed)["runs"]) for seed in (1, 1, 2)]
    assert points[0].identity == points[1].identity != points[2].identity
    assert points[0].row() == points[1].row()


def test_a_file_that_could_not_be_written_leaves_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    files.write_csv(path, [{"a": 1, "b": None}])
    assert path.read_text(encoding="utf-8") == "a,b\n1,\n"
    with pytest.raises(TypeError):
        files.write(path, "not bytes")  # type: ignore[arg-type]
    assert [p.name for p in tmp_path.iterdir()] == ["points.csv"]
    assert path.read_text(encoding="utf-8") == "a,b\n1,\n"


def papers(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, in a folder of its own."""
    env = {k: v for k, v in os.environ.items() if k not in {"FORCE_COLOR", "COLUMNS"}}
    command = [sys.executable, "-m", "ackclock.papers", *arguments]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)


def test_the_command_draws_both_figures_and_compares_every_point(tmp_path: Path) -> None:
    """On scenarios cut to a second, so the verdicts must be bad and the exit code says it."""
    copy = tmp_path / "papers" / KEY
    (copy / "reference").mkdir(parents=True)
    for file in [*SCENARIOS.values(), "reference/ns2.csv"]:
        text = (FOLDER / file).read_text(encoding="utf-8")
        (copy / file).write_text(text.replace('duration = "600 s"', 'duration = "1 s"'), encoding="utf-8")
    done = papers(tmp_path, "--seeds", "2", "--out", "out", "--copy-to", "docs")
    assert (done.returncode, done.stderr) == (1, "")
    assert "throughput (tolerance 3 %): 0 of 34 points reproduced" in done.stdout
    names = {p.name for p in (tmp_path / "out").iterdir()}
    assert names == {"points.csv", "comparison.csv", "fig2.svg", "fig2.png", "fig3.svg", "fig3.png"}
    with (tmp_path / "out" / "points.csv").open(encoding="utf-8") as table:
        points = list(csv.DictReader(table))
    assert [len(points), points[0]["seeds"]] == [len(settings()), "2"]
    svg = (tmp_path / "docs" / f"{KEY}-fig3.svg").read_text(encoding="utf-8")
    assert f"Ackclock {ackclock.__version__}, seeds 1 to 2, runs" in svg
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert svg == (tmp_path / "out" / "fig3.svg").read_text(encoding="utf-8")


def test_a_missing_folder_is_one_message_and_exit_code_2(tmp_path: Path) -> None:
    done = papers(tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == f"ackclock.papers: --papers: found no folder papers/{KEY}, allowed: the folder that holds {KEY}\n"
    )
