"""Which flows of a capture are shown: by host, port and what happened to them, sorted, the first ones."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any

from ackclock.tables.columns import columns

HAVING = ("retransmissions", "stalls", "resets")
"""The columns by which flows can be selected: those in which they are not zero."""


@dataclass(frozen=True)
class Selection:
    """The flows to show."""

    host: str | None = None
    """An address, or a network such as ``10.0.0.0/8``, of either end."""
    port: int | None = None
    """The port of either end."""
    having: str | None = None
    """One of :data:`HAVING`: only flows that have any."""
    sort: str = "bytes"
    """The column to sort by, the largest first."""
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
        if self.sort not in (names := sortable()):
            raise ValueError(f'sort: found "{self.sort}", allowed: {", ".join(names)}')

    def of(self, flows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The selected flows, in order."""
        selected = [flow for flow in flows if self._selects(flow)]
        selected.sort(key=lambda flow: -(flow[self.sort] or 0))
        return selected[: self.top]

    def applied(self, result: dict[str, Any]) -> dict[str, Any]:
        """The content of ``ackclock capture --json`` with the selected flows and their connections alone.

        The sentences are about whole files, so they are left out if anything is selected.
        """
        if (self.host, self.port, self.having) == (None, None, None):
            return result
        flows = [flow for flow in result["flows"] if self._selects(flow)]
        kept = {(flow["file"], flow["connection"]) for flow in flows}
        ends = [(one, f"{one['client']} > {one['server']}") for one in result["connections"]]
        connections = [
            one
            for one, name in ends
            if (one["file"], one["connection"]) in kept or (self.having is None and self._is_between(name))
        ]
        return {**result, "answers": [], "flows": flows, "connections": connections}

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
