"""The slot ``undo``: the reaction to a mistake."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ackclock._native import Prior
from ackclock.slots.base import Algorithm

if TYPE_CHECKING:
    from ackclock._native import Context, GiveBack, Ledger, Mistake


class Undo(Algorithm):
    """Decides what a proven mistake restores."""

    prior_in_recovery: Prior = Prior.AT_TIMEOUT
    """Which window is recorded for an episode that a timeout starts during another episode. Read once the object has
    been created."""

    @abstractmethod
    def on_mistake(self, mistake: Mistake, ledger: Ledger, give_back: GiveBack, cx: Context) -> None:
        """Restore the window and other state through ``give_back``.

        Called once per verdict. Never exceed ``ledger.get(mistake.episode).prior``; restore nothing for a ``void``
        episode.
        """
