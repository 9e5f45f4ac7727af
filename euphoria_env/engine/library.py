"""Machine code of the entry points of a package: one library, compiled once for one machine and kept (`engine.cache_files`).

The library of a package holds all of its entry points and, once, every function that they call. Wheels carry libraries. Machine
code needs no numba; LLVM loads it.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import json
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from itertools import accumulate
from typing import Any

import numpy as np

from euphoria_env.engine import cache_files
from euphoria_env.engine.cache_files import PACKAGES, cache_directory

LIBRARIES_KEPT = 16  # in the cache for each package; the oldest are deleted

entries: dict[str, dict[str, Any]] = {}  # by library and full name
_built: list[str] = []  # the libraries that this process compiled
_lock = threading.RLock()


def register(entry: Any) -> Any:
    """Adds an entry point to the library of its package, or of its module if it is in none."""
    entries.setdefault(_library_of(entry), {})[_full_name(entry)] = entry
    return entry


def ready(library: str) -> None:
    """Loads the library of a package, or compiles it if none was kept."""
    with _lock:
        _engine(library)


def times_compiled() -> int:
    """Returns the number of libraries compiled in this process because they were not kept."""
    return len(_built)


def _library_of(entry: Any) -> str:
    return entry.py_func.__module__.partition(".")[0]


def _full_name(entry: Any) -> str:
    return f"{entry.py_func.__module__}.{entry.py_func.__qualname__}"


# ---------------------------------------------------------------------------------------------------------------- loading


class _Method(ctypes.Structure):
    """Describes a function in C to Python: a `PyMethodDef`."""

    _fields_ = (("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


_FASTCALL = 0x80  # METH_FASTCALL
_methods: list[_Method] = []  # Python only borrows them


def function(entry: Any, dtypes: Iterator[np.dtype]) -> Callable[..., Any]:
    """Returns an entry point as a function of machine code; loads its library, or compiles it if none was kept.

    Args:
        entry: the entry point.
        dtypes: the types of the elements of all arrays in its arguments, in order.
    """
    with _lock:
        code = _engine(_library_of(entry)).get_function_address(_full_name(entry))
        _methods.append(_Method(entry.py_func.__name__.encode(), code, _FASTCALL, None))
        new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
        make = new(("PyCFunction_NewEx", ctypes.pythonapi))
        return make(ctypes.addressof(_methods[-1]), (raise_error, np.ndarray, *dtypes), None)


def raise_error(pickled: bytes) -> None:
    """Raises an error of compiled code; texts that are composed as it runs, like those of numba about shapes, are lost."""
    kind, arguments, _ = pickle.loads(pickled)
    raise kind(*(each if isinstance(each, str) else "refused by compiled code" for each in arguments))


@cache
def _engine(library: str) -> Any:
    """Loads or compiles a library; returns LLVM's engine, which knows the addresses of its entry points."""
    import llvmlite.binding as llvm  # importing the engine is light: it loads no compiler

    line, _, code = (cache_files.kept(library) or _make(library)).partition(b"\n")
    needed, sizes = json.loads(line)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    for name in needed:
        if name.startswith("PyExc_"):  # here the error itself, as in numba; in C it is a variable
            llvm.add_symbol(name, id(getattr(builtins, name.removeprefix("PyExc_"))))
    if not all(map(llvm.address_of_symbol, needed)):
        from euphoria_env.engine.compiler import load_registries

        load_registries()  # a library of somebody else may call functions of numba
    if missing := [name for name in needed if not llvm.address_of_symbol(name)]:  # LLVM would end the process
        raise ImportError(f"the compiled {library} needs {missing[0]}, which this Python lacks")
    for size, end in zip(sizes, accumulate(sizes), strict=True):
        engine.add_object_file(llvm.ObjectFileRef.from_data(code[end - size : end]))
    engine.finalize_object()
    return engine


# ------------------------------------------------------------------------------------------------------------- compiling


def _make(library: str) -> bytes:
    """Compiles a library and keeps it, or waits until another process has."""
    together = [library]
    if library == "euphoria_env" and "euphoria_agents" in sys.modules:
        together.append("euphoria_agents")  # this process need not compile the engine again for it
    with contextlib.ExitStack() as locks:
        if folder := cache_directory():
            for each in together:
                locks.enter_context(cache_files.locked(folder / f"{each}.lock"))
        if (found := cache_files.kept(library)) is not None:
            return found
        from euphoria_env.engine import building

        built = building.build({each: _why(each) for each in together if each == library or cache_files.kept(each) is None})
        _built.extend(built)
        for each, code in built.items():
            _keep(each, code)
    return built[library]


def _why(library: str) -> str:
    """Says why a library must be compiled, and where it will be kept."""
    wanted = {"other sources": cache_files.key(library)} | cache_files.machine()
    files = [file for folder in cache_files.folders(library) for file in folder.glob(f"{library}.*.bin")]
    parts = [file.name.removeprefix(f"{library}.").removesuffix(".bin").split(".") for file in files]
    differing = [[name for name, one in zip(wanted, each, strict=False) if one != wanted[name]] for each in parts]
    least = min(differing, key=len, default=["nobody"])
    kept = "damaged" if not least else f"for {' and '.join(least)}"
    why = f"what is kept is {kept}" if files else "nothing is kept"
    folder = cache_directory()
    return f"{why}; it will be " + (f"kept in {folder}" if folder else "for this process alone, since no folder can keep it")


def _keep(library: str, code: bytes) -> None:
    """Writes a library to the cache, and deletes the oldest ones of its package."""
    if (folder := cache_directory()) is None:
        return
    if not cache_files.write(cache_files.path_of(library, folder), code):
        print(f"compiled code cannot be kept in {folder}", file=sys.stderr)
    for pattern in (f"{library}.*.bin", f"{library}-*.key"):
        files = sorted(folder.glob(pattern), key=lambda file: file.stat().st_mtime)
        for old in files[:-LIBRARIES_KEPT]:
            old.unlink(missing_ok=True)


def ready_all() -> None:
    """Compiles both packages, as far as they were not kept."""
    for library in PACKAGES:
        import_module(library)
    for library in PACKAGES:
        ready(library)
