"""A verdict for every claim of Blanton & Allman 2002, and what our switches say to those that differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ackclock.papers import claims
from ackclock.papers.claims import Claim, Finding, Verdict
from ackclock.papers.paper import Work

from .measures import MEASURES, Switch, View, as_fixed
from .notes import DETAILS
from .points import STOCK, Point, Setting, run
from .schemes import ADAPTIVE, COUNTERS, EWMA, INC, UNDO, at
from .setup import burst, parameters

CLAIMS = "claims.csv"
DURATION_S = 600
"""§4: ten minutes."""
Points = Mapping[Setting, Point]
PROBE_SEEDS = 10
"""Of the runs that see whether a claim hangs on a choice of ours."""

THRESHOLDS = tuple(scheme.stack for scheme in (*COUNTERS, EWMA) if scheme.stack != "dsack-del")
SENDERS = (UNDO.stack, *(scheme.stack for scheme in ADAPTIVE))
HOLES = Switch(
    "recoveries resend holes without asking the threshold (recovery.hole_rule = ff96)",
    SENDERS,
    (("recovery.hole_rule", "ff96"),),
)
FORGETFUL = Switch(
    "the cap is asked but not stored (detect.threshold.cap.store = test)",
    THRESHOLDS,
    (("detect.threshold.cap.store", "test"),),
)
PROMPT = Switch(
    "an episode is judged by its last ACK, with no time for late DSACKs (spurious.pending_srtts = 0)",
    SENDERS,
    (("spurious.pending_srtts", "0"),),
)
EACH = Switch(
    'INC adds 1 for each segment resent (detect.threshold.update_per = segment; §7: "per needless retransmit")',
    (INC.stack,),
    (("detect.threshold.update_per", "segment"),),
)
LITERAL = Switch("two waiting packets swap and not two places (scenario-ns2.toml)", reading="ns2")
EVERY = (LITERAL, HOLES, FORGETFUL, PROMPT)
INCS = (*EVERY, EACH)
SWITCHES: dict[str, tuple[Switch, ...]] = {
    "S000-13": (LITERAL, PROMPT),
    "S000-14": (LITERAL, HOLES, PROMPT),
    **dict.fromkeys((f"S000-{n}" for n in (23, 26, 27, 29, 31, 32, 33, 34)), EVERY),
    **dict.fromkeys((f"S000-{n}" for n in (25, 30, 35, 38)), INCS),
}
"""What is tried where a claim differs."""

EXTREMES = {
    "S000-19": ("dupthresh_after_timeout_max", "Taken after every timeout of every run of these senders."),
    "S000-20": ("dupthresh_of_ceiling_max", "Taken at the end of every instant of every run of these senders."),
}
"""Numbers of a run, of which the largest counts, and how they come about."""
UNCHECKED = {
    "S000-36": "It is a measurement of other people's that the introduction quotes; no run of ours can check it.",
}


def findings(points: Points, work: Work) -> list[Finding]:
    """Every claim of ``claims.csv``, judged.

    Args:
        points: the runs of ``points.settings()`` and ``schemes.settings()``.
        work: where claims.csv is, and what runs the switches where a claim differs.

    Raises:
        OSError: a file of the paper's folder is missing.
        ValueError: claims.csv makes no sense.
    """
    listed = claims.read(work.folder / CLAIMS)
    texts = parameters(points)
    bursts = {rule: burst(work.folder, rule) for rule in ("limited-transmit", "extended", "nothing")}

    def one(claim: Claim) -> Finding:
        if claim.id in UNCHECKED:
            return Finding(claim, Verdict.UNCHECKED, note=UNCHECKED[claim.id])
        if claim.id in texts:
            return claims.judge(claim, texts[claim.id], note="Read back from the scenarios that ran.")
        if claim.id in ("S000-15", "S000-16"):
            rule = "limited-transmit" if claim.id == "S000-15" else "extended"
            return claims.judge(claim, (float(bursts[rule]),), (None,), _burst(bursts))
        if claim.id == "S000-18":
            note = "One trace hash for both; a first average of 3 ± 0.5 would show the same."
            return claims.judge(claim, (as_fixed(points),), (None,), note)
        if claim.id in EXTREMES:
            return _extreme(claim, points)
        return _measured(claim, points)

    found = [one(claim) for claim in listed]
    return _with_switches(found, points, work)


def _burst(bursts: Mapping[str, int]) -> str:
    return (
        f"A sender that sends nothing on duplicates (disorder = nothing) has a burst of {bursts['nothing']}; "
        f"RFC 3042's two segments (limited-transmit) leave {bursts['limited-transmit']}, the extended limited transmit "
        f"{bursts['extended']}: each segment sent on a duplicate is one fewer in the burst."
    )


def _extreme(claim: Claim, points: Points) -> Finding:
    """The finding for a claim about every moment of every run with a threshold that adapts by counting."""
    key, note = EXTREMES[claim.id]
    every = [p for s, p in points.items() if s.scheme.stack in THRESHOLDS]
    taken = [run["flows"][0][key] for point in every for run in point.runs]
    known = [float(value) for value in taken if value is not None]
    if not known:
        return Finding(claim, Verdict.UNCHECKED, note="No timeout happened in these runs.")
    return claims.judge(claim, (max(known),), (None,), f"{note} {len(known):,} runs count.")


def _measured(claim: Claim, points: Points) -> Finding:
    """The finding for a claim that depends on chance."""
    runs = points[at(STOCK, 0)].runs
    if claim.unit == "retransmissions" and runs[0]["duration_s"] != DURATION_S:
        why = f"It is a count over {DURATION_S} s, and these runs have {runs[0]['duration_s']:g} s."
        return Finding(claim, Verdict.UNCHECKED, note=why)
    measure = MEASURES[claim.id]
    intervals = claims.resampled(lambda draw: measure(View(points, draw)), len(runs))
    detail = DETAILS.get(claim.id)
    note = detail.sentences(claim, View(points)) if detail else ""
    return claims.judge(claim, measure(View(points)), intervals, note)


def _with_switches(found: Sequence[Finding], points: Points, work: Work) -> list[Finding]:
    """The findings; to those that differ is added what their switches give, all of which run at once."""
    differing = [f for f in found if f.verdict is Verdict.DIFFERS]
    pairs = [(f.claim, switch) for f in differing for switch in SWITCHES.get(f.claim.id, ())]
    wanted = list(dict.fromkeys(setting for pair in pairs for setting in _asked(*pair, points)))
    effort = replace(work.effort, seeds=min(work.effort.seeds, PROBE_SEEDS))
    probes = run(work.lab, "switches, where claims differ", work.folder, wanted, effort)
    tried = {f.claim.id: _tried(f.claim, probes, effort.seeds) for f in differing if f.claim.id in SWITCHES}
    return [replace(f, tried=tried.get(f.claim.id, ())) for f in found]


def _asked(claim: Claim, switch: Switch, points: Points) -> list[Setting]:
    """The points that a claim looks at, under a switch."""
    view, translate = View(points), View({}, switch=switch)
    MEASURES[claim.id](view)
    return [translate.setting(s.scheme, s.swaps, s.gap_s) for s in view.asked]


def _tried(claim: Claim, probes: Points, seeds: int) -> tuple[str, ...]:
    """What the claim's number becomes with each choice of ours made otherwise; first those that make it hold."""
    tried: dict[bool, list[str]] = {True: [], False: []}
    for switch in SWITCHES[claim.id]:
        measured = MEASURES[claim.id](View(probes, switch=switch))
        holds = claim.accepts(measured)
        values = " and ".join(f"{value:.3g}" for value in measured)
        verdict = "it would hold" if holds else "it differs, too"
        tried[holds].append(f"If {switch.label}, {verdict}: {values} ({seeds} seeds).")
    return (*tried[True], *tried[False])
