"""Files of compiled code: where they are kept, and the keys that say which sources and which compiler they come from.

A key is a hash of the syntax trees of all source files that compiled code may depend on: a file with entry points, and all that
it imports from its own package and from `euphoria_env`. Comments and docstrings do not change it. A damaged file counts as
missing. Files are only read from folders to which nobody else can write.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import os
import platform
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

try:
    import fcntl
except ImportError:  # on Windows there are no locks: two processes may compile the same code
    fcntl = None  # type: ignore[assignment]

PACKAGE = Path(__file__).resolve().parent.parent
PACKAGES = ("euphoria_env", "euphoria_agents")
SHIPPED = PACKAGE / "compiled"  # wheels carry this folder, with the libraries of both
_DIGEST_SIZE = 32
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def short_hash(content: bytes) -> str:
    """Returns a hash of 24 hexadecimal digits."""
    return hashlib.blake2b(content, digest_size=12).hexdigest()


# ---------------------------------------------------------------------------------------------------------------- sources


def source_files(library: str) -> list[Path]:
    """Returns the source files of a package, or for a module outside any package all source files in its folder."""
    file = _file_of(library)
    return sorted(file.parent.rglob("*.py") if file.name == "__init__.py" else file.parent.glob("*.py"))


def _file_of(library: str) -> Path:
    spec = None if library == "__main__" else find_spec(library)
    return Path((spec and spec.origin) or sys.modules[library].__file__ or "").resolve()


def text_key(library: str) -> str:
    """Returns a hash of the text of all sources from which the library may be compiled; this takes milliseconds."""
    files = dict.fromkeys([*source_files(library), *source_files("euphoria_env")])
    return short_hash(repr([_file_of(library).name, *((file.name, file.read_bytes()) for file in files)]).encode())


def code_key(files: Iterable[Path]) -> str:
    """Returns a hash of the code in files and in all that they import, without comments and docstrings; this takes a second."""
    found, trees = set(files), {}
    left = list(found)
    while left:
        file = left.pop()
        trees[file] = ast.parse(file.read_bytes())
        new = _imports(file, trees[file]) - found
        found |= new
        left += new
    return short_hash("".join(sorted(f"{file.name} {_without_docstrings(tree)}\n" for file, tree in trees.items())).encode())


def _without_docstrings(tree: ast.Module) -> str:
    """Returns a syntax tree as text, without docstrings and line numbers."""
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, False):
            del node.body[0]
    return ast.dump(tree)


def _imports(file: Path, tree: ast.Module) -> set[Path]:
    """Returns the files that a file imports from its package and `euphoria_env`; for a lone script also from its folder."""
    root = file.parent
    while (root / "__init__.py").exists():
        root = root.parent
    here = file.relative_to(root).with_suffix("").parts
    names: set[str] = set()
    for node in _run(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = ".".join([*here[: -node.level], node.module or ""]).strip(".") if node.level else node.module
            names |= {f"{start}.{alias.name}" for alias in node.names}
    found = set()
    for name in names:
        first, *rest = name.split(".")
        folder = PACKAGE.parent if first == PACKAGE.name else root if first == here[0] or len(here) == 1 else None
        if folder is not None:
            module = folder.joinpath(first, *rest)  # the last name may not be a module but an object in one
            places = [place for path in (module, module.parent) for place in (path.with_suffix(".py"), path / "__init__.py")]
            found |= {*list(filter(Path.is_file, places))[:1]}
    return found


def _run(tree: ast.Module) -> Iterator[ast.AST]:
    """Yields the nodes of a syntax tree that run when the file is imported: compiled code cannot see what others import."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        yield node
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            left += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            left += ast.iter_child_nodes(node)


def files_with_entries(library: str) -> list[Path]:
    """Returns the source files of a package that have entry points, or the file of a module outside any package."""
    if _file_of(library).name != "__init__.py":
        return [_file_of(library)]
    return [file for file in source_files(library) if b"\n@entry(" in file.read_bytes()]


# -------------------------------------------------------------------------------------------------------------- libraries


@cache
def processor() -> str:
    """Returns the kind of processor, in LLVM's names, for which code is compiled: of this one, or of $NUMBA_CPU_NAME."""
    if named := os.environ.get("NUMBA_CPU_NAME"):
        return named
    if platform.machine() not in ("x86_64", "AMD64"):
        return "generic"
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    has_all = all(features.get(name) for name in ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"))
    return "x86-64-v3" if has_all else "x86-64"


def machine() -> dict[str, str]:
    """Returns what code is compiled for beside its sources, by the words that say that it was compiled for something else."""
    settings = [os.environ.get(f"NUMBA_{name}") for name in ("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE")]
    return {
        "another processor": f"{sys.platform}-{platform.machine()}-{processor()}",
        "another Python": f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}",
        "other settings": short_hash(repr(settings).encode()) if any(settings) else "usual",
    }


def folders(library: str) -> list[Path]:
    """Returns the folders in which a library may be."""
    return [folder for folder in (SHIPPED if library in PACKAGES else None, cache_directory()) if folder is not None]


@cache
def key(library: str) -> str:
    """Returns the hash of the code of a library. The hash of its text, which is quick to compute, leads to that of the code."""
    for folder in folders(library):
        if found := read(folder / _name_of_key(library)):
            return found.decode()
    found = code_key([*files_with_entries(library), Path(__file__).with_name("building.py")]).encode()
    if (kept_in := cache_directory()) is not None:
        write(kept_in / _name_of_key(library), found)
    return found.decode()


def _name_of_key(library: str) -> str:
    return f"{library}-{text_key(library)}.key"


def path_of(library: str, folder: Path) -> Path:
    """Returns the file of a library for this machine, in a folder."""
    return folder / ".".join([library, key(library), *machine().values(), "bin"])


def kept(library: str) -> bytes | None:
    """Returns a library that a wheel carries or that was kept, or None."""
    return next(filter(None, (read(path_of(library, folder)) for folder in folders(library))), None)


def ship(folder: Path) -> bool:
    """Writes the libraries of both packages into a folder, for a wheel; returns whether they were kept and written."""
    found = {library: kept(library) for library in PACKAGES}
    return None not in found.values() and all(
        write(path_of(library, folder), code or b"") and write(folder / _name_of_key(library), key(library).encode())
        for library, code in found.items()
    )


# ------------------------------------------------------------------------------------------------------------------ files


def read(path: Path) -> bytes | None:
    """Reads a file that `write` wrote; None if it is missing or damaged."""
    with contextlib.suppress(OSError):
        if not path.is_file():  # opening a named pipe would wait for somebody who writes to it
            return None
        content = path.read_bytes()
        if content[:_DIGEST_SIZE] == _digest(content[_DIGEST_SIZE:]):
            return content[_DIGEST_SIZE:]
    return None


def write(path: Path, content: bytes) -> bool:
    """Writes a digest and the content to a file, whole or not at all; returns False if it cannot be written."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        beside.unlink(missing_ok=True)
        beside.write_bytes(_digest(content) + content)
        os.replace(beside, path)
    except OSError:
        return False
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
    return True


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST_SIZE).digest()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds a lock; if another process holds it, says so and waits. The system releases the lock of a process that died."""
    with contextlib.ExitStack() as stack:
        if fcntl is not None and (path.is_file() or not path.exists()):
            with contextlib.suppress(OSError):  # the file system may not support locks
                file = stack.enter_context(path.open("wb"))
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    print("another process compiles the same code: waiting for it ...", file=sys.stderr, flush=True)
                    fcntl.flock(file, fcntl.LOCK_EX)
        yield


# ------------------------------------------------------------------------------------------------------------- the folder


@cache
def cache_directory() -> Path | None:
    """Returns the folder of the cache: $NUMBA_CACHE_DIR, else one in the user's cache, else one in the package.

    The last two are used only if this user, and nobody else, can write to them; None if there is no such folder.
    """
    if configured := os.environ.get("NUMBA_CACHE_DIR"):
        with contextlib.suppress(OSError):
            Path(configured).mkdir(parents=True, exist_ok=True)
        return Path(configured)
    folders = [PACKAGE / "__pycache__" / "numba"]
    with contextlib.suppress(RuntimeError):  # the user may have no home directory
        folders.insert(0, _users_cache() / "euphoria_env")
    return next((folder for folder in folders if _is_usable(folder)), None)


def _users_cache() -> Path:
    """Returns the folder that the system has for caches of this user."""
    variable, usual = {
        "win32": ("LOCALAPPDATA", "AppData/Local"),
        "darwin": ("", "Library/Caches"),
    }.get(sys.platform, ("XDG_CACHE_HOME", ".cache"))
    configured = Path(os.environ.get(variable, ""))
    # A relative path must be ignored (XDG base directory specification).
    return configured if configured.is_absolute() else Path.home() / usual


def _is_usable(folder: Path) -> bool:
    """Returns whether this user, and nobody else, can write to a folder; makes the folder if it is missing."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    mine = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    return mine and stat.S_ISDIR(found.st_mode) and not found.st_mode & (stat.S_IWOTH | stat.S_IWGRP)
