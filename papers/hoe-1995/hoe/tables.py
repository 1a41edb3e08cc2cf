"""The thesis's Table 5.1, and the gains of its changes, from our runs."""

from __future__ import annotations

from collections.abc import Iterable

from ackclock.papers.paper import Table

from .measures import table
from .runs import View
from .sender_trace import SenderTrace

CHANGES = (
    ("Net/2 (Figure 7.1)", "delayed", "every eighth"),
    ("Net/2 without the eighth", "delayed plain", "every"),
    ("and with the estimated threshold (Figure 7.2)", "estimate", "estimate every"),
    ("with Hoe's recovery, not estimated", "recovery", "recovery every"),
    ("both (Figure 7.3)", "hoe", "hoe every"),
)


def tables(view: View) -> Iterable[Table]:
    """Return both tables."""
    head = ("thesis, s", "ours, s", "sent", "ACK")
    yield Table("Table 5.1: a false fast retransmit begins", head, _false(view("every")))
    rows = [[title, *(_numbers(view(name)) for name in names)] for title, *names in CHANGES]
    yield Table(
        "The effect of the changes of §7: s / timeouts / drops", ("sender", "delayed ACKs", "every packet"), rows
    )


def _false(run: SenderTrace) -> list[tuple[str, str, str, str]]:
    sent, one, two, again = table(run)

    def sends(at: float) -> str:
        return ", ".join(str(s.segment) for s in run.sends if s.at == at)

    def ack(at: float) -> str:
        return ", ".join(f"{a.segment}" + (" again" if a.duplicate else "") for a in run.acks if a.at == at)

    printed = ("1.5", "1.61", "1.73", "1.74")
    return [(p, f"{at:.3f}", sends(at), ack(at)) for p, at in zip(printed, (sent, one, two, again), strict=True)]


def _numbers(run: SenderTrace) -> str:
    return f"{run.acks[-1].at:.2f} / {len(run.timeouts)} / {len(run.drops)}"
