"""Within a kernel in virtual time."""

from __future__ import annotations

import json
import os

from ackclock.kernels import INSIDE


def identity() -> dict[str, object] | None:
    """Return the kernel's identity; ``None`` outside of such a kernel."""
    said = os.environ.get(INSIDE)
    found: dict[str, object] | None = json.loads(said) if said else None
    return found
