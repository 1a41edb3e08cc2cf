"""Libraries that take longer to load than a short run; each is loaded when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = ["cloudpickle", "distributed", "inspect", "optuna", "pl"]

if TYPE_CHECKING:
    import inspect

    import cloudpickle
    import distributed
    import optuna
    import polars as pl
else:

    class _Late:
        """A module that is loaded with the first use of a name in it."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> object:
            return getattr(import_module(self._name), name)

    cloudpickle, distributed, inspect, optuna = map(_Late, ("cloudpickle", "distributed", "inspect", "optuna"))
    pl = _Late("polars")
