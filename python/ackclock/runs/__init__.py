"""Runs: tasks, the store for finished runs, the executors that make runs, and the laboratory on top.

Sweeps, tunings and papers list the runs that they want. A :class:`~ackclock.runs.laboratory.Laboratory` looks them up
in its store and has the missing ones made.
"""
