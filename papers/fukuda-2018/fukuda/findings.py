"""A verdict for every claim of Fukuda et al. 2018."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ackclock.papers import claims
from ackclock.papers.claims import Claim, Finding
from ackclock.papers.paper import Work

from .curves import BELOW, CUBIC, GRID, NEWRENO, NONE, Sender, point
from .measures import (
    CLOSE_S,
    EXCEPTION,
    LONG,
    MEASURES,
    SHORT,
    View,
    below,
    largest_fall,
    megabits,
)
from .reference import read
from .setup import factor, order_of_figure_2, parameters, spacing_s

CLAIMS = "claims.csv"
READ_BACK = "Read from the scenarios that ran."


def findings(view: View, work: Work) -> list[Finding]:
    """Judge every claim of ``claims.csv``.

    Args:
        view: the runs.
        work: the folder of claims.csv and the scenarios, and the reading of the paper.

    Raises:
        OSError: a file of the paper's folder is missing.
        ScenarioError, ValueError: a file is invalid.
    """
    texts = parameters([curve.family for curve in view.curves.values()], work)
    listed = claims.read(work.folder / CLAIMS)
    notes = _notes(view, work, {claim.id: claim for claim in listed})

    def one(claim: Claim) -> Finding:
        if claim.id == "S003-04":
            return claims.judge(claim, texts[claim.id], note=_spacing(work))
        if claim.id in texts:
            return claims.judge(claim, texts[claim.id], note=READ_BACK)
        if claim.id == "S003-17":
            share = factor(work, point(CUBIC, SHORT))
            return claims.judge(claim, (share,), (None,), "819 / 1024, in the stack that ran.")
        if claim.id == "S003-21":
            return claims.judge(claim, order_of_figure_2(work), note="Seen in a run of scenario-figure2.toml.")
        return _measured(claim, view, notes.get(claim.id, ""))

    return [one(claim) for claim in listed]


def _measured(claim: Claim, view: View, note: str) -> Finding:
    """The finding for a claim about the runs; chance here means the choice of the round trip."""
    each = [MEASURES[claim.id](replace(view, draw=[i])) for i in view.draw]
    n = len(each)

    def mean(draw: Sequence[int]) -> tuple[float, ...]:
        return tuple(sum(column) / n for column in zip(*(each[i] for i in draw), strict=True))

    intervals = claims.resampled(mean, n) if n > 1 else ()
    paper = " and ".join(f"{value:.4g}" for value in each[0])
    said = f"Mean over {n} round trips; with exactly 70 ms: {paper}." if n > 1 else ""
    return claims.judge(claim, mean(range(n)), intervals, f"{said} {note}".strip())


def _spacing(work: Work) -> str:
    shortest = 1e3 * spacing_s(work, point(NEWRENO, 4))
    return (
        f"The arithmetic of the paper. In the runs two moved packets of RI = 4 are at least {shortest:.1f} ms apart: "
        "by §III and Figure 2 the moved packet must leave, too, before the next is moved, so a round is RI + 1 packets."
    )


def _notes(view: View, work: Work, by_id: Mapping[str, Claim]) -> dict[str, str]:
    """Further remarks by claim; their numbers are from these runs."""
    counted = (
        "This counts packets of 1500 bytes that R2 received by 10.2 s, needless ones included. It is the closest "
        "match to the paper's number; payload alone, which normalised throughput counts here, would be "
    )
    return {
        **{claim: f"{counted}{payload_rate(view):.3f} Mb/s." for claim in ("S003-01", "S003-02")},
        "S003-06": _all_copies(view, NEWRENO, by_id["S003-06"]),
        "S003-07": _all_copies(view, CUBIC, by_id["S003-07"]),
        "S003-08": f"{_signs(view)} {_signs_in_the_model(work)}",
        "S003-10": _counts(view),
        "S003-14": f"{_stuck(view)} {_least_in_the_model(work)}",
        "S003-15": f"{_stuck(view)} {_least_in_the_model(work)}",
        "S003-16": _halving(view),
        "S003-19": _windows(view),
        "S003-23": f"{_signs_at(view, LONG)} {_difference_in_the_model(work)}",
    }


def payload_rate(view: View) -> float:
    """Payload that R2 received without reordering, in Mb/s."""
    return megabits(statistics.fmean(view.arrivals[NEWRENO][i] for i in view.draw)) * 1448 / 1500


def _all_copies(view: View, sender: Sender, claim: Claim) -> str:
    """The result for the claim if all copies are counted."""
    fall = largest_fall(view.arriving(sender))
    verdict = "it would hold, too" if claim.accepts((fall,)) else "it would differ"
    return (
        "Throughput is acknowledged payload. If every copy that arrives counts, as it does without reordering "
        f"(S003-01), {verdict}: {fall:.1f} %."
    )


def _signs(view: View) -> str:
    """The RI at which all round trips agree which sender is ahead."""
    apart = view.normalised(CUBIC) - view.normalised(NEWRENO)
    lower, higher = ((apart < 0).all(axis=1), (apart > 0).all(axis=1))
    few = [ri for ri in BELOW if ri <= SMALL]
    return (
        f"Of {len(BELOW)} RI, Cubic is below in every round trip at {int(lower.sum())}, above in every one at "
        f"{int(higher.sum())}; at the others chance decides. "
        f"Up to RI = {SMALL}, Cubic is below at {below(view, few):.0f} % of the RI; on the grid, at "
        f"{below(view, ON_GRID):.0f} %."
    )


def _signs_in_the_model(work: Work) -> str:
    """The same for the model, with inflated Cubic and with eq. 1 taken literally."""
    share = _model(work, "app_mbps")
    ris = sorted({ri for _, ri, _ in share} & set(ON_GRID))
    lower = {i: sum(share["cubic", ri, i] < share["newreno", ri, "1"] for ri in ris) for i in ("0", "1")}
    return (
        f"In the model of ns-3's old rules (reference/README.md), of its {len(ris)} RI, Cubic without inflation is "
        f"below NewReno with it at {lower['0']}, Cubic with it at {lower['1']}."
    )


def _model(work: Work, column: str) -> dict[tuple[str, int, str], float]:
    """A column of the model's runs with an ACK for each segment, by sender, RI and inflation."""
    rows = read(work.folder, "model.csv")
    return {(r["cc"], int(r["ri"]), r["inflate"]): float(r[column]) for r in rows if r["delack"] == "1"}


def _least_in_the_model(work: Work) -> str:
    least = _model(work, "min_cwnd")
    with_it, without = (least["cubic", SHORT, inflate] for inflate in ("1", "0"))
    return (
        f"The model's smallest cwnd in all 10 s is {with_it:.0f} segments, {without:.0f} without inflation; when "
        "is not recorded."
    )


def _difference_in_the_model(work: Work) -> str:
    rate = _model(work, "app_mbps")
    apart = 100 * (rate["cubic", LONG, "1"] - rate["newreno", LONG, "1"]) / rate["newreno", NONE, "1"]
    return f"In the model of ns-3's old rules it is {apart:+.1f} points."


def _signs_at(view: View, ri: int) -> str:
    apart = 100 * (view.normalised(CUBIC, [ri]) - view.normalised(NEWRENO, [ri]))[0]
    means = [100 * float(view.normalised(s, [ri]).mean()) for s in (NEWRENO, CUBIC)]
    return (
        f"NewReno has {means[0]:.1f} %, Cubic {means[1]:.1f} %; the difference is from {apart.min():.2f} to "
        f"{apart.max():.2f} points over the round trips. Of RI {ri - AROUND} to {ri + AROUND}, Cubic is below at "
        f"{below(view, range(ri - AROUND, ri + AROUND + 1)):.0f} %: the choice of RI decides the sign."
    )


def _counts(view: View) -> str:
    first, last = (view.recoveries(CUBIC, [ri for ri in BELOW if low <= ri < high]).mean() for low, high in LIMITS)
    return (
        f"Cubic has {first:.1f} fast recoveries on average at RI 4 to 19 and {last:.1f} at RI 80 to 95: fewer, but not "
        "at each step of RI."
    )


LIMITS = ((4, 20), (80, 96))
SMALL = 12
AROUND = 9
ON_GRID = [ri for ri in GRID if ri in BELOW and ri != EXCEPTION]


def _stuck(view: View) -> str:
    """Why Cubic's window does not shrink further."""
    trace = view.traces[CUBIC, SHORT][view.draw[0]]
    until = [f"{after:.0f}" for at, _, after in trace.cuts if at <= CLOSE_S[1]]
    least = min(range(len(trace.cwnd)), key=lambda i: (trace.cwnd[i] if trace.at[i] > CLOSE_S[0] else 1e9, i))
    return (
        f"In the run with 70 ms fast retransmits cut cwnd to {', '.join(until)} segments by {CLOSE_S[1]} s. Below "
        "some 67 segments (58 on the path, RI = 8 and one in service) R1's queue is too short for anything to be "
        "moved, so cwnd sinks further only by duplicate ACKs that needless retransmissions cause. "
        f"After {CLOSE_S[0]:g} s the smallest value comes at {trace.at[least]:.1f} s: {trace.cwnd[least]:.0f} segments."
    )


def _halving(view: View) -> str:
    trace = view.traces[NEWRENO, SHORT][view.draw[0]]
    up = sum(after > before for _, before, after in trace.cuts)
    return (
        "The outstanding data are halved (RFC 2582). Without the test of recover, needless recoveries follow each "
        "other, and more data are outstanding than cwnd; with the test, in the run with 70 ms, "
        f"{up} of {len(trace.cuts)} fast retransmits left cwnd larger than it was."
    )


def _windows(view: View) -> str:
    trace = view.traces[CUBIC, LONG][view.draw[0]]
    grown = [trace.growth(2 + i / 2, 2.5 + i / 2) for i in range(12)]
    return f"With 70 ms, growth in the half seconds: {', '.join(f'{g:.0f}' for g in grown)} segments."
