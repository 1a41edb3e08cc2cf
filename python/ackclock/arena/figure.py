"""The picture of the arena: the share of the best goodput that each stack gets on each path."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from ackclock.plot import style

if TYPE_CHECKING:
    from ackclock.arena.scores import Scores

WIDE_INCHES, ROW_INCHES, FRAME_INCHES = 7.0, 0.17, 1.0


def draw(board: Scores) -> Figure:
    """Draw a row for each path and a column for each stack, the best stack on the left."""
    parts, scores = board.answer.paths, board.scores
    shares = [[board.share(part, one.stack) for one in scores] for part in parts]
    with style.paper():
        figure = Figure(figsize=(WIDE_INCHES, FRAME_INCHES + ROW_INCHES * len(parts)), layout="constrained")
        axes = figure.subplots()
        axes.imshow(shares, cmap="RdYlGn", vmin=0.5, vmax=1, aspect="auto")
        for row, of_path in enumerate(shares):
            for column, share in enumerate(of_path):
                axes.text(column, row, f"{100 * share:.1f}", ha="center", va="center", fontsize=6)
        axes.set_yticks(range(len(parts)), labels=[part.name for part in parts], fontsize=6)
        axes.set_xticks(
            range(len(scores)), labels=[f"{one.stack}\n{100 * one.mean:.1f}" for one in scores], fontsize=6.5
        )
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.set_xlabel(f"goodput, % of the best; arena {board.version}, {board.half}", fontsize=7)
    return figure


def svg(board: Scores) -> bytes:
    """Return the picture as SVG; equal numbers give equal bytes."""
    image = io.BytesIO()
    best = board.scores[0]
    text = f"{best.stack} has the largest mean, {100 * best.mean:.1f} % of the best goodput."
    with style.paper():
        about = {"Title": f"Arena {board.version}, {board.half}", "Description": text, "Date": None}
        draw(board).savefig(image, format="svg", metadata=about)
    return style.lean(image.getvalue().decode()).encode()
