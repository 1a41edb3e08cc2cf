"""``undo``: and then?"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ackclock._native import Prior
from ackclock.slots.base import Algorithm

if TYPE_CHECKING:
    from ackclock._native import Context, GiveBack, Ledger, Mistake


class Undo(Algorithm):
    """What a proven mistake gives back."""

    prior_in_recovery: Prior = Prior.AT_TIMEOUT
    """Which window an episode remembers that a timeout begins while another is running. Read when the object was made."""

    @abstractmethod
    def on_mistake(self, mistake: Mistake, ledger: Ledger, give_back: GiveBack, cx: Context) -> None:
        """Give back, by way of ``give_back``: once per verdict, never above ``ledger.get(mistake.episode).prior``, and
        nothing for an episode that is ``void``.
        """
