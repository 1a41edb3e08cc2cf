"""Standard output that cannot be written."""

from __future__ import annotations

import os
import sys


def lost(error: OSError) -> int:
    """Report the error on standard error; return the exit code."""
    print(f"ackclock: standard output: {error}", file=sys.stderr)
    # Prevents a second attempt to write, with a second error message, when Python exits.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1
