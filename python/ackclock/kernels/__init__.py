"""Kernels in virtual time: Linux as a program of an ordinary user, whose clock jumps whenever nothing is to be done.

A kernel is built once from a source tree (:mod:`ackclock.kernels.build`), kept in the user's cache
(:mod:`ackclock.kernels.kept`), and booted for each command (:mod:`ackclock.kernels.boot`).
"""

INSIDE = "ACKCLOCK_VIRTUAL"
"""The environment variable that says, within such a kernel, which one it is: its identity as JSON."""
