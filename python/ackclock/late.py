"""Modules that are loaded when they are first used: slow libraries, and the work of commands."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

__all__ = ["cloudpickle", "distributed", "inspect", "late", "optuna", "pl"]


class _Late:
    """A module that is loaded with the first use of a name in it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        return getattr(import_module(self._name), name)


def late(*names: str) -> Iterator[_Late]:
    """Stand-ins for modules; the importing module names the modules themselves for the type checker."""
    return map(_Late, names)


if TYPE_CHECKING:
    import inspect

    import cloudpickle
    import distributed
    import optuna
    import polars as pl
else:
    cloudpickle, distributed, inspect, optuna, pl = late("cloudpickle", "distributed", "inspect", "optuna", "polars")
