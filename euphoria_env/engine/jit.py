"""Compilation: `jit` for the parts of the engine, `entry` for what the outside calls, kept on disk (`engine.cache`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core import types
from numba.core.registry import CPUDispatcher
from numba.extending import _Intrinsic

from euphoria_env.engine.cache import keep
from euphoria_env.engine.parts import PartCompiler

ENTRIES: dict[str, Any] = {}  # every entry point by its full name, as soon as its module is imported
_OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy"}


def _widened(kind: Any) -> Any:
    """int64 for every integer and every member of an IntEnum, so that a function is compiled once and not for each of them."""
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer | types.Boolean | types.IntEnumMember) else kind


class _Function(CPUDispatcher):  # type: ignore[misc]
    """A compiled function, that others can call."""

    def get_call_template(self, args: Any, kws: dict[str, Any]) -> Any:
        return super().get_call_template(
            tuple(_widened(kind) for kind in args), {name: _widened(kind) for name, kind in kws.items()}
        )


class _Part(_Function):
    """A function that becomes machine code inside the entry points that call it; called from Python it runs as Python."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, targetoptions=_OPTIONS, pipeline_class=PartCompiler)

    def add_overload(self, result: Any) -> None:
        self.overloads[tuple(result.signature.args)] = result

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """A part of the engine: compiled into the entry points that call it, once for all integer types."""
    return function if numba.config.DISABLE_JIT else _Part(function)


def entry(function: Callable[..., Any]) -> Callable[..., Any]:
    """An entry point: compiled at the first call, and cached. Agents with compiled parts of their own use it too.

    Call it with plain Python integers: every other type would be compiled for itself.
    """
    if numba.config.DISABLE_JIT:
        return function
    compiled = _Function(function, targetoptions={**_OPTIONS, "no_cfunc_wrapper": True})
    keep(function, compiled)
    ENTRIES[f"{function.__module__}.{function.__qualname__}"] = compiled
    return compiled


class _Native(_Intrinsic):  # type: ignore[misc]
    """An intrinsic of numba that runs as Python where it is called from Python."""

    def __init__(self, generate: Callable[..., Any], function: Callable[..., Any]) -> None:
        super().__init__(function.__name__, generate)
        self._function = function
        self._register()

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)


def native(generate: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replaces a Python function in compiled code by instructions of the processor; `generate` is that of an intrinsic."""
    return lambda function: function if numba.config.DISABLE_JIT else _Native(generate, function)
