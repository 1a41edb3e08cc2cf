"""Pictures of one run: what is in them, and what `--plot` refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import ackclock as package
from ackclock import colours
from ackclock.plot import draw, read, save
from conftest import Command


def test_the_points_are_what_the_run_counted(short: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    (run,) = package.run(short, stack="tahoe", seed=1, trace=trace)["runs"]
    flow, course = run["flows"][0], read(trace)
    assert len(course.needless.at) == flow["needless_retransmissions"] > 0
    assert len(course.needed.at) == flow["retransmissions"] - flow["needless_retransmissions"] > 0
    assert len(course.first.at) == flow["data_packets_sent"] - flow["retransmissions"]
    assert len(course.dropped.at) == flow["data_drops"] > 0
    assert course.acked.kb[-1] == pytest.approx((flow["acked_bytes"] + 1) / 1e3)
    assert course.acked.kb == sorted(course.acked.kb)
    assert course.cwnd.at == course.ssthresh.at == sorted(course.cwnd.at)
    assert (course.cwnd.at[0], course.cwnd.kb[0]) == (0, 1.46)
    assert read(trace, flow=1).first.at == []


def test_a_picture_names_its_run_and_its_units(short: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    package.run(short, seed=1, trace=trace)
    figure = draw(read(trace), "newreno", "a title")
    upper, lower = figure.axes
    assert upper.get_title() == "a title"
    assert [axes.get_ylabel() for axes in (upper, lower)] == ["sequence (kB)", "window (kB)"]
    assert lower.get_xlabel() == "time (s)"
    assert lower.get_lines()[0].get_color() == colours.STACKS["newreno"]
    for name in ("a.svg", "b.svg"):
        save(draw(read(trace), "newreno", "a title"), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_colour_belongs_to_one_stack_and_to_no_event() -> None:
    assert set(colours.STACKS) <= {stack["name"] for stack in package.stacks()}
    every = [*colours.STACKS.values(), *colours.EVENTS.values()]
    assert len(set(every)) == len(every)
    assert colours.of("somebody's own") == colours.REFERENCE


def test_plot_draws_png_and_svg_beside_what_run_prints(ackclock: Command, short: Path, tmp_path: Path) -> None:
    plain = ackclock("run", short, "--seeds", "2")
    for name, begins in (("p.png", b"\x89PNG"), ("p.SVG", b"<?xml")):
        drawn = ackclock("run", short, "--seeds", "2", "--plot", name)
        assert (drawn.returncode, drawn.stderr, drawn.stdout) == (0, "", plain.stdout)
        assert (tmp_path / name).read_bytes().startswith(begins)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["p.SVG", "p.png", "short.toml"]


def test_a_picture_that_cannot_be_is_one_message(ackclock: Command, short: Path, tmp_path: Path) -> None:
    ending = ackclock("run", short, "--plot", "p.pdf")
    said = 'ackclock: command line: key `--plot`: found "p.pdf", allowed: a file name that ends in .png or .svg\n'
    assert (ending.returncode, ending.stdout, ending.stderr) == (2, "", said)
    nowhere = ackclock("run", short, "--plot", "no/such/p.png")
    assert (nowhere.returncode, nowhere.stderr.count("\n")) == (1, 1)
    assert nowhere.stdout == ackclock("run", short).stdout != ""
    hidden = "import sys; sys.modules['matplotlib'] = None; from ackclock.cli import main; main()"
    command = [sys.executable, "-c", hidden, "run", str(short), "--plot", str(tmp_path / "p.png")]
    without = subprocess.run(command, capture_output=True, text=True, check=False)
    said = 'ackclock: --plot needs matplotlib, which is not installed: pip install "ackclock[papers]"\n'
    assert (without.returncode, without.stdout, without.stderr) == (1, "", said)
