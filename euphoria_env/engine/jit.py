"""Compilation: `jit` for the parts of the engine, `entry` for what the outside calls, kept in a cache that cannot be stale.

Numba's own cache looks only at the file of the cached function. Here the key is a hash of every source file of the core, so that
a change anywhere in the rules compiles anew, and of that file; for the parts of an agent, of all files of its package.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, types

_PACKAGE = Path(__file__).resolve().parent.parent
# With cards/ and engine/: all that compiled code can depend on.
_CORE = ("asks.py", "board.py", "rules.py", "actions.py", "observations.py")


def _core() -> list[Path]:
    return [*(_PACKAGE / name for name in _CORE), *_PACKAGE.glob("cards/*.py"), *_PACKAGE.glob("engine/*.py")]


def _beside(file: Path) -> list[Path]:
    """What an entry point in this file may depend on beyond the core: its package, or the files beside it if it is in none."""
    if file.is_relative_to(_PACKAGE):
        return [file]
    folder = file.parent
    if not (folder / "__init__.py").exists():
        return list(folder.glob("*.py"))
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return list(folder.rglob("*.py"))


def _sources_hash(paths: Iterable[Path]) -> str:
    digest = hashlib.blake2b(digest_size=12)
    for path in sorted(paths):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def cache_directory() -> Path:
    """Where compiled code is kept: $NUMBA_CACHE_DIR, beside the package, in the user's cache, or else a temporary folder."""
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR)
    user_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "euphoria_env"
    for folder in (_PACKAGE / "__pycache__" / "numba", user_cache):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        return folder
    return Path(tempfile.gettempdir()) / "euphoria_env"


class _Locator(caching._CacheLocator):  # type: ignore[misc]
    """Tells numba where to keep an entry point, and that its stamp is the hash of all sources."""

    def __init__(self, py_file: str) -> None:
        self._py_file = py_file

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator:
        return cls(py_file)

    def get_cache_path(self) -> str:
        return str(_cache_path())

    def get_source_stamp(self) -> str:
        return _stamp() + _sources_hash(_beside(Path(self._py_file).resolve()))

    def get_disambiguator(self) -> str:
        return "euphoria"


class _Implementation(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = [_Locator]


class _EngineCache(caching.FunctionCache):  # type: ignore[misc]
    """Numba's function cache with our key; says so when it must compile."""

    _impl_class = _Implementation
    _told = False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is None and not _EngineCache._told:
            _EngineCache._told = True
            print("euphoria_env: compiling the engine (once, about half a minute) ...", file=sys.stderr, flush=True)
        return found


_memo: dict[str, Any] = {}


def _stamp() -> str:
    if "stamp" not in _memo:
        _memo["stamp"] = _sources_hash(_core())
    return str(_memo["stamp"])


def _cache_path() -> Path:
    if "path" not in _memo:
        _memo["path"] = cache_directory()
    return Path(_memo["path"])


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
    if hasattr(compiled, "_cache"):
        compiled._cache = _EngineCache(function)
    return compiled  # type: ignore[no-any-return]
