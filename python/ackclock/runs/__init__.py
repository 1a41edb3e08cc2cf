"""Runs, wherever they are made: tasks, the store that keeps them, what makes them, and the laboratory above.

Sweeps, tunings and papers say which runs they want; a :class:`~ackclock.runs.laboratory.Laboratory` asks its store
which of these it has, and has the others made.
"""
