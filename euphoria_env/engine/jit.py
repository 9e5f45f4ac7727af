"""Compilation: `jit` for the parts of the engine, `entry` for what Python calls; `engine.library` makes machine code of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import sigutils, types
from numba.core.compiler import Flags, compile_extra
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typing import make_concrete_template
from numba.extending import _Intrinsic

from euphoria_env.engine import library

_Function = TypeVar("_Function", bound=Callable[..., Any])  # so that the type checker counts the arguments of calls
_OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def array(dtype: np.dtype | type, ndim: int = 1, read_only: bool = False) -> Any:
    """Returns the type of a C-contiguous array in the arguments of an entry point; `read_only` ones may be writable too."""
    kind = numba.from_dtype(np.dtype(dtype))
    return types.Array(kind, ndim, "C", readonly=read_only, aligned=not isinstance(kind, types.Record))


def _kinds_of(text: str) -> list[Any]:
    """Returns the types that a text like "int64 float32[:,:]" names; arrays are C-contiguous."""
    named = [word.partition("[") for word in text.split()]
    return [array(name, axes.count(":")) if axes else getattr(types, name) for name, _, axes in named]


def _accepted(kind: Any) -> list[Any]:
    """Returns the types that are accepted for a declared one: for a read-only array also a writable one."""
    return [kind, kind.copy(readonly=False)] if isinstance(kind, types.Array) and not kind.mutable else [kind]


def _widened(kind: Any) -> Any:
    """Returns int64 for all integer and IntEnum types, so that a function is compiled once for all of them."""
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer | types.Boolean | types.IntEnumMember) else kind


class _Flags(Flags):  # type: ignore[misc]
    """Flags of the compiler that are quick to compare; numba compares them at each lookup of a function."""

    def __hash__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        return self._values == other._values if isinstance(other, _Flags) else super().__eq__(other)


class _Part(CPUDispatcher):  # type: ignore[misc]
    """A function that becomes machine code inside a library; called from Python it runs as Python."""

    def get_call_template(self, args: Any, kws: dict[str, Any]) -> Any:
        """Compiles the function for a compiled caller; overrides numba's method."""
        named = {name: _widened(kind) for name, kind in kws.items()}
        signature, kinds = self._compiler.fold_argument_types(tuple(_widened(kind) for kind in args), named)
        self.compile(kinds)
        name = self.py_func.__name__
        return make_concrete_template(name, key=name, signatures=self.nopython_signatures), signature, kinds, {}

    def compile(self, signature: Any) -> Any:
        """Compiles the function for arguments of these types to LLVM code, not to machine code; overrides numba's method."""
        kinds = tuple(sigutils.normalize_signature(signature)[0])
        with global_compiler_lock:
            if kinds not in self.overloads:
                self.overloads[kinds] = self._compile(kinds)
        return self.overloads[kinds].entry_point

    def _compile(self, kinds: tuple[Any, ...]) -> SimpleNamespace:
        flags = _Flags()
        cpu_target.options.parse_as_flags(flags, _OPTIONS | {"no_cpython_wrapper": not isinstance(self, _Entry)})
        flags.no_compile = True
        context = cpu_target.target_context
        code = context.codegen().create_library(self.py_func.__qualname__)
        result = compile_extra(cpu_target.typing_context, context, self.py_func, kinds, None, flags, {}, library=code)
        for linked in dict.fromkeys(code._linking_libraries):
            code._final_module.link_in(linked._get_module_for_linking(), preserve=True)
        library.add_function(result.fndesc, code._final_module)
        key = object()  # a placeholder: numba keeps here the function that Python calls
        context.insert_user_function(key, result.fndesc, [])
        return SimpleNamespace(signature=result.signature, fndesc=result.fndesc, entry_point=key, objectmode=False)

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)


class _Entry(_Part):
    """A function that Python calls, only with arguments of these types; the first call loads or compiles its library."""

    def __init__(self, function: Callable[..., Any], kinds: tuple[Any, ...], apart: bool) -> None:
        super().__init__(function, targetoptions=_OPTIONS)
        self.kinds, self.apart, self.is_installed = kinds, apart, False

    def install(self, machine_code: Any) -> None:
        """Makes calls from Python run this machine code."""
        self._machine_code = machine_code  # numba only borrows it
        for kinds in product(*map(_accepted, self.kinds)):
            self._insert([kind._code for kind in kinds], machine_code)
        self._can_compile, self.is_installed = False, True  # numba then refuses other types

    __call__ = CPUDispatcher.__call__

    def _compile_for_args(self, *arguments: Any, **_: Any) -> Any:
        """Loads the library and returns the function to call; overrides numba's method for types without machine code."""
        library.load(self)
        return self


def jit(function: _Function) -> _Function:
    """Makes a function part of the engine: it is compiled into the entry points that call it, once for all integer types."""
    return function if numba.config.DISABLE_JIT else cast(_Function, _Part(function, targetoptions=_OPTIONS))


def entry(*kinds: Any, apart: bool = False) -> Callable[[_Function], _Function]:
    """Makes a function an entry point, which Python calls with arguments of these types; compiled agents use it too.

    Args:
        kinds: the types of the arguments, in order: numba's, or texts that name some, like "int64 float32[:,:] bool_[:]".
        apart: whether it gets its own copies of the functions it calls. More is inlined then: it is faster, but compiles longer.

    Calls raise a TypeError for arguments of other types; integers and floats are converted.
    """
    flat = [kind for group in kinds for kind in (_kinds_of(group) if isinstance(group, str) else [group])]

    def compiled(function: _Function) -> _Function:
        return function if numba.config.DISABLE_JIT else library.register(_Entry(function, tuple(flat), apart))

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
    """Replaces a Python function in compiled code by LLVM instructions; `generate` is as for `numba.extending.intrinsic`."""
    return lambda function: function if numba.config.DISABLE_JIT else _Native(generate, function)
