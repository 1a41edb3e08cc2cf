"""The choices that the paper leaves open, each made otherwise, and how much it matters."""

from __future__ import annotations

from collections.abc import Mapping

from ackclock.papers.paper import Table

from .curves import BELOW, CUBIC, NEWRENO, WITHOUT_HANDSHAKE
from .measures import (
    EXCEPTION,
    MEASURES,
    SHORT,
    View,
    along_ri,
    below,
    difference,
    early,
    largest_fall,
    throughput,
)
from .views import AS_IT_IS, Switch

WIDEST = Switch("the window is 159 segments", (("flow[0].window", "159 packets"),))
"""The largest with which RI = 100 moves nothing."""
SWITCHES = (
    Switch(
        "a fast retransmit waits until snd_una > recover (detect.guard = careful)", (), (("detect.guard", "careful"),)
    ),
    Switch("any new ACK ends a recovery (recovery = reno)", (), (("recovery", "reno"),)),
    Switch(
        "the last ACK of a recovery counts its flight first (recovery.full_ack = flight)",
        (),
        (("recovery.full_ack", "flight"),),
    ),
    Switch(
        "NewReno halves cwnd and not the flight (congestion.halve = window)",
        (),
        (("congestion.halve", "window"),),
        (NEWRENO,),
    ),
    Switch(
        "new data go on the first two duplicates (disorder = limited-transmit)", (), (("disorder", "limited-transmit"),)
    ),
    Switch(
        "every second segment is acknowledged (delayed ACKs, 200 ms)",
        (("flow[0].receiver.ack", "delayed"), ("flow[0].receiver.delay", "200 ms")),
    ),
    Switch(
        "SACK is on (RFC 6675)",
        (),
        (
            ("detect", "sack"),
            ("recovery", "rfc6675"),
            ("timeout", "sack"),
            ("options.sack", "true"),
            ("dup_rule", "new-sack-info"),
        ),
    ),
    Switch(
        "Cubic has eq. 1 to the letter: its recovery is not inflated (recovery.inflate = false)",
        (),
        (("recovery.inflate", "false"),),
        (CUBIC,),
    ),
    Switch("no recovery is inflated (recovery.inflate = false)", (), (("recovery.inflate", "false"),)),
    Switch(
        "Cubic has no fast convergence (congestion.fast_convergence = false)",
        (),
        (("congestion.fast_convergence", "false"),),
        (CUBIC,),
    ),
    Switch(
        "Cubic is never slower than NewReno would be (congestion.friendliness = true)",
        (),
        (("congestion.friendliness", "true"),),
        (CUBIC,),
    ),
    Switch(
        "cnt is at most 20 before the first loss (congestion.first_count = at-most-twenty)",
        (),
        (("congestion.first_count", "at-most-twenty"),),
        (CUBIC,),
    ),
    Switch(
        "cnt is 50 before the first loss (congestion.first_count = fifty)",
        (),
        (("congestion.first_count", "fifty"),),
        (CUBIC,),
    ),
    Switch(
        "Cubic's factor is 717 / 1024 (congestion.beta_1024 = 717)", (), (("congestion.beta_1024", "717"),), (CUBIC,)
    ),
    Switch("Cubic begins with HyStart (startup = hystart)", (), (("startup", "hystart"),), (CUBIC,)),
    Switch(
        "R1's device holds 100 packets, and the window has no limit",
        (("link[1].elements[0].device", "100 packets"), ("flow[0].window", "20000 packets")),
    ),
    WIDEST,
    Switch("slow start ends at 65535 bytes (startup.ssthresh_segs = 45)", (), (("startup.ssthresh_segs", "45"),)),
    Switch("the initial window is 2 segments", (), (("startup.initial_window_segs", "2"),)),
    Switch("there is no handshake", WITHOUT_HANDSHAKE),
    Switch("a packet has two bytes more on the wire (PPP, as in ns-3)", (("flow[0].header", "54 B"),)),
)
"""Those that the engine has: none cuts at each third duplicate."""

HEAD = (
    "if",
    "Mb/s without reordering",
    "NewReno: largest fall, %",
    "Cubic: largest fall, %",
    "Cubic below, % of RI",
    f"Cubic − NewReno at RI {EXCEPTION}, points",  # noqa: RUF001 - the typographic minus
    "NewReno: recoveries, rank correlation with RI",
    "Cubic: the same",
    f"Cubic, RI = {SHORT}: smallest cwnd by 2 s",
    "fast recoveries at RI 100",
)


def table(views: Mapping[Switch, View]) -> Table:
    """A line for each switch, the first as the scenario has it."""
    trips = len(next(iter(views.values())).draw)
    title = (
        f"What the open choices change: means over {trips} round trip{'s' * (trips > 1)}, RI {BELOW[0]} to {BELOW[-1]}"
    )
    return Table(title, HEAD, [_line(switch, view) for switch, view in views.items()])


def _line(switch: Switch, view: View) -> list[str]:
    return [
        "– (as in the scenario)" if switch == AS_IT_IS else switch.label,  # noqa: RUF001 - the typographic sign for nothing
        f"{throughput(view, NEWRENO)[0]:.3f}",
        f"{largest_fall(view.normalised(NEWRENO)):.1f}",
        f"{largest_fall(view.normalised(CUBIC)):.1f}",
        f"{below(view, [ri for ri in BELOW if ri != EXCEPTION]):.0f}",
        f"{difference(view, EXCEPTION):+.1f}",
        f"{along_ri(view, NEWRENO):.2f}",
        f"{along_ri(view, CUBIC):.2f}",
        f"{view.over_traces(CUBIC, SHORT, early):.1f}",
        f"{MEASURES['S003-11'](view)[2]:g}",
    ]
