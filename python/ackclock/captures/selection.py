"""Which flows of a capture are shown: by host, port and what happened to them, sorted, the first ones."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ackclock.tables.columns import columns

Having = Literal["retransmissions", "stalls", "resets"]
HAVING: tuple[Having, ...] = get_args(Having)
"""The columns by which flows can be selected: those in which they are not zero."""

BYTES = "bytes"
"""The column by which flows are sorted unless another one is chosen."""
Answers = Callable[[Sequence[tuple[str, int]], Sequence[tuple[str, int]]], list[str]]


@dataclass(frozen=True)
class Selection:
    """The flows to show."""

    host: str | None = None
    """An address, or a network such as ``10.0.0.0/8``, of either end."""
    port: int | None = None
    """The port of either end."""
    having: Having | None = None
    """One of :data:`HAVING`: only flows that have any."""
    sort: str | None = None
    """The column to sort by, the largest first. Default: bytes."""
    top: int | None = None
    """The number of flows."""

    def __post_init__(self) -> None:
        """Check the host and the column.

        Raises:
            ValueError: one of them is not known; the message begins with its name.
        """
        if self.host is not None:
            try:
                ipaddress.ip_network(self.host, strict=False)
            except ValueError:
                allowed = "an address or a network, such as 10.0.0.1 or 10.0.0.0/8"
                raise ValueError(f'host: found "{self.host}", allowed: {allowed}') from None
        if self.sort is not None and self.sort not in (names := sortable()):
            raise ValueError(f'sort: found "{self.sort}", allowed: {", ".join(names)}')

    @property
    def words(self) -> str:
        """The selection in words; empty if everything is selected."""
        parts = [
            *([] if self.host is None else [f"host {self.host}"]),
            *([] if self.port is None else [f"port {self.port}"]),
            *([] if self.having is None else [f"with {self.having}"]),
            *([] if self.sort is None else [f"sorted by {self.sort}"]),
            *([] if self.top is None else [f"the first {self.top:,}"]),
        ]
        return ", ".join(parts)

    def of(self, flows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """The selected flows, in order; the two directions of a connection stay together."""
        connections: dict[tuple[str, int], list[dict[str, Any]]] = {}
        for flow in flows:
            if self._selects(flow):
                connections.setdefault((flow["file"], flow["connection"]), []).append(flow)
        column = self.sort or BYTES
        ordered = sorted(connections.values(), key=lambda both: -(both[0][column] or 0))
        return [flow for both in ordered[: self.top] for flow in both]

    def applied(self, result: dict[str, Any], answers: Answers) -> dict[str, Any]:
        """The content of ``ackclock capture --json`` with the selected flows and their connections alone, in order.

        Args:
            result: the whole content.
            answers: returns the sentences about connections and, in their order, transfers.
        """
        if self == Selection():
            return result
        flows = self.of(result["flows"])
        kept = list(dict.fromkeys((flow["file"], flow["connection"]) for flow in flows))
        with_data = {(flow["file"], flow["connection"]) for flow in result["flows"]}
        numbers = {one: number for number, one in enumerate(kept)}
        connections = [
            one
            for one in result["connections"]
            if (key := (one["file"], one["connection"])) in numbers
            or (key not in with_data and self.having is None and self._is_between(f"{one['client']} > {one['server']}"))
        ]
        connections.sort(key=lambda one: numbers.get((one["file"], one["connection"]), len(numbers)))
        sentences = answers([(one["file"], one["connection"]) for one in connections], kept)
        datagrams = [one for one in result["datagrams"] if self.having is None and self._is_between(one["flow"])]
        return {**result, "answers": sentences, "flows": flows, "connections": connections, "datagrams": datagrams}

    def _selects(self, flow: dict[str, Any]) -> bool:
        return self._is_between(flow["flow"]) and (self.having is None or flow[self.having] > 0)

    def _is_between(self, flow: str) -> bool:
        """Whether a flow, ``A:p > B:p``, has the chosen address and port at one of its ends."""
        ends = [end.rpartition(":") for end in flow.split(" > ")]
        if self.port is not None and str(self.port) not in [port for _, _, port in ends]:
            return False
        if self.host is not None:
            network = ipaddress.ip_network(self.host, strict=False)
            if not any(ipaddress.ip_address(address.strip("[]")) in network for address, _, _ in ends):
                return False
        return True


def sortable() -> list[str]:
    """The columns of a flow that have numbers."""
    return [column.name for column in columns("captured_flow") if column.number]
