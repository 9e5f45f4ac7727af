"""Compilation: `jit` for the parts of the engine, `entry` for what the outside calls, kept on disk (`engine.cache`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core import types

from euphoria_env.engine.cache import keep

_OPTIONS = {"nogil": True, "error_model": "numpy"}


def _widened(kind: Any) -> Any:
    """int64 for every integer and every member of an IntEnum, so that a function is compiled once and not for each of them."""
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer | types.Boolean | types.IntEnumMember) else kind


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """A part of the engine: compiled into the entry points that call it, once for all integer types."""
    compiled: Any = numba.njit(**_OPTIONS)(function)
    if hasattr(compiled, "get_call_template"):  # not under NUMBA_DISABLE_JIT
        template = compiled.get_call_template
        compiled.get_call_template = lambda args, kws: template(
            tuple(_widened(kind) for kind in args), {name: _widened(kind) for name, kind in kws.items()}
        )
    return compiled  # type: ignore[no-any-return]


def entry(function: Callable[..., Any]) -> Callable[..., Any]:
    """An entry point: compiled at the first call, and cached. Agents with compiled parts of their own use it too.

    Call it with plain Python integers: every other type would be compiled for itself.
    """
    compiled: Any = jit(function)
    if hasattr(compiled, "_cache"):  # not under NUMBA_DISABLE_JIT
        keep(function, compiled)
    return compiled  # type: ignore[no-any-return]
