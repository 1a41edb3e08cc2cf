"""Remarks on single claims in addition to their numbers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

from . import first_recovery
from .forced import ndup_unequal_to_actnum
from .measures import PUBLISHED_ORDER, View
from .points import LOSSES, PEER_WINDOWS, RR, SACK, TO_THE_LETTER, model
from .transfer import PUBLISHED

Note = Callable[[View], str]


def _cases(losses: int) -> Note:
    def note(v: View) -> str:
        parts = []
        for window, name in zip(PEER_WINDOWS, ("window of 30", "open window"), strict=True):
            wins, n = v.grid.wins(RR, SACK, losses, window)
            parts.append(f"in {wins} of {n} cases with the {name}")
        return (
            f"RR is faster {' and '.join(parts)}. It repairs one loss in each round trip; SACK blocks report all "
            "losses, so SACK repairs several."
        )

    return note


def _bounded(v: View) -> str:
    del v
    return (
        "The model's sqrt (3/2) is for evenly spaced losses. For independent losses, which these are, the window "
        "of the same additive increase and halving is 1.31 / sqrt (p), 7 % more (Ott, Kemperman & Mathis 1996)."
    )


def _reached(v: View) -> str:
    drop = first_recovery.median([one.cwnd_at_drop for one in v.of(RR)])
    return (
        f"The paper does not say at which moment; when the first packet is dropped the window is {drop:.3g}, and slow "
        "start continues for a round trip until the sender learns of it."
    )


def _share(what: str, pick: Callable[[first_recovery.FirstRecovery], float | None], packet: str = "") -> Note:
    def note(v: View) -> str:
        every = v.of(RR)
        there = [value for one in every if (value := pick(one)) is not None]
        first, last = (f"{of(there):.2f}" if there else "" for of in (min, max))
        span = f", at {first} s" if first == last else f", between {first} and {last} s"
        return f"It happens {what} in {len(there)} of {len(every)} runs{span if there else ''}.{packet}"

    return note


def _exit(v: View) -> str:
    packets = [one.exit_packet for one in v.of(RR) if one.exit_packet is not None]
    timed = sum(one.exit_s is None for one in v.of(RR))
    ack = (
        f"The ACK is for packet {statistics.median(packets):g} ({min(packets)} to {max(packets)}), the paper's for 64. "
        if packets
        else ""
    )
    return f"{ack}In {timed} of the runs a timeout or the end of the run comes first."


def _red(v: View) -> str:
    return "All senders are in step until the first losses, so a single run, as in the paper, decides little."


def _halves(v: View) -> str:
    del v
    return "The sender has the rule that the paper mentions: one new packet for two duplicates (Hoe's)."


def _sent(v: View) -> str:
    letter = [r for losses in LOSSES for r in v.grid.found[TO_THE_LETTER, losses, PEER_WINDOWS[1]]]
    built = [r for losses in LOSSES for r in v.grid.found[RR, losses, PEER_WINDOWS[1]]]
    return (
        f"Of {ndup_unequal_to_actnum(letter)[1]} rounds each, with an open window. With the retransmission before the "
        f"additional segment, as built, ndup is actnum - 1 in {ndup_unequal_to_actnum(built)[0]} of them, which "
        "does not mean a loss; so ndup is compared with the packets sent (docs/decisions/0047)."
    )


def _released(v: View) -> str:
    del v
    return "Over all forced cases, with the window of 30 and an open one; actnum, and no window, limits the recovery."


def _range(case: str, at: int) -> Note:
    def note(v: View) -> str:
        values = sorted(v.transfer.delays(case) if at == 0 else v.transfer.losses(case))
        published, unit = PUBLISHED[case][at], ("s", "%")[at]
        below = 100 * sum(value < published for value in values) / len(values)
        low, high = values[len(values) // 20], values[-1 - len(values) // 20]
        last = f"{values[-1]:.3g} {unit}" if math.isfinite(values[-1]) else "the end of the run"
        return (
            f"90 % of the runs lie between {low:.3g} and {high:.3g} {unit}, all between {values[0]:.3g} {unit} and "
            f"{last}; {below:.0f} % are below the paper's one draw."
        )

    return note


def _order(v: View) -> str:
    times, n = v.transfer.in_order(PUBLISHED_ORDER)
    means = ", ".join(f"{case} {v.transfer.mean(v.transfer.delays(case)):.1f}" for case in PUBLISHED)
    cut = sum(math.isinf(delay) for case in PUBLISHED for delay in v.transfer.delays(case))
    return (
        f"Means: {means} s. The four delays of one seed have the published order in {times} of {n} seeds; chance alone "
        f"would give {n / 24:.0f}." + (f" Left out because the run ended before: {cut}." if cut else "")
    )


def _losses(v: View) -> str:
    means = ", ".join(f"{case} {v.transfer.mean(v.transfer.losses(case)):.1f}" for case in PUBLISHED)
    return f"Means: {means} %."


def _total(v: View) -> str:
    del v
    return (
        "The paper's 24 kb/s is 100 kB in 33.3 s, and its 480 kb/s assumes that all 20 flows are like the target. Here "
        "the flows that began earlier have more, and the total is what all have acknowledged by 38 s."
    )


def _unused(v: View) -> str:
    del v
    return (
        "The paper's 44 kb/s is 100 kB in 18.0 s; the paper does not say how its 300 kb/s follow. The total is the "
        "data that all have acknowledged by 23 s."
    )


def _model(v: View) -> str:
    fired = [v.ran[model(s, 0.03)].mean("timeouts").value for s in (RR, SACK)]
    shares = [f"{v.model.share(s, p):.2f}" for p in (0.001, 0.01, 0.1) for s in (RR, SACK)]
    return (
        f"RR and SACK over the model at p = 0.001: {shares[0]}, {shares[1]}; 0.01: {shares[2]}, {shares[3]}; 0.1: "
        f"{shares[4]}, {shares[5]} (open network). At p = 0.03 RR has {fired[0]:.1f} timeouts in a run and SACK "
        f"{fired[1]:.1f}: a repair that takes a round trip for each loss meets more further losses."
    )


NOTES: dict[str, Note] = {
    "S004-04": _cases(3),
    "S004-06": _cases(6),
    "S004-08": _reached,
    "S004-09": _share("(a packet sent within the first recovery is lost)", lambda one: one.further_s),
    "S004-10": _exit,
    "S004-11": _share("within 6 s", lambda one: one.loss_s),
    "S004-12": _share("within 6 s", lambda one: one.second_exit_s),
    "S004-13": _red,
    "S004-14": _halves,
    "S004-15": _bounded,
    "S004-16": _model,
    "S004-27": _order,
    "S004-28": _total,
    "S004-29": _unused,
    "S004-30": _sent,
    "S004-32": _released,
    "S004-33": _losses,
    **{f"S004-{19 + 2 * n + at}": _range(case, at) for n, case in enumerate(PUBLISHED) for at in (0, 1)},
}
