"""Machine code of the entry points of a package: one library, compiled once for one machine and kept (`engine.cache_files`).

The library of a package holds all of its entry points and, once, every part that they call. A wheel carries libraries that any
processor of its kind can run. LLVM's code of each part is kept too, so that a change of one rule compiles only those parts again
that may depend on it.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba._dynfunc import make_function
from numba.core import caching
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import Environment
from numba.core.registry import cpu_target

from euphoria_env.engine import cache_files
from euphoria_env.engine.cache_files import cache_directory

SHIPPED = cache_files.PACKAGE / "compiled"  # in wheels
PACKAGES = ("euphoria_env", "euphoria_agents")
SECONDS_BETWEEN_LINES = 5
LIBRARIES_KEPT = 8  # of each package, in the cache: those of the latest sources
Made = tuple[Any, Any, bytes]  # the signature of a part, what its callers need to know, LLVM's code

_entries: dict[str, dict[str, Any]] = {}  # by library and full name
_code_of: dict[str, bytes] = {}  # LLVM's code of each part, by its symbol
_kept: dict[str, Made] = {}  # the parts of earlier builds, by key
_used: dict[str, Made] = {}  # those of this one
_built: list[str] = []  # the libraries that this process compiled


def register(entry: Any) -> Any:
    """Adds an entry point to the library of its package, or of its module if it is in none."""
    _entries.setdefault(_library_of(entry.py_func), {})[_full_name(entry.py_func)] = entry
    return entry


def load(entry: Any) -> None:
    """Makes an entry point callable: finds the library that it belongs to, or makes it."""
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
    """Loads the library of a package, and makes it if it is not there."""
    with global_compiler_lock:
        _symbols(library)


def times_compiled() -> int:
    """The number of libraries compiled in this process because they were not kept."""
    return len(_built)


def _library_of(function: Callable[..., Any]) -> str:
    return function.__module__.partition(".")[0]


def _full_name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


# ---------------------------------------------------------------------------------------------------------------- loading


@cache
def _symbols(library: str) -> dict[str, list[str]]:
    """Loads a library, which is made if it was not kept; returns two symbols of each entry point, of its code and environment."""
    cpu_target.target_context.refresh()  # makes known to LLVM what compiled code calls
    symbols, _, machine_code = (_shipped(library) or _from_cache(library)).partition(b"\n")
    engine = cpu_target.target_context.codegen()._engine._ee
    engine.add_object_file(llvm.ObjectFileRef.from_data(machine_code))
    engine.finalize_object()
    return json.loads(symbols)


def _shipped(library: str) -> bytes | None:
    """The library that the wheel carries; None, after a line that says so, if it is for other sources or another processor."""
    if library not in PACKAGES or not SHIPPED.is_dir():
        return None
    for processor in processors():
        if (found := cache_files.read(SHIPPED / _shipped_name(library, processor))) is not None:
            return found
    print(f"the compiled {library} of the wheel is for another processor, another numba or other sources", file=sys.stderr)
    return None


def ship(folder: str) -> None:
    """Compiles both packages into a folder, for the processor that numba's settings name; see `hatch_build.py`."""
    for library in PACKAGES:
        cache_files.write(Path(folder, _shipped_name(library, cache_files.this_processor())), build(library))


def _shipped_name(library: str, processor: str) -> str:
    return f"{library}-{cache_files.text_key(library)}-{cache_files.compiler_key(processor)}.bin"


def _from_cache(library: str) -> bytes:
    folder = cache_directory()
    if folder is None:
        print(f"no folder to keep compiled code in: {library} is compiled for this process alone", file=sys.stderr)
        return build(library)
    return _find(library, folder) or _make(library, folder)


def _find(library: str, folder: Path) -> bytes | None:
    """A library that was kept; the key of its code is kept by that of its text, which is found sooner."""
    quick = folder / f"{cache_files.text_key(library)}.key"
    key = cache_files.read(quick)
    if key is None:
        key = cache_files.code_key(_files_with_entries(library)).encode()
        cache_files.write(quick, key)
    return cache_files.read(_path(library, folder, key.decode()))


def _path(library: str, folder: Path, key: str) -> Path:
    return folder / f"{library}-{key}-{cache_files.compiler_key(cache_files.this_processor())}.bin"


def processors() -> list[str]:
    """The processors whose code is in wheels and can run here, as `cache_files.this_processor` names them."""
    triple, features = llvm.get_process_triple(), llvm.get_host_cpu_features()
    if triple.startswith("x86_64"):
        runs = all(features.get(name) for name in ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"))
        return [repr((triple, "x86-64-v3", ""))] if runs else []
    return [repr((triple, "generic", ""))]


# --------------------------------------------------------------------------------------------------------------- building


def _make(library: str, folder: Path) -> bytes:
    """Compiles a library and keeps it, or waits until another process has."""
    with cache_files.locked(folder / f"{library}.lock"):
        found = _find(library, folder)
        if found is None:
            parts = folder / f"{library}-{cache_files.compiler_key(cache_files.this_processor())}.parts"
            for kept in (cache_files.read(folder / parts.name.replace(library, name)) for name in ("euphoria_env", library)):
                _use_parts(pickle.loads(kept) if kept else {})
            found = build(library)
            key = cache_files.code_key(_files_with_entries(library))
            if not cache_files.write(_path(library, folder, key), found) or not cache_files.write(parts, caching.dumps(_used)):
                print(f"compiled code cannot be kept in {folder}", file=sys.stderr)
            for old in sorted(folder.glob(f"{library}-*.bin"), key=lambda file: file.stat().st_mtime)[:-LIBRARIES_KEPT]:
                old.unlink(missing_ok=True)
    return found


def build(library: str) -> bytes:
    """Compiles the library of a package: a line of JSON, the symbols of each entry point by name, then machine code."""
    for file in _files_with_entries(library):
        if library != "__main__":
            root = next(parent for parent in file.parents if not (parent / "__init__.py").exists())
            import_module(".".join(file.relative_to(root).with_suffix("").parts))
    _built.append(library)
    _used.clear()
    progress.begin(library)
    compiled = {}
    for name, entry in _entries[library].items():
        progress.begin_entry()
        entry.compile(entry.kinds)
        compiled[name] = entry.overloads[entry.kinds].fndesc
    progress.tell("optimising all of it")
    symbols = {name: (fndesc.llvm_cpython_wrapper_name, fndesc.env_name) for name, fndesc in compiled.items()}
    apart = [[compiled[name]] for name, entry in _entries[library].items() if entry.apart]
    together = [compiled[name] for name, entry in _entries[library].items() if not entry.apart]
    machine_code = _machine_code(library, [*apart, together])
    progress.tell("compiled")
    return json.dumps(symbols).encode() + b"\n" + machine_code


def _files_with_entries(library: str) -> list[Path]:
    return [file for file in cache_files.source_files(library) if b"\n@entry(" in file.read_bytes()]


def _machine_code(library: str, groups: list[list[Any]]) -> bytes:
    """Optimises and compiles groups of entry points; each group has copies of its own of the parts that it calls."""
    code = cpu_target.target_context.codegen().create_library(library)
    for group in groups:
        code._final_module.link_in(_linked(group))
    code._optimize_final_module()
    code._final_module.verify()
    return bytes(code.codegen._tm.emit_object(code._final_module))


def _linked(group: list[Any]) -> Any:
    """Entry points with all that they call, as a module of LLVM's from which only the calls from Python can be seen."""
    module = cpu_target.target_context.codegen().create_library("linked")._final_module
    left = {fndesc.llvm_func_name for fndesc in group}
    linked: set[str] = set()
    while left:
        symbol = left.pop()
        linked.add(symbol)
        part_code = llvm.parse_bitcode(_code_of[symbol])
        called = {function.name for function in part_code.functions if function.is_declaration}
        left |= (called & _code_of.keys()) - linked
        module.link_in(part_code)
    hide(module, {fndesc.llvm_cpython_wrapper_name for fndesc in group})
    return module


def hide(module: Any, exported: set[str]) -> None:
    """Makes functions internal to a module: LLVM may inline and drop them, and other modules may have some of the same name."""
    for function in module.functions:
        if not function.is_declaration and function.name not in exported:
            function.linkage = "internal"


class _Progress:
    """Lines on stderr, one every few seconds, while a library is compiled."""

    def begin(self, library: str) -> None:
        self._library, self._entries, self._begun = library, 0, time.perf_counter()
        self.tell("this is done once for this machine")

    def begin_entry(self) -> None:
        self._entries += 1

    def step(self) -> None:
        """Tells how far it is, if nothing was told for a while."""
        if time.perf_counter() - self._told > SECONDS_BETWEEN_LINES:
            self.tell(f"{self._entries} of {len(_entries[self._library])} entry points, {len(_used)} functions")

    def tell(self, text: str) -> None:
        self._told = time.perf_counter()
        print(f"compiling {self._library}: {text} ({self._told - self._begun:.0f} s)", file=sys.stderr, flush=True)


progress = _Progress()

# ------------------------------------------------------------------------------------------------------------------ parts


def part(function: Callable[..., Any], kinds: tuple[Any, ...], compile_it: Callable[[], Made]) -> Made:
    """A part, compiled for arguments of these types to LLVM's code, or kept from an earlier build."""
    key = f"{_part_key(function)} {cache_files.short_hash(repr(kinds).encode())}"
    made = _kept.get(key)
    if made is None:
        made = compile_it()
        progress.step()
    _use_parts({key: made})
    _used[key] = made
    return made


def _use_parts(parts: dict[str, Made]) -> None:
    _kept.update(parts)
    _code_of.update({made[1].llvm_func_name: made[2] for made in parts.values()})


def _part_key(function: Callable[..., Any]) -> str:
    if "<locals>" in function.__qualname__:
        return f"{_full_name(function)} {id(function)}"
    return f"{_full_name(function)} {cache_files.code_key([Path(function.__code__.co_filename)])}"
