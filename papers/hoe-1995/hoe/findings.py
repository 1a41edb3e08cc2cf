"""A verdict for every claim of Hoe's thesis, and its dependence on the choices that the thesis leaves open."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ackclock.papers import claims
from ackclock.papers.claims import Claim, Finding

from . import setup, spread
from .measures import MEASURES, faded, large_ack, ratios, recovery, surge
from .runs import LOST_AT_ONCE, View
from .sender_trace import SenderTrace

CLAIMS = "claims.csv"


def judged(view: View) -> list[Finding]:
    """Judge every claim of ``claims.csv``.

    Args:
        view: the runs under a reading of the thesis.

    Raises:
        OSError: a file of the paper's folder is missing.
        ValueError: claims.csv is invalid.
    """
    texts, derived = setup.texts(view), setup.numbers(view)

    def one(claim: Claim) -> Finding:
        if claim.id in texts:
            return claims.judge(claim, texts[claim.id], note="Read from the scenarios that ran.")
        if claim.id in derived:
            return claims.judge(claim, (derived[claim.id],), note="Derived from the scenarios that ran.")
        return claims.judge(claim, MEASURES[claim.id](view))

    return [one(claim) for claim in claims.read(view.work.folder / CLAIMS)]


def explained(found: Finding, notes: Mapping[str, str], points: Mapping[str, Sequence[tuple[float, ...]]]) -> Finding:
    """Add to a finding further remarks, and the spread of its values over the grid."""
    claim = found.claim
    said = (found.note, notes.get(claim.id, ""), spread.sentence(claim, points.get(claim.id, ())))
    return replace(found, note=" ".join(part for part in said if part))


def details(view: View) -> dict[str, str]:
    """Further remarks on claims, in whole sentences."""
    every, delayed = view("every"), view("delayed")
    asked, full, done = recovery(every)
    large = large_ack(every)
    shares = ", ".join(f"{what} {value:.2f}" for what, value in ratios(every).items())
    steps = {name: len(view(name).timeouts) for name in ("estimate eighth", "hoe eighth")}
    ten = view(f"{LOST_AT_ONCE[-1]} lost")
    first_lost = ten.fast_retransmits[0]
    return {
        "S002-08": "§5.2 says that the eighth was left out; its numbers result only with the eighth, so it is in.",
        **dict.fromkeys(
            ("S002-12", "S002-13"), "The receiver's clock (80 ms) was chosen to fit such times, since it moves them."
        ),
        **dict.fromkeys(
            ("S002-14", "S002-21"), "Two ticks of the slow clock were chosen to fit such times; with three it is later."
        ),
        "S002-17": f"The three times are {asked:.2f}, {full:.2f} and {done:.2f} s: "
        "a different segment is lost than in the thesis.",
        "S002-18": f"That is {faded(every) - done:.2f} s after the ACK of new data; in the thesis it is 0.6 s.",
        "S002-20": _gap(view),
        "S002-22": (f"{_opened(every)} ACKs have opened cwnd by then; cwnd ends at 51200 bytes, as §5.3.2 says."),
        "S002-25": f"The times are {large[1]:.3f} and {large[0]:.3f} s.",
        "S002-26": (
            f"The ratio depends on what counts as data transferred: {shares}. The thesis's graphs show the data sent "
            "(§4.3), which decides here."
        ),
        "S002-28": f"The first timeouts are at {', '.join(f'{view(n).timeouts[0]:.1f}' for n in _DELAYS)} s.",
        "S002-30": (
            f"With the eighth, which §5 blames for losses, the estimate alone leaves {steps['estimate eighth']} "
            "timeouts with delayed ACKs; from this we concluded that Figure 7.2 is without it."
        ),
        "S002-33": (
            f"Transmission makes the round trip {1e3 * ten.round_trip:.1f} ms here; within 1 s of the fast "
            f"retransmission {_repaired(view)} of 10 losses are acknowledged, the last after "
            f"{_done(view) - first_lost:.2f} s."
        ),
        "S002-35": "Where the receiver's clock acknowledges a single segment, two are sent.",
        "S002-39": f"{len(surge(every))} segments in {1e3 * (surge(every)[-1].at - surge(every)[0].at):.0f} ms.",
        "S002-40": (
            f"The transfers take {view('hoe').acks[-1].at:.2f} s (delayed) and {view('hoe every').acks[-1].at:.2f} s "
            f"(every packet) with the estimate, {view('recovery').acks[-1].at:.2f} and "
            f"{view('recovery every').acks[-1].at:.2f} s without: one round trip for each loss. Net/2 takes "
            f"{delayed.acks[-1].at:.2f} s."
        ),
    }


_DELAYS = ("45 ms", "delayed", "55 ms")


def _opened(run: SenderTrace) -> int:
    return sum(a.newly > 0 for a in run.acks if a.at < run.fast_retransmits[0])


def _gap(view: View) -> str:
    run = view("every")
    lost = sorted(d.segment for d in run.drops if d.at < run.fast_retransmits[0])
    ends = [n for n, after in zip(lost, [*lost[1:], math.inf], strict=True) if after != n + 2]
    if len(ends) == 1:
        return f"Every other segment from {lost[0]} to {ends[0]} is lost."
    begin = next(n for n in lost if n > ends[0])
    burst = surge(run)
    pause = next(x.at for x in run.sends if x.at > burst[-1].at) - burst[-1].at
    acks = (ends[0] + 1) // 4
    longest = 1e3 * run.round_trip / acks
    return (
        f"Every other segment from {lost[0]} to {ends[0]} and from {begin} to {lost[-1]} is lost. A window of slow "
        f"start ends with segment {ends[0]}; its last half was released by {acks} ACKs, one each 5 ms, and the next "
        f"window begins a round trip after it began: in a pause of {1e3 * pause:.0f} ms the buffer drains. Without a "
        f"pause a service time of {longest:.1f} ms would be needed, and so a product of {acks} packets, not 20."
    )


def _done(view: View) -> float:
    run = view(f"{LOST_AT_ONCE[-1]} lost")
    highest = max(s.segment for s in run.sends if s.at < run.fast_retransmits[0])
    return next(a.at for a in run.acks if a.segment >= highest)


def _repaired(view: View) -> int:
    run = view(f"{LOST_AT_ONCE[-1]} lost")
    until = run.fast_retransmits[0] + 1
    highest = max(a.segment for a in run.acks if a.at <= until)
    return sum(d.segment <= highest for d in run.drops)
