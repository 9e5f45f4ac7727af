"""Where compiled code is kept, under a key that cannot be stale, in files that cannot be damaged or planted unnoticed.

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

_PACKAGE = Path(__file__).resolve().parent.parent
# With cards/ and engine/: all that compiled code can depend on.
_CORE = ("decisions.py", "board.py", "rules.py", "actions.py", "observations.py", "event_kinds.py")
_DIGEST_SIZE = 32
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _core() -> list[Path]:
    return [*(_PACKAGE / name for name in _CORE), *_PACKAGE.glob("cards/*.py"), *_PACKAGE.glob("engine/*.py")]


def _beside(file: Path) -> list[Path]:
    """What an entry point in this file may depend on beyond the core: what it imports of its package, or the files beside it."""
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
    """The files of a package below a root that a file imports, as its text says."""
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
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node, False
        ):
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
    """Where compiled code is kept; None: nowhere, for no folder can be written to by this user alone.

    The first that will do: $NUMBA_CACHE_DIR, beside the package, in the user's cache, a private folder among the temporary ones.
    """
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR)
    return next((folder for folder in _candidates() if _is_usable(folder)), None)


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


class _CheckedFiles:
    """The files of one entry point, one for each signature: a digest, then what was pickled."""

    def __init__(self, folder: str, name: str, stamp: str) -> None:
        self._folder, self._name = Path(folder), name
        self._stamp = f"{stamp} {numba.__version__}".encode()

    def _path(self, key: Any) -> Path:
        return self._folder / f"{self._name}.{hashlib.blake2b(repr(key).encode(), digest_size=8).hexdigest()}.nbc"

    def _digest(self, content: bytes) -> bytes:
        return hashlib.blake2b(content, digest_size=_DIGEST_SIZE, key=hashlib.blake2b(self._stamp).digest()).digest()

    def load(self, key: Any) -> Any:
        """What was saved; None if there is nothing, of other sources, or damaged."""
        try:
            written = self._path(key).read_bytes()
        except OSError:
            return None
        digest, content = written[:_DIGEST_SIZE], written[_DIGEST_SIZE:]
        return pickle.loads(content) if digest == self._digest(content) else None

    def save(self, key: Any, data: Any) -> None:
        """Keeps what was compiled; where it cannot be written, it is compiled again the next time."""
        content = caching.dumps(data)
        _write_whole(self._path(key), self._digest(content) + content)


class _Locator(caching._CacheLocator):  # type: ignore[misc]
    """Tells numba where to keep an entry point, and that its stamp is the hash of all sources."""

    def __init__(self, py_file: str) -> None:
        self._py_file = py_file

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator:
        return cls(py_file)

    def get_cache_path(self) -> str:
        return str(_folder())

    def get_source_stamp(self) -> str:
        return _stamp() + _sources_hash(_beside(Path(self._py_file).resolve()))

    def get_disambiguator(self) -> str:
        return "euphoria"


class _Implementation(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = [_Locator]


class _EntryCache(caching.FunctionCache):  # type: ignore[misc]
    """Numba's function cache with our key and our files; says so when it must compile."""

    _impl_class = _Implementation

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _CheckedFiles(self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is None:
            _memo["compiled"] = times_compiled() + 1
            print(f"compiling {self._py_func.__module__}.{self._py_func.__qualname__} ...", file=sys.stderr, flush=True)
        return found

    def _save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):  # the folder has gone, or the disk is full
            super()._save_overload(sig, data)


def keep(function: Callable[..., Any], compiled: Any) -> None:
    """Lets a compiled function be kept, if there is a folder to keep it in."""
    if _folder() is not None:
        compiled._cache = _EntryCache(function)


_memo: dict[str, Any] = {}


def times_compiled() -> int:
    """How many entry points were compiled in this process, because they were not kept."""
    return int(_memo.get("compiled", 0))


def _stamp() -> str:
    if "stamp" not in _memo:
        _memo["stamp"] = _sources_hash(_core())
    return str(_memo["stamp"])


def _folder() -> Path | None:
    if "folder" not in _memo:
        _memo["folder"] = cache_directory()
    return _memo["folder"]  # type: ignore[no-any-return]
