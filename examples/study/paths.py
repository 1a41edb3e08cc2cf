"""The paths of the study."""

from __future__ import annotations

from ackclock.scenario import AckDelayed, Back, Flow, Gap, Link, Queue, Scenario, Swap


def access(from_: str, to: str) -> Link:
    """A host's access link."""
    return Link(from_=from_, to=to, rate="10 Mbps", delay="1 ms")


def swapping(every: str, seconds: int) -> Scenario:
    """A bottleneck where waiting packets change places.

    Args:
        every: mean time between swaps, as in ``"500 ms"``.
        seconds: duration of a run.
    """
    bottleneck = Link(
        from_="R1",
        to="R2",
        rate="5 Mbps",
        delay="20 ms",
        queue=Queue(limit="50 packets"),
        elements=[Swap(mode="slots", count=8, gap=Gap(exponential=every))],
        back=Back(elements=[]),
    )
    return Scenario(
        name=f"swaps every {every}",
        duration=f"{seconds} s",
        links=[access("S", "R1"), bottleneck, access("R2", "D")],
        flows=[Flow(from_="S", to="D", stack="sack-ff96", window="100 packets", receiver=AckDelayed())],
    )
