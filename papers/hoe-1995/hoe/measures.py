"""The measure of each claim of the thesis."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

from .runs import LOST_AT_ONCE, View
from .sender_trace import NAN, SEGMENT, Ack, Send, SenderTrace, at, first

SERVICE_S = SEGMENT / 204_800
"""Transmission time of a segment at the bottleneck, in seconds."""
ROUND_S = 0.1
"""§7.2."""
GAP = 1.5
"""ACKs arrive continuously, with none missing, as long as no gap between them exceeds this number of service times."""
START_S = 0.8
"""§5.4 compares this initial part of two slow starts, in seconds."""
ALTERNATE = range(51, 100, 2)
"""§5.3.3: every other packet up to 99."""
ESTIMATES = ("estimate", "estimate every")
HOES = ("hoe", "hoe every", "recovery", "recovery every", *(f"{n} lost" for n in LOST_AT_ONCE))


def single_loss(run: SenderTrace) -> Send | None:
    """The first segment that is lost alone, after the timeout that ended the burst of losses."""
    later = (d for d in run.drops if run.timeouts and d.at > run.timeouts[0])
    return next((d for d in later if run.alone(d, ROUND_S)), None)


def duplicates(run: SenderTrace, lost: Send) -> list[Ack]:
    """The duplicate ACKs for it."""
    return [a for a in run.after(lost.at) if a.duplicate and a.segment == lost.segment - 1]


def recovery(run: SenderTrace) -> tuple[float, float, float]:
    """§5.3.1, for the single loss: times of the first duplicate, of the restored window, and of the ACK of new data."""
    lost = single_loss(run)
    asked = duplicates(run, lost) if lost else []
    if len(asked) < 3:  # noqa: PLR2004 - three duplicates
        return NAN, NAN, NAN
    resent = asked[2].at
    old = run.cwnd(resent).cwnd
    full = next((w for w in run.windows if w.at > resent and w.cwnd >= old), None)
    return asked[0].at, at(full), at(run.advance(resent))


def faded(run: SenderTrace) -> float:
    """§5.3.1: the end of the last gap in the stream of ACKs after that recovery."""
    done = recovery(run)[2]
    acks = [a.at for a in run.acks if a.at >= done]
    nxt = next((d.at for d in run.drops if d.at > done), math.inf)
    gaps = [later for before, later in pairwise(acks) if later - before > GAP * SERVICE_S and later < nxt]
    return gaps[-1] if gaps else NAN


def surge(run: SenderTrace) -> list[Send]:
    """The segments sent without a pause of more than ``GAP`` service times when the buffer first overflowed."""
    if not run.drops:
        return []
    lost = next(s for s in run.sends if s.segment == run.drops[0].segment)
    listed = run.sends
    i = j = listed.index(lost)
    while i > 0 and listed[i].at - listed[i - 1].at < GAP * SERVICE_S:
        i -= 1
    while j + 1 < len(listed) and listed[j + 1].at - listed[j].at < GAP * SERVICE_S:
        j += 1
    return list(listed[i : j + 1])


def surge_rate(run: SenderTrace) -> float:
    """§5.3.2: the rate of these segments relative to the bottleneck's rate."""
    sent = surge(run)
    span = sent[-1].at - sent[0].at if sent else 0.0
    more = [s for s in sent if s.at > sent[0].at]
    return len(more) * SERVICE_S / span if span else NAN


def false_retransmit(run: SenderTrace) -> float:
    """§5.3.3: the first fast retransmit after the first timeout, if nothing was lost between them."""
    if not run.timeouts:
        return NAN
    since = run.timeouts[0]
    found = next((t for t in run.fast_retransmits if t > since), NAN)
    return NAN if any(since < d.at < found for d in run.drops) else found


def table(run: SenderTrace) -> tuple[float, float, float, float]:
    """Table 5.1: times of the second loss, of its ACK, of the next ACK of new data, and of the duplicate after it."""
    if not run.timeouts:
        return NAN, NAN, NAN, NAN
    since = run.timeouts[0]
    one = run.advance(since)
    two = run.advance(one.at) if one else None
    again = next((a for a in run.after(two.at) if a.duplicate and a.segment == two.segment), None) if two else None
    return since, at(one), at(two), at(again)


def large_ack(run: SenderTrace) -> tuple[float, float]:
    """§5.4: times of the largest ACK between timeout and false fast retransmit, and of the segment that caused it."""
    if not run.timeouts:
        return NAN, NAN
    since, until = run.timeouts[0], false_retransmit(run)
    acks = [a for a in run.after(since) if a.newly and not a.at >= until]
    if not acks:
        return NAN, NAN
    large = max(acks, key=lambda a: a.newly)
    hole = large.segment - large.newly + 1
    return large.at, max((s.at for s in run.sends if s.segment == hole and since <= s.at < large.at), default=NAN)


def released(run: SenderTrace) -> float:
    """§5.2: the number of segments that most ACKs of the first slow start release."""
    until = min([d.at for d in run.drops] + [a.at for a in run.acks if a.duplicate], default=math.inf)
    count = Counter(sum(s.at == a.at for s in run.sends) for a in run.acks if a.newly and a.at < until)
    return float(count.most_common(1)[0][0]) if count else NAN


def ratios(run: SenderTrace) -> dict[str, float]:
    """§5.4: ratio of the first slow start to the one after the timeout, for each measure of the data transferred."""
    starts = (run.begins, run.timeouts[0]) if run.timeouts else (NAN, NAN)

    def over(count: Callable[[float, float], int]) -> float:
        early, late = (count(start, start + START_S) for start in starts)
        return early / late if late else NAN

    return {
        "segments sent": over(lambda a, b: len(run.sent(a, b))),
        "segments that arrive": over(lambda a, b: sum(a <= s.at < b for s in run.arrivals)),
        "segments that arrive for the first time": over(lambda a, b: _fresh(run, a, b)),
        "segments acknowledged": over(lambda a, b: sum(x.newly for x in run.acks if a <= x.at < b)),
        "highest segment sent, over what had been acknowledged": over(lambda a, b: _reach(run, a, b)),
    }


def _fresh(run: SenderTrace, start: float, stop: float) -> int:
    before = {s.segment for s in run.arrivals if s.at < start}
    return len({s.segment for s in run.arrivals if start <= s.at < stop} - before)


def _reach(run: SenderTrace, start: float, stop: float) -> int:
    base = max((a.segment for a in run.acks if a.at < start), default=0)
    return max((s.segment for s in run.sent(start, stop)), default=base) - base


def failed(run: SenderTrace) -> float:
    """§6.1: timeouts after a fast retransmit that was not sufficient."""
    times = (0.0, *run.timeouts)
    return float(sum(any(a < t < b for t in run.fast_retransmits) for a, b in pairwise(times)))


def apart(one: SenderTrace, other: SenderTrace) -> float:
    """§6.2: the largest difference between the n-th cuts of the window in two runs, in % of the earlier."""
    pairs = list(zip(*(sorted((*run.timeouts, *run.fast_retransmits)) for run in (one, other)), strict=False))
    return max((100 * (max(a, b) / min(a, b) - 1) for a, b in pairs), default=NAN)


def crowded(run: SenderTrace) -> float:
    """§7.1: the most losses within a round trip (two, if a queue has formed)."""
    return float(max((sum(0 <= o.at - d.at < 2 * ROUND_S for o in run.drops) for d in run.drops), default=0))


def unrepaired(run: SenderTrace) -> float:
    """§7.1: losses that no fast retransmit repaired."""
    resent = {s.segment for s in run.sends if s.nth > 1 and s.at in run.fast_retransmits}
    return float(sum(d.segment not in resent for d in run.drops))


def per_loss(run: SenderTrace, lost: int) -> float:
    """§7.2: time from the fast retransmission to the ACK of all data, in round trips per loss."""
    begins = run.fast_retransmits[0]
    highest = max(s.segment for s in run.sends if s.at < begins)
    done = next(a for a in run.after(begins) if a.segment >= highest)
    return (done.at - begins) / run.round_trip / lost


def _completion(name: str) -> Callable[[View], tuple[float, ...]]:
    return lambda view: (view(name).acks[-1].at,)


def _timeouts(name: str) -> Callable[[View], tuple[float, ...]]:
    return lambda view: (float(len(view(name).timeouts)),)


def _drops(name: str) -> Callable[[View], tuple[float, ...]]:
    return lambda view: (float(len(view(name).drops)),)


def _order(view: View) -> tuple[float, ...]:
    plain, eighth, every = (view(name).acks[-1].at for name in ("delayed plain", "delayed", "every eighth"))
    return eighth - plain, every - eighth


def _retracted(view: View) -> tuple[float, ...]:
    run = view("delayed")
    return first([at(run.advance(t)) for t in run.fast_retransmits[:2]], 2)


def _after_timeouts(view: View) -> tuple[float, ...]:
    runs = [view(name) for name in ("delayed", "delayed plain", "every", "every eighth")]
    # Of several changes at one instant, the last one counts.
    left = [[w.cwnd for w in r.windows if w.at <= t][-1] / SEGMENT for r in runs for t in r.timeouts]
    return min(left, default=NAN), max(left, default=NAN)


def _alternate(view: View) -> tuple[float, ...]:
    run = view("every")
    until = run.fast_retransmits[0] if run.fast_retransmits else NAN
    lost = {d.segment for d in run.drops if d.at < until}
    return float(len(lost & set(ALTERNATE))), float(len(lost - set(ALTERNATE)))


def _episode(view: View) -> tuple[float, ...]:
    run = view("every")
    asked = next((a for a in run.acks if a.duplicate), None)
    done = run.advance(asked.at) if asked else None
    return at(run.drops[0] if run.drops else None), at(asked), at(done), *first(run.timeouts, 1)


def _table(view: View) -> tuple[float, ...]:
    return table(view("every"))


def _thresholds(view: View) -> tuple[float, ...]:
    run = view("estimate")
    measured = next((w.ssthresh for w in run.windows if w.ssthresh != run.windows[0].ssthresh), NAN)
    return measured // SEGMENT, measured


def _per_loss(view: View) -> tuple[float, ...]:
    each = [per_loss(view(f"{n} lost"), n) for n in LOST_AT_ONCE]
    return min(each), max(each)


def _first_loss(view: View) -> tuple[float, ...]:
    return first([float(d.segment) for d in view("every").drops], 1)


def _single(view: View) -> tuple[float, ...]:
    lost = single_loss(view("every"))
    return (float(lost.segment) if lost else NAN,)


def _steps(view: View) -> tuple[float, ...]:
    asked, full, done = recovery(view("every"))
    return full - asked, done - full


def _before_fast_retransmit(view: View) -> tuple[float, ...]:
    run = view("every")
    return (run.cwnd(run.fast_retransmits[0]).cwnd if run.fast_retransmits else NAN,)


def _filled(view: View) -> tuple[float, ...]:
    large, hole = large_ack(view("every"))
    return (large - hole,)


MEASURES: dict[str, Callable[[View], tuple[float, ...]]] = {
    "S002-01": _completion("delayed"),
    "S002-02": _timeouts("delayed"),
    "S002-03": _drops("delayed"),
    "S002-04": _completion("delayed plain"),
    "S002-05": _timeouts("delayed plain"),
    "S002-06": _drops("delayed plain"),
    "S002-07": lambda view: (max((d.at for d in view("delayed plain").drops), default=NAN),),
    "S002-08": _completion("every eighth"),
    "S002-09": _timeouts("every eighth"),
    "S002-10": _drops("every eighth"),
    "S002-11": _order,
    "S002-12": lambda view: first(view("delayed").fast_retransmits[:3], 3),
    "S002-13": _retracted,
    "S002-14": lambda view: first(view("delayed").timeouts[:1], 1),
    "S002-15": _after_timeouts,
    "S002-16": _single,
    "S002-17": _steps,
    "S002-18": lambda view: (faded(view("every")),),
    "S002-19": _first_loss,
    "S002-20": _alternate,
    "S002-21": _episode,
    "S002-22": _before_fast_retransmit,
    "S002-23": _table,
    "S002-24": lambda view: (false_retransmit(view("every")),),
    "S002-25": _filled,
    "S002-26": lambda view: (ratios(view("every"))[view.work.reading["transferred"]],),
    "S002-27": lambda view: tuple(failed(view(name)) for name in ("buffer 20", "buffer 20 plain", "buffer 20 every")),
    "S002-28": lambda view: (apart(view("45 ms"), view("delayed")), apart(view("delayed"), view("55 ms"))),
    "S002-29": _thresholds,
    "S002-30": lambda view: (max(float(len(view(name).timeouts)) for name in ESTIMATES),),
    "S002-31": lambda view: (
        max(crowded(view(name)) for name in ESTIMATES),
        max(unrepaired(view(name)) for name in ESTIMATES),
        min(float(len(view(name).drops)) for name in ESTIMATES),
    ),
    "S002-32": _per_loss,
    "S002-35": lambda view: (released(view("delayed plain")), released(view("every"))),
    "S002-39": lambda view: (surge_rate(view("every")),),
    "S002-40": lambda view: (max(float(len(view(name).timeouts)) for name in HOES),),
}
"""Measures by claim; choices that the thesis leaves open may change each of them."""
