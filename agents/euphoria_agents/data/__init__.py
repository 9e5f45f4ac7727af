"""Data sets of games: `euphoria collect` writes every decision as a row of Parquet, and `load` reads a data set as arrays."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from euphoria_agents.error_text import missing_library

if TYPE_CHECKING:
    from euphoria_agents.data.loading import Dataset, load

__all__ = ["Dataset", "load"]


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first used: `data.expansion` is also compiled where pyarrow is not installed."""
    if name not in __all__:
        raise AttributeError(f"module 'euphoria_agents.data' has no attribute {name!r}")
    try:
        return getattr(import_module("euphoria_agents.data.loading"), name)
    except ModuleNotFoundError as error:
        if missing_library(error) != "pyarrow":
            raise
        raise ImportError("data sets need pyarrow: pip install 'euphoria-env[data]'") from error
