"""README's first picture, docs/figures/front.svg: how five senders fare on scenarios/two-paths.toml.

usage: .venv/bin/python tools/generators/front_picture.py
"""

from __future__ import annotations

import io
import re
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

import ackclock as ak
from ackclock import files
from ackclock.plot import style

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs/figures/front.svg"
SCENARIO = ROOT / "scenarios/two-paths.toml"
SEEDS = 10
SENDERS = {
    "newreno": "NewReno (RFC 6582)",
    "rack-tlp": "RACK-TLP (RFC 8985)",
    "linux-2025": "Linux 6.18, CUBIC",
    "tcp-pr": "TCP-PR (2003)",
    "linux-bbr-2025": "Linux 6.18, BBR",
}
"""The stacks of README's command, and the labels of their bars."""
LIGHT, DARK = "#9ecae1", "#08519c"


def measured() -> list[tuple[str, float, float]]:
    """Name, mean goodput in kB/s, and needless retransmissions in % of the packets sent, of each sender."""
    runs = ak.compare(SCENARIO, list(SENDERS), seeds=SEEDS).frame
    means = runs.group_by("stack", maintain_order=True).agg(
        pl.col("goodput_bytes_per_s").mean() / 1e3,
        100 * pl.col("needless_retransmissions").sum() / pl.col("data_packets_sent").sum(),
    )
    return [(SENDERS[stack], goodput, needless) for stack, goodput, needless in means.iter_rows()]


def drawn(rows: list[tuple[str, float, float]]) -> str:
    """The picture, as SVG; letters are paths, with their words in comments."""
    best = max(goodput for _, goodput, _ in rows)
    with style.paper():
        figure = Figure(figsize=(7.0, 2.3), layout="constrained", facecolor="white")
        ax = figure.subplots()
        for at, (_, goodput, needless) in enumerate(reversed(rows)):
            ax.barh(at, goodput, height=0.62, color=DARK if goodput == best else LIGHT)
            reported = f"{goodput:.0f} kB/s, {needless:.1f} % of packets sent needlessly"
            ax.text(goodput + best / 90, at, reported, va="center")
        ax.set_yticks(range(len(rows)), [name for name, _, _ in reversed(rows)])
        ax.set_xlim(0, 1.6 * best)
        ax.set_xlabel("goodput (kB/s)")
        ax.grid(visible=False, axis="y")
        ax.tick_params(axis="y", length=0)
        ax.set_title("Two paths 40 ms apart, one packet in 500 lost: what does each sender make of them?", loc="left")
        image = io.BytesIO()
        figure.savefig(image, format="svg", metadata={"Title": "Goodput of five senders on two paths", "Date": None})
    return style.lean(image.getvalue().decode())


def words(svg: str) -> list[str]:
    """The words of a picture, in order."""
    return re.findall(r"<!-- (.+?) -->", svg)


if __name__ == "__main__":
    files.write(PICTURE, drawn(measured()).encode())
