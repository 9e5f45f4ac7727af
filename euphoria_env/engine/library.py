"""Machine code of the entry points of a package: one library, compiled once for one machine and kept (`engine.cache_files`).

The library of a package holds all of its entry points and, once, every function that they call. A wheel carries libraries that
any processor of its kind can run.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from numba._dynfunc import make_function
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import Environment
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys

from euphoria_env.engine import cache_files
from euphoria_env.engine.cache_files import cache_directory

SHIPPED = cache_files.PACKAGE / "compiled"  # wheels carry this folder
PACKAGES = ("euphoria_env", "euphoria_agents")
SECONDS_BETWEEN_LINES = 5
LIBRARIES_KEPT = 8  # in the cache for each package; the oldest are deleted


class Code(NamedTuple):
    """A compiled function: LLVM's code, and the symbols of the functions that it calls."""

    bitcode: bytes
    calls: list[str]


_entries: dict[str, dict[str, Any]] = {}  # by library and full name
_functions: dict[str, Code] = {}  # by symbol
_built: list[str] = []  # the libraries that this process compiled


def register(entry: Any) -> Any:
    """Adds an entry point to the library of its package, or of its module if it is in none."""
    _entries.setdefault(_library_of(entry.py_func), {})[_full_name(entry.py_func)] = entry
    return entry


def load(entry: Any) -> None:
    """Makes an entry point callable: loads its library, or compiles it if none was kept."""
    with global_compiler_lock:
        if entry.is_installed:  # by another thread
            return
        name, codegen = _full_name(entry.py_func), cpu_target.target_context.codegen()
        symbol, environment_symbol = _symbols(_library_of(entry.py_func))[name]
        environment = Environment(entry.py_func.__globals__)
        codegen.set_env(environment_symbol, environment)
        address = codegen._engine.get_function_address(symbol)
        entry.install(make_function(sys.modules[entry.py_func.__module__], name, "", address, environment, ()))


def ready(library: str) -> None:
    """Loads the library of a package, or compiles it if none was kept."""
    with global_compiler_lock:
        _symbols(library)


def times_compiled() -> int:
    """Returns the number of libraries compiled in this process because they were not kept."""
    return len(_built)


def _library_of(function: Callable[..., Any]) -> str:
    return function.__module__.partition(".")[0]


def _full_name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


# ---------------------------------------------------------------------------------------------------------------- loading


@cache
def _symbols(library: str) -> dict[str, list[str]]:
    """Loads or compiles a library; returns the symbols of the code and the environment of each entry point."""
    rtsys.initialize(cpu_target.target_context)  # registers the functions that compiled code calls; `refresh` loads the compiler
    symbols, _, machine_code = (_shipped(library) or _from_cache(library)).partition(b"\n")
    engine = cpu_target.target_context.codegen()._engine._ee
    engine.add_object_file(llvm.ObjectFileRef.from_data(machine_code))
    engine.finalize_object()
    return json.loads(symbols)


def _shipped(library: str) -> bytes | None:
    """Returns the library in the wheel; if it is for other sources or another processor, prints that and returns None."""
    if library not in PACKAGES or not SHIPPED.is_dir():
        return None
    processor = shipped_processor()
    path = _path(library, SHIPPED, cache_files.text_key(library), processor=processor)
    if processor is not None and (found := cache_files.read(path)) is not None:
        return found
    print(f"the compiled {library} of the wheel is for another processor, another numba or other sources", file=sys.stderr)
    return None


def ship(folder: str) -> None:
    """Compiles both packages into a folder, for the processor that numba's settings name; see `hatch_build.py`."""
    for library in PACKAGES:
        cache_files.write(_path(library, Path(folder), cache_files.text_key(library)), build(library))


def _from_cache(library: str) -> bytes:
    folder = cache_directory()
    if folder is None:
        print(f"no folder to keep compiled code in: {library} is compiled for this process alone", file=sys.stderr)
        return build(library)
    return _find(library, folder) or _make(library, folder)


def _find(library: str, folder: Path) -> bytes | None:
    """Returns a library that was kept, or None. The hash of the text, which is quick to compute, leads to that of the code."""
    quick = folder / f"{library}-{cache_files.text_key(library)}.key"
    key = cache_files.read(quick)
    if key is None:
        key = cache_files.code_key(_files_with_entries(library)).encode()
        cache_files.write(quick, key)
    return cache_files.read(_path(library, folder, key.decode()))


def _path(library: str, folder: Path, key: str, processor: str | None = None) -> Path:
    return folder / f"{library}-{key}-{cache_files.compiler_key(processor or cache_files.this_processor())}.bin"


def shipped_processor() -> str | None:
    """Returns the processor of the code in wheels, named as by `cache_files.this_processor`; None if it cannot run here."""
    triple, features = llvm.get_process_triple(), llvm.get_host_cpu_features()
    if not triple.startswith("x86_64"):
        return repr((triple, "generic", ""))
    runs = all(features.get(name) for name in ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"))
    return repr((triple, "x86-64-v3", "")) if runs else None


# --------------------------------------------------------------------------------------------------------------- building


def _make(library: str, folder: Path) -> bytes:
    """Compiles a library and keeps it, or waits until another process has."""
    with cache_files.locked(folder / f"{library}.lock"):
        found = _find(library, folder)
        if found is None:
            found = build(library)
            if not cache_files.write(_path(library, folder, cache_files.code_key(_files_with_entries(library))), found):
                print(f"compiled code cannot be kept in {folder}", file=sys.stderr)
            for suffix in ("bin", "key"):
                files = sorted(folder.glob(f"{library}-*.{suffix}"), key=lambda file: file.stat().st_mtime)
                for old in files[:-LIBRARIES_KEPT]:
                    old.unlink(missing_ok=True)
            if library == "euphoria_env" and "euphoria_agents" in sys.modules and not SHIPPED.is_dir():
                _make("euphoria_agents", folder)  # this process need not compile the engine again for it
    return found


def build(library: str) -> bytes:
    """Compiles the library of a package. Returns a line of JSON (the symbols of each entry point by name), then machine code."""
    for file in _files_with_entries(library):
        if library != "__main__":
            root = next(parent for parent in file.parents if not (parent / "__init__.py").exists())
            import_module(".".join(file.relative_to(root).with_suffix("").parts))
    cpu_target.target_context.refresh()  # loads what the compiler knows of Python and numpy
    _built.append(library)
    progress.library, progress.begun = library, time.perf_counter()
    progress.tell("this is done once for this machine")
    entries = _entries[library]
    for entry in entries.values():
        entry.compile(entry.kinds)
    progress.tell("optimising all of it")
    symbols = {name: (_fndesc(entry).llvm_cpython_wrapper_name, _fndesc(entry).env_name) for name, entry in entries.items()}
    apart = [[_fndesc(entry)] for entry in entries.values() if entry.apart]
    machine_code = _machine_code(library, [*apart, [_fndesc(entry) for entry in entries.values() if not entry.apart]])
    progress.tell("compiled")
    return json.dumps(symbols).encode() + b"\n" + machine_code


def _fndesc(entry: Any) -> Any:
    return entry.overloads[entry.kinds].fndesc


def _files_with_entries(library: str) -> list[Path]:
    return [file for file in cache_files.source_files(library) if b"\n@entry(" in file.read_bytes()]


def _machine_code(library: str, groups: list[list[Any]]) -> bytes:
    """Optimises and compiles groups of entry points; each group has its own copies of the functions that it calls."""
    code = cpu_target.target_context.codegen().create_library(library)
    for group in groups:
        code._final_module.link_in(_linked(group))
    code._optimize_final_module()
    code._final_module.verify()
    return bytes(code.codegen._tm.emit_object(code._final_module))


def _linked(group: list[Any]) -> Any:
    """Returns an LLVM module of entry points and all that they call; it exports only the functions that Python calls."""
    module = cpu_target.target_context.codegen().create_library("linked")._final_module
    for symbol in _closure(group):
        module.link_in(llvm.parse_bitcode(_functions[symbol].bitcode))
    _hide(module, {fndesc.llvm_cpython_wrapper_name for fndesc in group})
    return module


def _closure(group: Iterable[Any]) -> set[str]:
    """Returns the symbols of entry points and of all the functions that they call."""
    left = [fndesc.llvm_func_name for fndesc in group]
    found = set(left)
    while left:
        new = set(_functions[left.pop()].calls) - found
        found |= new
        left += new
    return found


def add_function(fndesc: Any, module: Any) -> None:
    """Stores a compiled function: its LLVM module as bitcode, and the symbols of the functions that it calls."""
    _hide(module, {fndesc.llvm_func_name, fndesc.llvm_cpython_wrapper_name})
    calls = [function.name for function in module.functions if function.is_declaration and function.name.startswith("_ZN")]
    _functions[fndesc.llvm_func_name] = Code(module.as_bitcode(), calls)
    progress.step()


def _hide(module: Any, exported: set[str]) -> None:
    """Makes all functions that are not exported internal: LLVM may inline and drop them, and their names may recur elsewhere."""
    for function in module.functions:
        if not function.is_declaration and function.name not in exported:
            function.linkage = "internal"


class _Progress:
    """Prints a line to stderr every few seconds while a library is compiled."""

    library, begun = "", 0.0
    _last_line = math.inf  # no line is printed before a library is begun

    def step(self) -> None:
        """Prints how many functions are compiled, unless a line was printed a short time ago."""
        if time.perf_counter() - self._last_line > SECONDS_BETWEEN_LINES:
            self.tell(f"{len(_functions)} functions")

    def tell(self, text: str) -> None:
        self._last_line = time.perf_counter()
        print(f"compiling {self.library}: {text} ({self._last_line - self.begun:.0f} s)", file=sys.stderr, flush=True)


progress = _Progress()
