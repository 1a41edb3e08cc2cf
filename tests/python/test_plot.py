"""Pictures of runs: their content, and the errors of `--plot`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import ackclock as ak
from ackclock import colours, files
from conftest import SHORT, Command

THREE_LOST = """
name = "three"
[run]
duration = "4 s"
[[link]]
from = "S"
to = "D"
rate = "2 Mbps"
delay = "50 ms"
queue = "25 packets"
elements = [{ kind = "script", drop = [60, 62, 65] }]
back = { elements = [] }
[[flow]]
from = "S"
to = "D"
stack = "rfc-6675"
handshake = false
window = "20 packets"
receiver = { ack = "every" }
"""


def events(text: str = THREE_LOST, **options: str) -> pl.DataFrame:
    return ak.run(text, **options, seed=1).events  # type: ignore[arg-type]


def bars(ax: Axes, gid: str) -> LineCollection:
    (found,) = (c for c in ax.collections if c.get_gid() == gid)
    assert isinstance(found, LineCollection)
    return found


def marks(ax: Axes, gid: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    (found,) = (c for c in ax.collections if c.get_gid() == gid)
    assert isinstance(found, PathCollection)
    return np.asarray(found.get_offsets(), dtype=float)


def line(ax: Axes, gid: str) -> Line2D:
    (found,) = (one for one in ax.get_lines() if one.get_gid() == gid)
    return found


def test_a_time_sequence_graph_has_every_segment_repair_and_drop() -> None:
    table = events()
    ax = ak.plot.time_sequence(table, stack="rfc-6675")
    sent = table.filter((pl.col("event") == "sent") & (pl.col("len") > 0))
    again = sent.filter(pl.col("sends") > 1)
    needless = again["needless"].sum()
    first = bars(ax, "first transmission")
    assert len(first.get_segments()) == len(sent) - len(again)
    (at, low), (_, high) = np.asarray(first.get_segments()[1])
    assert (at, low, high) == pytest.approx((sent["time_ns"][1] / 1e9, 1.461, 2.921))
    assert to_hex(np.asarray(first.get_color())[0]).upper() == colours.of("rfc-6675")
    assert len(bars(ax, "retransmission, needless").get_segments()) == len(marks(ax, "retransmission, needless, marks"))
    assert len(bars(ax, "retransmission, needless").get_segments()) == needless
    assert len(bars(ax, "retransmission, needed").get_segments()) == len(again) - needless == 3
    lost = marks(ax, "dropped on the way, marks")
    assert lost[:, 1] * 1e3 == pytest.approx([1 + (n + 0.5) * 1460 for n in (60, 62, 65)])
    assert [ax.get_xlabel(), ax.get_ylabel()] == ["time (s)", "sequence (kB)"]


def test_a_time_sequence_graph_has_what_the_sender_was_told() -> None:
    table = events()
    ax = ak.plot.time_sequence(table)
    acked = table.filter(pl.col("event") == "acked")
    stairs = line(ax, "acknowledged up to")
    assert stairs.get_ydata() == pytest.approx(acked["ack"].to_numpy() / 1e3)
    arrived = table.filter((pl.col("event") == "delivered") & (pl.col("side") == "sender"))
    assert line(ax, "peer's window (ack + rwnd)").get_ydata() == pytest.approx(
        (arrived["ack"] + arrived["rwnd"]).to_numpy() / 1e3
    )
    assert len(np.asarray(line(ax, "duplicate ACK").get_xdata())) > 3
    sack = bars(ax, "SACK block").get_segments()
    reported = [block for text in arrived["sack"].drop_nulls() for block in text.split()]
    duplicated = bars(ax, "DSACK block").get_segments()
    assert len(sack) + len(duplicated) == len(reported) > 3
    assert len(duplicated) == 1
    (_, low), (_, high) = np.asarray(sack[0])
    assert f"{low * 1e3:.0f}-{high * 1e3:.0f}" == reported[0]


def test_a_window_far_above_is_named_so_and_the_legend_keeps_off_the_data() -> None:
    near, far = (
        ak.plot.time_sequence(events(THREE_LOST.replace("20 packets", n)), stop=1.5) for n in ("20 packets", "9 MB")
    )
    labels = [[text.get_text() for text in ax.get_legend().get_texts()] for ax in (near, far)]  # type: ignore[union-attr]
    assert [one[0] for one in labels] == ["peer's window (ack + rwnd)", "peer's window (ack + rwnd): above"]
    # Everything is sent at the start, and then the sender waits for a distant timer.
    stalled = THREE_LOST.replace("[60, 62, 65]", str(list(range(60, 90))))
    legend = ak.plot.time_sequence(events(stalled), stop=100.0).get_legend()
    assert legend is not None
    assert legend._loc == 4  # type: ignore[attr-defined]


def test_the_own_window_is_what_bounds_new_data() -> None:
    table = events(THREE_LOST.replace("20 packets", "500 packets").replace("rfc-6675", "newreno"))
    ax = ak.plot.time_sequence(table)
    edge = line(ax, "own window (snd_una + cwnd)")
    at, allowed = np.asarray(edge.get_xdata()), np.asarray(edge.get_ydata())
    sent = bars(ax, "first transmission").get_segments()
    assert len(sent) > 100
    for (when, _), (_, end) in (np.asarray(bar) for bar in sent):
        if when >= at[0]:
            assert end <= allowed[np.searchsorted(at, when, side="right") - 1] + 1e-6


def test_a_zoom_shows_the_same_points_within_its_limits() -> None:
    table = events()
    whole, part = ak.plot.time_sequence(table), ak.plot.time_sequence(table, start=0.8, stop=1.4)
    inside = [bar for bar in bars(whole, "first transmission").get_segments() if 0.8 <= np.asarray(bar)[0, 0] <= 1.4]
    assert np.asarray(bars(part, "first transmission").get_segments()) == pytest.approx(np.asarray(inside))
    assert part.get_xlim() == (0.8, 1.4)
    low, high = part.get_ylim()
    assert low > 0
    assert high < whole.get_ylim()[1]
    assert {one.get_gid() for one in part.get_lines()} == {one.get_gid() for one in whole.get_lines()}


def test_the_window_has_thresholds_on_their_axes_and_shades_phases() -> None:
    table = events()
    ax = ak.plot.window(table, stack="rfc-6675")
    changes = table.filter(pl.col("event") == "window")
    cwnd = line(ax, "cwnd")
    assert np.asarray(cwnd.get_ydata())[1:-1] == pytest.approx(changes["cwnd"].to_numpy() / 1e3)
    assert (np.asarray(cwnd.get_xdata())[0], np.asarray(cwnd.get_ydata())[0]) == (0, 1.46)
    assert np.asarray(line(ax, "ssthresh").get_ydata())[0] == 29.2
    right = ax.figure.axes[-1]
    assert set(np.asarray(line(right, "dupthresh").get_ydata())) == {3.0}
    assert [ax.get_ylabel(), right.get_ylabel()] == ["window (kB)", "dupthresh (segments)"]
    phases = table.filter(pl.col("event") == "phase")
    recoveries = (phases["phase_to"] == "recovery").sum()
    (shade,) = (c for c in ax.collections if c.get_gid() == "recovery")
    assert len(shade.get_paths()) == recoveries >= 1
    legend = ax.get_legend()
    assert legend is not None
    assert {"cwnd", "ssthresh", "dupthresh (right)", "Recovery"} <= {text.get_text() for text in legend.get_texts()}


def test_a_threshold_that_adapts_is_drawn_as_it_is_told() -> None:
    swaps = SHORT.replace('"5 s"', '"30 s"').replace(
        'elements = [{ kind = "bernoulli", p = 0.01 }]',
        'elements = [{ kind = "swap", mode = "slots", count = 8, gap = { exponential = "1 s" } }]',
    )
    table = events(swaps.replace('"20 packets"', '"65 packets"'), stack="dsack-inc")
    reported = table.filter(pl.col("event") == "threshold")["dupthresh"].to_list()
    assert reported[:2] == [3, 4]
    right = ak.plot.window(table).figure.axes[-1]
    assert np.asarray(line(right, "dupthresh").get_ydata()).tolist() == [*reported, reported[-1]]


def test_the_queue_is_the_longest_one_and_shows_its_drops() -> None:
    result = ak.run(SHORT.replace('elements = [{ kind = "bernoulli", p = 0.01 }]', ""), seed=1)
    table, links = result.events, result.links
    ax = ak.plot.queue(table)
    arrivals = table.filter((pl.col("event") == "queue") & (pl.col("link") == 0))
    heights = np.asarray(bars(ax, "queue").get_segments())[:, 1, 1]
    assert heights.tolist() == arrivals["queue_packets"].to_list()
    assert heights.max() == links["max_queue_packets"][0]
    crosses = marks(ax, "drops")
    assert len(crosses) == links["queue_drops"][0] > 0
    assert ax.get_ylabel() == "queue of link 0\n(packets)"
    assert len(marks(ak.plot.queue(table, link=1), "drops")) == 0


def test_a_metric_has_means_with_error_bars_in_the_colour_of_its_stack() -> None:
    frames = []
    for p in (0.005, 0.02):
        result = ak.compare(SHORT.replace("p = 0.01", f"p = {p}"), ["tahoe", "sack-ff96"], seeds=5)
        frames.append([t.with_columns(loss=pl.lit(p)) for t in (result.frame, result.summary)])
    runs, means = (pl.concat(tables) for tables in zip(*frames, strict=True))
    drawn = [ak.plot.metric(frame, x="loss", y="throughput_bytes_per_s") for frame in (runs, means)]
    for ax in drawn:
        assert [ax.get_xlabel(), ax.get_ylabel()] == ["loss", "throughput (kB/s)"]
        for container, stack in zip(ax.containers, ("tahoe", "sack-ff96"), strict=True):
            data, _, (error,) = container
            mine = means.filter(pl.col("stack") == stack)
            assert data.get_color() == colours.of(stack)
            assert data.get_marker() == colours.look(stack).marker
            assert np.asarray(data.get_xdata()).tolist() == [0.005, 0.02]
            assert np.asarray(data.get_ydata()) == pytest.approx(mine["throughput_bytes_per_s"].to_numpy() / 1e3)
            half = [(np.asarray(bar)[1, 1] - np.asarray(bar)[0, 1]) / 2 for bar in error.get_segments()]
            assert half == pytest.approx(mine["throughput_bytes_per_s_ci95"].to_numpy() / 1e3)
    with pytest.raises(KeyError, match="no column 'los'"):
        ak.plot.metric(runs, x="los", y="timeouts")
    with pytest.raises(ValueError, match="choose one flow"):
        ak.plot.metric(pl.concat([means, means]), x="loss", y="timeouts")


@pytest.mark.parametrize(
    ("values", "at", "label", "words"),
    [
        (["5 ms", "20 ms"], [5.0, 20.0], "link[0].delay (ms)", []),
        (["20 ms", "1 s"], [0.0, 1.0], "link[0].delay", ["20 ms", "1 s"]),
        (["newreno", "tahoe"], [0.0, 1.0], "link[0].delay", ["newreno", "tahoe"]),
        ([7, 3], [3.0, 7.0], "link[0].delay", []),
    ],
)
def test_a_swept_parameter_may_be_a_quantity_or_a_word(
    values: list[object], at: list[float], label: str, words: list[str]
) -> None:
    frame = pl.DataFrame({"link[0].delay": values * 2, "stack": ["reno"] * 4, "timeouts": [1, 2, 3, 4]})
    ax = ak.plot.metric(frame, x="link[0].delay", y="timeouts")
    data, _, _ = ax.containers[0]
    assert np.asarray(data.get_xdata()).tolist() == at
    assert sorted(np.asarray(data.get_ydata()).tolist()) == [2.0, 3.0]
    assert ax.get_xlabel() == label
    assert [tick.get_text() for tick in ax.get_xticklabels()] == words or not words


def test_a_trade_off_has_a_point_for_each_stack() -> None:
    frame = ak.compare(SHORT, ["tahoe", "sack-ff96"], seeds=4).frame
    ax = ak.plot.trade_off(frame)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["tahoe", "sack-ff96"]  # type: ignore[union-attr]
    for container, stack in zip(ax.containers, ("tahoe", "sack-ff96"), strict=True):
        mine, (data, *_) = frame.filter(pl.col("stack") == stack), container
        x = (100 * mine["needless_retransmissions"] / mine["data_packets_sent"]).to_list()
        assert np.asarray(data.get_xdata()) == pytest.approx([sum(x) / 4])
        assert np.asarray(data.get_ydata()) == pytest.approx([sum(mine["goodput_bytes_per_s"]) / 4e3])
        assert data.get_marker() == colours.look(stack).marker
    with pytest.raises(KeyError, match="no column 'goodput_bytes_per_s'"):
        ak.plot.trade_off(frame.drop("goodput_bytes_per_s"))


def test_every_plot_takes_what_leaves_as_arrow() -> None:
    result = ak.run(THREE_LOST, seed=1)
    table, frame = pa.table(result.arrow("events")), pa.table(result.arrow())
    for draw in (ak.plot.time_sequence, ak.plot.window, ak.plot.queue):
        one, other = draw(table), draw(result.events)
        assert isinstance(one, Axes)
        assert [c.get_gid() for c in one.get_children()] == [c.get_gid() for c in other.get_children()]
    assert len(ak.plot.course(result.arrow("events")).axes) == 4
    assert isinstance(ak.plot.trade_off(frame), Axes)
    assert isinstance(ak.plot.metric(frame, x="seed", y="timeouts"), Axes)


def test_axes_given_are_drawn_on() -> None:
    table = events()
    figure = Figure()
    panels = figure.subplots(3, 1)
    assert ak.plot.time_sequence(table, ax=panels[0]) is panels[0]
    assert ak.plot.window(table, ax=panels[1]) is panels[1]
    assert ak.plot.queue(table, ax=panels[2]) is panels[2]


def test_a_flow_without_events_makes_an_empty_picture() -> None:
    figure = ak.plot.course(events(), flow=7)
    assert [len(bars(figure.axes[0], "first transmission").get_segments()), len(figure.axes)] == [0, 3]
    assert ak.plot.course(events().clear()).axes


def test_a_course_has_three_panels_and_the_same_bytes_again(tmp_path: Path) -> None:
    result = ak.run(SHORT, seed=1)
    for name in ("a.svg", "b.svg"):
        ak.plot.save(result.plot(), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    figure = result.plot(start=1.0, stop=2.0)
    assert figure.axes[0].get_title() == "short: only, newreno, seed 1"
    assert [ax.get_xlim() for ax in figure.axes] == [(1.0, 2.0)] * 4
    assert [ax.get_xlabel() for ax in figure.axes[:3]] == ["", "", "time (s)"]


def test_many_points_are_an_image_inside_an_svg(tmp_path: Path) -> None:
    result = ak.run(SHORT.replace('"5 s"', '"300 s"').replace("p = 0.01", "p = 0.0001"), seed=1)
    path = tmp_path / "many.svg"
    ak.plot.save(result.plot(), path)
    assert result.frame["data_packets_sent"][0] > 50_000
    assert path.stat().st_size < 2e6
    assert b"<image" in path.read_bytes()


def test_a_colour_belongs_to_one_stack_of_the_table_and_to_no_event() -> None:
    assert set(colours.STACKS) <= {stack["name"] for stack in ak.stacks()}
    assert set(colours.STACKS) == set(colours.MARKERS)
    every = [*colours.STACKS.values(), *colours.EVENTS.values()]
    assert len(set(every)) == len(every)


def test_every_stack_has_a_look_of_its_own_that_follows_from_its_name() -> None:
    looks = [colours.look(stack["name"]) for stack in ak.stacks()]
    assert len(set(looks)) == len(looks)
    assert len({colours.look(f"stack {n}") for n in range(20_000)}) == 12 * 12 * 4
    other = colours.look("somebody's own")
    assert other == colours.look("somebody's own")
    assert other.line != colours.WHOLE
    assert other.colour in colours.STACKS.values()


def test_plot_draws_png_and_svg_beside_what_run_prints(ackclock: Command, short: Path, tmp_path: Path) -> None:
    plain = ackclock("run", short, "--seeds", "2")
    for name, begins in (("p.png", b"\x89PNG"), ("p.SVG", b"<?xml")):
        drawn = ackclock("run", short, "--seeds", "2", "--plot", name, "--plot-from", "1 s", "--plot-to", "1500ms")
        assert (drawn.returncode, drawn.stderr, drawn.stdout) == (0, "", plain.stdout)
        assert (tmp_path / name).read_bytes().startswith(begins)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["p.SVG", "p.png", "short.toml"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--plot", "p.pdf"], 'key `--plot`: found "p.pdf", allowed: a file name that ends in .png or .svg'),
        (["--plot", "p.png", "--plot-from", "1.2"], 'key `--plot-from`: found "1.2", allowed: a time: a number and '),
        (["--plot", "p.png", "--plot-to", "0s"], 'key `--plot-to`: found "0s", allowed: a time after 0 s'),
        (
            ["--plot", "p.png", "--plot-from", "2 s", "--plot-to", "1s"],
            'key `--plot-to`: found "1s", allowed: a time after 2 s',
        ),
        (["--plot-to", "1 s"], 'key `--plot-to`: found "1 s" without a plot, allowed: with --plot FILE'),
    ],
)
def test_a_senseless_plot_is_refused_before_the_run(
    ackclock: Command, short: Path, options: list[str], said: str
) -> None:
    refused = ackclock("run", short, *options)
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    assert refused.stderr.startswith(f"ackclock: command line: {said}")


def test_a_picture_that_cannot_be_is_one_message_after_the_numbers(
    ackclock: Command, short: Path, tmp_path: Path
) -> None:
    numbers = ackclock("run", short).stdout
    nowhere = ackclock("run", short, "--plot", "no/such/p.png")
    assert (nowhere.returncode, nowhere.stderr.count("\n"), nowhere.stdout) == (1, 1, numbers)
    assert "no/such" in nowhere.stderr
    for module in ("matplotlib", "polars"):
        hidden = f"import sys; sys.modules[{module!r}] = None; from ackclock.cli.main import main; main()"
        command = [sys.executable, "-c", hidden, "run", str(short), "--plot", str(tmp_path / "p.png")]
        without = subprocess.run(command, capture_output=True, text=True, check=False)
        said = f'ackclock: --plot needs {module}, which is not installed: pip install "ackclock[plot]"\n'
        assert (without.returncode, without.stdout, without.stderr) == (1, numbers, said)


def test_a_plot_of_no_time_is_refused(ackclock: Command, short: Path, tmp_path: Path) -> None:
    table = events()
    for draw in (ak.plot.time_sequence, ak.plot.window, ak.plot.queue):
        with pytest.raises(ValueError, match="found no time in between; the trace ends at "):
            draw(table, start=5.0)
    late = ackclock("run", short, "--plot", "p.png", "--plot-from", "9 s")
    assert (late.returncode, late.stdout, late.stderr.count("\n")) == (2, ackclock("run", short).stdout, 1)
    assert late.stderr.startswith("ackclock: a plot from 9 s to ")
    assert not (tmp_path / "p.png").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux that is always full")
def test_a_picture_on_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = ak.plot.time_sequence(events()).get_figure()
    assert isinstance(figure, Figure)
    full = tmp_path / ".p.png.part"
    full.symlink_to("/dev/full")
    monkeypatch.setattr(files, "_beside", lambda path: full)
    with pytest.raises(OSError, match="No space left on device"):
        ak.plot.save(figure, tmp_path / "p.png")
    assert list(tmp_path.iterdir()) == []
