"""Machine code of the entry points of a package: one library, compiled once for one machine and kept (`engine.cache_files`).

The library of a package holds all of its entry points and, once, every function that they call. A wheel carries libraries that
any processor of its kind can run.
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
import time
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from numba._dynfunc import make_function
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import Environment
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys

from euphoria_env import garbage
from euphoria_env.engine import cache_files
from euphoria_env.engine.cache_files import cache_directory
from euphoria_env.engine.machine_code import Emission, hide

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
    line, _, machine_code = (_shipped(library) or _from_cache(library)).partition(b"\n")
    symbols, sizes = json.loads(line)
    engine = cpu_target.target_context.codegen()._engine._ee
    for size, end in zip(sizes, accumulate(sizes), strict=True):
        engine.add_object_file(llvm.ObjectFileRef.from_data(machine_code[end - size : end]))
    engine.finalize_object()
    return symbols


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
    for library, code in build(*PACKAGES).items():
        cache_files.write(_path(library, Path(folder), cache_files.text_key(library)), code)


def _from_cache(library: str) -> bytes:
    folder = cache_directory()
    if folder is None:
        print(f"no folder to keep compiled code in: {library} is compiled for this process alone", file=sys.stderr)
        return build(library)[library]
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
    together = [library]
    if library == "euphoria_env" and "euphoria_agents" in sys.modules and not SHIPPED.is_dir():
        together.append("euphoria_agents")  # this process need not compile the engine again for it
    with contextlib.ExitStack() as locks:
        for each in together:
            locks.enter_context(cache_files.locked(folder / f"{each}.lock"))
        if (found := _find(library, folder)) is not None:
            return found
        built = build(*(each for each in together if each == library or _find(each, folder) is None))
        for each, code in built.items():
            _keep(each, folder, code)
    return built[library]


def _keep(library: str, folder: Path, code: bytes) -> None:
    """Writes a library to the cache, and deletes the oldest ones of its package."""
    if not cache_files.write(_path(library, folder, cache_files.code_key(_files_with_entries(library))), code):
        print(f"compiled code cannot be kept in {folder}", file=sys.stderr)
    for suffix in ("bin", "key"):
        files = sorted(folder.glob(f"{library}-*.{suffix}"), key=lambda file: file.stat().st_mtime)
        for old in files[:-LIBRARIES_KEPT]:
            old.unlink(missing_ok=True)


def build(*libraries: str) -> dict[str, bytes]:
    """Compiles the libraries of packages. Each is a line of JSON, then machine code: an object for each group of entry points.

    The line has the symbols of each entry point by name, and the sizes of the objects.
    """
    with garbage.collected_rarely(), contextlib.ExitStack() as running:
        emissions = {library: _compile(library, running, library == libraries[-1]) for library in libraries}
        return {library: _joined(library, [each.result() for each in emissions[library]]) for library in libraries}


def _compile(library: str, running: contextlib.ExitStack, is_last: bool) -> list[Emission]:
    """Compiles the entry points of a library to LLVM code; other processes make machine code of all groups but the very last."""
    for file in _files_with_entries(library):
        if library != "__main__":
            root = next(parent for parent in file.parents if not (parent / "__init__.py").exists())
            import_module(".".join(file.relative_to(root).with_suffix("").parts))
    cpu_target.target_context.refresh()  # loads what the compiler knows of Python and numpy
    _built.append(library)
    progress.library, progress.begun = library, time.perf_counter()
    progress.tell("this is done once for this machine")
    entries = _entries[library].values()
    groups = [[entry] for entry in entries if entry.apart] + [[entry for entry in entries if not entry.apart]]
    emissions = []
    for group in groups:
        for entry in group:
            entry.compile(entry.kinds)
        modules = [_functions[symbol].bitcode for symbol in sorted(_closure(map(_fndesc, group)))]  # a copy for this group
        emissions.append(Emission(modules, {_fndesc(entry).llvm_cpython_wrapper_name for entry in group}))
        if not is_last or group is not groups[-1]:
            emissions[-1].start(running)
    progress.tell("optimising all of it")
    if is_last:
        emissions[-1].make()  # before this process waits for the others
    return emissions


def _joined(library: str, objects: list[bytes]) -> bytes:
    """Returns the line of JSON and the objects of a library."""
    found = {name: _fndesc(entry) for name, entry in _entries[library].items()}
    symbols = {name: (fndesc.llvm_cpython_wrapper_name, fndesc.env_name) for name, fndesc in found.items()}
    progress.tell("compiled")
    return json.dumps([symbols, [*map(len, objects)]]).encode() + b"\n" + b"".join(objects)


def _fndesc(entry: Any) -> Any:
    return entry.overloads[entry.kinds].fndesc


def _files_with_entries(library: str) -> list[Path]:
    return [file for file in cache_files.source_files(library) if b"\n@entry(" in file.read_bytes()]


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
    hide(module, {fndesc.llvm_func_name, fndesc.llvm_cpython_wrapper_name})
    calls = [function.name for function in module.functions if function.is_declaration and function.name.startswith("_ZN")]
    _functions[fndesc.llvm_func_name] = Code(module.as_bitcode(), calls)
    progress.step()


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
