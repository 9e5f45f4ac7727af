"""Caches compiled code, under a key that cannot be stale, in files that cannot be damaged or planted unnoticed.

Numba's own cache looks only at the file of the cached function. Here the key is a hash of the code in every source file of the
core (its syntax trees: comments and docstrings do not count), so that a change anywhere in the rules compiles again, and of that
file; for the parts of an agent, of all that they import from their own package, or of the files beside them if they are in none.
A file whose content is not what was written counts as missing. Files hold pickles, so they are only read from folders that nobody
else can write to.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import caching
from numba.core.compiler import CompileResult

_PACKAGE = Path(__file__).resolve().parent.parent
# With cards/ and engine/: all that compiled code can depend on.
_CORE = ("decisions.py", "board.py", "rules.py", "actions.py", "observations.py", "event_kinds.py")
_DIGEST_SIZE = 32
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def _core_hash() -> str:
    core = [_PACKAGE / name for name in _CORE]
    return _sources_hash([*core, *_PACKAGE.glob("cards/*.py"), *_PACKAGE.glob("engine/*.py")])


def _beside(file: Path) -> list[Path]:
    """The files an entry point in this file may depend on beyond the core: its imports from its package, or its neighbours."""
    if file.is_relative_to(_PACKAGE):
        return [file]
    folder = file.parent
    if not (folder / "__init__.py").exists():
        return list(folder.glob("*.py"))
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    found, left = {file}, [file]
    while left:
        new = _imported(left.pop(), folder.parent, folder.name) - found
        found |= new
        left += new
    return list(found)


@cache
def _imported(file: Path, root: Path, package: str) -> frozenset[Path]:
    """The files of a package below a root that a file imports, by its source."""
    here = file.relative_to(root).with_suffix("").parts
    names: list[str] = []
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = ".".join([*here[: -node.level], node.module or ""]).strip(".") if node.level else node.module or ""
            names += [start, *(f"{start}.{alias.name}" for alias in node.names)]
    modules = [root.joinpath(*name.split(".")) for name in names if name.split(".")[0] == package]
    files = [path for module in modules for path in (module.with_suffix(".py"), module / "__init__.py")]
    return frozenset(path for path in files if path.is_file())


def _sources_hash(paths: Iterable[Path]) -> str:
    """A hash of the code in files: their syntax trees, without comments and docstrings.

    Parsing takes a tenth of a second, so the hash of a text is kept, in a file named by the hash of the text itself.
    """
    texts = [(path.name, path.read_bytes()) for path in sorted(paths)]
    folder = _folder()
    kept = folder / f"{_hash(repr(texts).encode())}.code" if folder else None
    with contextlib.suppress(OSError):
        if kept and len(found := kept.read_text()) == len(_hash(b"")):
            return found
    found = _hash("".join(f"{name} {_code(text)}\n" for name, text in texts).encode())
    if kept:
        _write_whole(kept, found.encode())
    return found


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=12).hexdigest()


def _code(text: bytes) -> str:
    """The syntax tree of a module as text, without docstrings and places."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, False):
            del node.body[0]
    return ast.dump(tree)


def _write_whole(path: Path, content: bytes) -> None:
    """Writes a file whole, or not at all where it cannot be written."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(content)
            os.replace(beside, path)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


# ------------------------------------------------------------------------------------------------------------- the folder


def cache_directory() -> Path | None:
    """The folder of the cache; None if there is no folder to which only this user can write.

    The first that will do: $NUMBA_CACHE_DIR, beside the package, in the user's cache, a private folder among the temporary ones.
    """
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR)
    return next((folder for folder in _candidates() if _is_usable(folder)), None)


@cache
def _folder() -> Path | None:
    return cache_directory()


def _candidates() -> Iterator[Path]:
    yield _PACKAGE / "__pycache__" / "numba"
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if configured.is_absolute():  # a relative one must be ignored (XDG base directory specification)
        yield configured / "euphoria_env"
    else:
        with contextlib.suppress(RuntimeError):  # a user without a home
            yield Path.home() / ".cache" / "euphoria_env"
    if hasattr(os, "getuid"):
        yield Path(tempfile.gettempdir()) / f"euphoria_env-{os.getuid()}"


def _is_usable(folder: Path) -> bool:
    """Whether a folder is there or can be made, can be written to, and by nobody else."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if hasattr(os, "getuid") and (not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid()):
            return False
        if found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and folder.parent == Path(tempfile.gettempdir())):
            return False
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


# --------------------------------------------------------------------------------------------------------------- the files


class _EntryCache(caching.NullCache):  # type: ignore[misc]
    """The files of one entry point, one for each signature: a digest, then what was pickled; says so when it must compile."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        file = Path(function.__code__.co_filename).resolve()
        self._module, self._title = function.__module__, f"{function.__module__}.{function.__qualname__}"
        self._path = folder / f"{file.stem}.{function.__qualname__.replace('<', '').replace('>', '')}"
        enclosed = [cell.cell_contents for cell in function.__closure__ or ()]
        self._own = hashlib.blake2b(function.__code__.co_code + caching.dumps(enclosed)).hexdigest()
        self._stamp = hashlib.blake2b(f"{_core_hash()}{_sources_hash(_beside(file))} {numba.__version__}".encode()).digest()

    @property
    def cache_path(self) -> str:
        """See numba."""
        return str(self._path.parent)

    def _file(self, signature: Any, codegen: Any) -> Path:
        key = repr((signature, codegen.magic_tuple(), self._own, sys.implementation.cache_tag))
        return Path(f"{self._path}.{_hash(key.encode())}.nbc")

    def _digest(self, content: bytes) -> bytes:
        return hashlib.blake2b(content, digest_size=_DIGEST_SIZE, key=self._stamp).digest()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The saved code; None if it is missing, damaged or from other sources, and is not compiled elsewhere."""
        target_context.refresh()
        found = self._kept(sig, target_context)
        if found is None:
            _compiled.append(self._title)
            print(f"compiling {self._title} ...", file=sys.stderr, flush=True)
            for compile_it in _elsewhere[:1]:
                compile_it(self._module, self._title, sig)
                found = self._kept(sig, target_context)
        return found

    def _kept(self, sig: Any, target_context: Any) -> Any:
        with contextlib.suppress(OSError):
            written = self._file(sig, target_context.codegen()).read_bytes()
            digest, content = written[:_DIGEST_SIZE], written[_DIGEST_SIZE:]
            if digest == self._digest(content):
                return CompileResult._rebuild(target_context, *pickle.loads(content))
        return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keeps what was compiled; where it cannot be written, it is compiled again the next time."""
        if not cres.library.has_dynamic_globals:  # which are addresses
            content = caching.dumps(cres._reduce())
            _write_whole(self._file(sig, cres.codegen), self._digest(content) + content)


def keep(function: Callable[..., Any], compiled: Any) -> None:
    """Lets a compiled function be kept, if there is a folder to keep it in, and a file that it stands in."""
    folder = _folder()
    if folder is not None and Path(function.__code__.co_filename).is_file():
        compiled._cache = _EntryCache(function, folder)


_compiled: list[str] = []  # the names of those that were not kept
_elsewhere: list[Callable[[str, str, Any], None]] = []


@contextlib.contextmanager
def compiled_elsewhere(compile_it: Callable[[str, str, Any], None]) -> Iterator[None]:
    """Has what the cache lacks compiled in another process, since the compiler holds up all threads of this one.

    Args:
        compile_it: gets the module of an entry point, its key in `jit.ENTRIES`, and the signature; what it does not put into the
            cache is compiled here.
    """
    _elsewhere.insert(0, compile_it)
    try:
        yield
    finally:
        _elsewhere.remove(compile_it)


def times_compiled() -> int:
    """The number of entry points compiled in this process because the cache did not have them."""
    return len(_compiled)
