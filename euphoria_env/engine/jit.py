"""Marks what is compiled: `jit` the parts of the engine, `entry` what Python calls; `engine.library` makes machine code of them.

Kinds are the types of arguments: the name of a number, an `Array`, or a tuple of kinds, named like the tuple that it describes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, update_wrapper
from importlib import import_module
from typing import Any, TypeVar, cast

import numpy as np

from euphoria_env.engine import library

_Function = TypeVar("_Function", bound=Callable[..., Any])  # so that the type checker counts the arguments of calls
IS_PLAIN = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")  # everything runs as Python


@dataclass(frozen=True)
class Array:
    """The kind of a C-contiguous array."""

    dtype: np.dtype
    ndim: int
    read_only: bool


def array(dtype: np.dtype | type, ndim: int = 1, read_only: bool = False) -> Any:
    """Returns the kind of a C-contiguous array in the arguments of an entry point; `read_only` ones may be writable too."""
    return Array(np.dtype(dtype), ndim, read_only)


def kind_of(value: Any) -> Any:
    """Returns the kind of a value: of an array, a number, or a tuple of such."""
    if isinstance(value, np.ndarray):
        return array(value.dtype, value.ndim)
    if isinstance(value, tuple):
        return type(value)._make(map(kind_of, value)) if hasattr(value, "_make") else tuple(map(kind_of, value))
    return {bool: "bool_", int: "int64", float: "float64"}[type(value)]


def _kinds_of(text: str) -> list[Any]:
    """Returns the kinds that a text like "int64 float32[:,:]" names; arrays are C-contiguous."""
    named = [word.partition("[") for word in text.split()]
    return [array(np.dtype(name.rstrip("_")), axes.count(":")) if axes else name for name, _, axes in named]


def dtypes(kinds: Any) -> Iterator[np.dtype]:
    """Yields the types of the elements of all arrays of some kinds, in order."""
    for kind in kinds:
        if isinstance(kind, Array):
            yield kind.dtype
        elif isinstance(kind, tuple):
            yield from dtypes(kind)


class _Module:
    """A module of numba, which is imported when it is used: only compiling needs it, and that takes long."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


numba, types, cgutils = map(_Module, ("numba", "numba.types", "numba.core.cgutils"))


def type_of(kind: Any) -> Any:
    """Returns numba's type for a kind."""
    if isinstance(kind, str):
        return getattr(types, kind)
    if isinstance(kind, Array):
        element = numba.from_dtype(kind.dtype)
        return types.Array(element, kind.ndim, "C", readonly=kind.read_only, aligned=not isinstance(element, types.Record))
    return types.BaseTuple.from_types(tuple(map(type_of, kind)), type(kind))


class _Compiled:
    """A function for which compiled code has something else than Python, where it runs as it is written."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        update_wrapper(self, function)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.py_func(*arguments, **named)

    def __reduce__(self) -> str:
        """Makes copies and pickles name the function, as they do for any other."""
        return self.py_func.__qualname__


class _Part(_Compiled):
    """A function that becomes machine code inside a library."""

    @cached_property
    def _numba_type_(self) -> Any:
        from euphoria_env.engine.compiler import Part

        return Part(self.py_func)


class _Entry(_Part):
    """A function that Python calls, only with arguments of these kinds; the first call loads or compiles its library."""

    def __init__(self, function: Callable[..., Any], kinds: tuple[Any, ...], apart: bool) -> None:
        super().__init__(function)
        self.kinds, self.apart = kinds, apart
        self.run: Callable[..., Any] = self._load_and_run

    def _load_and_run(self, *arguments: Any) -> Any:
        self.run = library.function(self, dtypes(self.kinds))
        return self.run(*arguments)

    def __call__(self, *arguments: Any) -> Any:
        return self.run(*arguments)


def jit(function: _Function) -> _Function:
    """Makes a function part of the engine: it is compiled into the entry points that call it, once for all integer types."""
    return function if IS_PLAIN else cast(_Function, _Part(function))


def entry(*kinds: Any, apart: bool = False) -> Callable[[_Function], _Function]:
    """Makes a function an entry point, which Python calls with arguments of these kinds; compiled agents use it too.

    Args:
        kinds: the kinds of the arguments, in order, or texts that name some, like "int64 float32[:,:] bool_[:]". Numbers are
            int64, float64 or bool_.
        apart: whether it gets its own copies of the functions it calls. More is inlined then: it is faster, but compiles longer.

    Calls raise a TypeError for arguments of other kinds. For int64 any integer is taken, for float64 any float or integer, for
    bool_ whatever Python can take for true or false.
    """
    flat = [kind for group in kinds for kind in (_kinds_of(group) if isinstance(group, str) else [group])]

    def compiled(function: _Function) -> _Function:
        return function if IS_PLAIN else cast(_Function, library.register(_Entry(function, tuple(flat), apart)))

    return compiled


class _Native(_Compiled):
    """A function that is LLVM instructions in compiled code."""

    def __init__(self, generate: Callable[..., Any], function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._generate = generate

    @cached_property
    def _numba_type_(self) -> Any:
        from euphoria_env.engine.compiler import native_type

        return native_type(self._generate)


def native(generate: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replaces a Python function in compiled code by LLVM instructions; `generate` is as for `numba.extending.intrinsic`."""
    return lambda function: function if IS_PLAIN else _Native(generate, function)
