"""Plots of runs and of results. Each function draws on ``ax``, or on a new figure, and returns the axes.

A table may be a Polars frame or anything else with the Arrow PyCapsule interface. Events are the table that
``docs/trace.md`` describes: ``Result.events``, or a Parquet trace.
"""

try:
    import matplotlib as matplotlib
except ImportError as error:
    message = f'plots need {error.name}, which is not installed: pip install "ackclock[plot]"'
    raise ImportError(message, name=error.name) from None

from ackclock.plot.captured import captured
from ackclock.plot.course import course, save
from ackclock.plot.metric import metric
from ackclock.plot.queue import queue
from ackclock.plot.time_sequence import time_sequence
from ackclock.plot.trade_off import trade_off
from ackclock.plot.window import window

__all__ = ["captured", "course", "metric", "queue", "save", "time_sequence", "trade_off", "window"]
