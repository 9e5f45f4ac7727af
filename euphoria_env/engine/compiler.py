"""numba's part in compiling: it makes LLVM code of functions. A process that compiles nothing does not load numba.

Whatever numba compiled runs without it: `engine.python_calls` writes the functions that Python calls.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numba
from numba import types
from numba.core.codegen import JITCPUCodegen
from numba.core.compiler import Flags, compile_extra
from numba.core.compiler_lock import global_compiler_lock
from numba.core.imputils import lower_constant
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.extending import intrinsic, models, register_model

from euphoria_env.engine import cache_files
from euphoria_env.engine.jit import type_of

LOCK = global_compiler_lock  # numba's
_OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class Code(NamedTuple):
    """A compiled function: what numba says of it, LLVM's code, and the symbols of the functions that it calls."""

    described: Any
    bitcode: bytes
    calls: list[str]


functions: dict[str, Code] = {}  # by symbol
watchers: list[Callable[[], object]] = []  # called when a function is compiled


@cache
def codegen() -> Any:
    """Returns numba's interface to LLVM, for the processors that `cache_files.processor` names."""
    before = numba.config.CPU_NAME, numba.config.CPU_FEATURES
    numba.config.CPU_NAME, numba.config.CPU_FEATURES = cache_files.processor(), ""
    try:
        return JITCPUCodegen("euphoria_env")
    finally:
        numba.config.CPU_NAME, numba.config.CPU_FEATURES = before


def native_type(generate: Callable[..., Any]) -> Any:
    """Returns numba's type for a function of LLVM instructions."""
    function = intrinsic(generate)
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context.resolve_value_type(function)


class Part(types.Callable):  # type: ignore[misc]
    """The type of a part of the engine: numba asks it for the signature of a call, and it compiles the part for that."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function, self._shape, self._compiled = function, inspect.signature(function), {}
        super().__init__(f"part({function.__module__}.{function.__qualname__})")

    @property
    def key(self) -> Any:
        """Returns the function, by which types are compared; overrides numba's property, as the next three methods do."""
        return self._function

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:  # noqa: D102
        kinds = tuple(_widened(kind) for kind in self._shape.bind(*args, **dict(kws)).arguments.values())
        return self.compiled(kinds)[0].replace(pysig=self._shape)

    def get_call_signatures(self) -> Any:  # noqa: D102
        return [signature for signature, _ in self._compiled.values()], True

    def get_impl_key(self, sig: Any) -> Any:  # noqa: D102
        return self._compiled[sig.args][1]

    def compiled(self, kinds: tuple[Any, ...]) -> tuple[Any, str]:
        """Returns the signature and the symbol of the function for these types, which it compiles if it has to."""
        if kinds not in self._compiled:
            self._compiled[kinds] = _compile(self._function, kinds)
        return self._compiled[kinds]


register_model(Part)(models.OpaqueModel)


@lower_constant(Part)
def _nothing(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.get_dummy_value()


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


def _compile(function: Callable[..., Any], kinds: tuple[Any, ...]) -> tuple[Any, str]:
    """Compiles a function to LLVM code, not to machine code, and stores it."""
    flags, context = _Flags(), cpu_target.target_context
    cpu_target.options.parse_as_flags(flags, _OPTIONS)
    flags.no_compile = True
    code = codegen().create_library(function.__qualname__)
    result = compile_extra(cpu_target.typing_context, context, function, kinds, None, flags, {}, library=code)
    module = code._final_module
    for linked in dict.fromkeys(code._linking_libraries):
        module.link_in(linked._get_module_for_linking(), preserve=True)
    symbol = result.fndesc.llvm_func_name
    hide(module, {symbol})
    calls = [each.name for each in module.functions if each.is_declaration and each.name.startswith("_ZN")]
    functions[symbol] = Code(result.fndesc, module.as_bitcode(), calls)
    for watcher in watchers:
        watcher()
    context.insert_user_function(symbol, result.fndesc, [])
    return result.signature, symbol


def compile_entry(entry: Any) -> str:
    """Compiles an entry point; returns its symbol."""
    return entry._numba_type_.compiled(tuple(map(type_of, entry.kinds)))[1]


def load_registries() -> None:
    """Loads what the compiler knows of Python and numpy, and the functions in C that it calls."""
    rtsys.initialize(cpu_target.target_context)
    cpu_target.target_context.refresh()


def object_file(modules: list[bytes], exported: set[str], memory: bytes | None = None) -> tuple[list[str], bytes]:
    """Makes an object file of LLVM modules, which exports some functions; returns the names that it needs, and the file.

    It takes memory by the functions of the module `memory`; by numba's alone, if it needs more of these than that has.
    """
    code = codegen().create_library("linked")
    module = code._final_module
    for bitcode in [*modules, *filter(None, [memory])]:
        module.link_in(llvm.parse_bitcode(bitcode))
    hide(module, exported)
    code._optimize_final_module()
    module.verify()
    declared = [each.name for each in [*module.functions, *module.global_variables] if each.is_declaration]
    uses = Counter(re.findall(r'@"?([\w.$]+)', str(module)))
    needed = [name for name in declared if not name.startswith("llvm.") and uses[name] > 1]
    if memory and any(name.startswith("NRT_") for name in needed):
        return object_file(modules, exported)
    return needed, bytes(codegen()._tm.emit_object(module))


def hide(module: Any, exported: set[str]) -> None:
    """Makes all functions that are not exported internal: LLVM may inline and drop them, and their names may recur elsewhere."""
    for function in module.functions:
        if not function.is_declaration and function.name not in exported:
            function.linkage = "internal"
