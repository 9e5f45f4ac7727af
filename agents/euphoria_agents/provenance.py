"""Notes what an agent's process reads, so that a result knows what it came from."""

from __future__ import annotations

import importlib.util
import os
import re
import stat
import sys
import sysconfig
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import euphoria_agents
import euphoria_env
from euphoria_agents.files import file_hash
from euphoria_env.engine.cache_files import cache_directory

INSTALLED = {"site-packages", "dist-packages"}  # folders of libraries
SYSTEM = ("/dev", "/etc", "/proc", "/run", "/sys", "/usr/lib", "/usr/share")
CLOCK, CONNECTION, PROCESS = "a clock", "a network connection", "other processes"
LIBRARY, NAMES = "files that a compiled library opens by itself", "the names of the files in a folder"
# By event (docs.python.org/3/library/audit_events.html): what its cause depends on, or which argument is a file that changes.
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn")
UNSEEN = dict.fromkeys(("socket.connect", "socket.sendto", "socket.getaddrinfo"), CONNECTION)
UNSEEN |= dict.fromkeys(STARTS, PROCESS) | dict.fromkeys(("os.listdir", "os.scandir"), NAMES)
CHANGED = {"os.rename": 1, "os.link": 1, "os.symlink": 1, "os.remove": 0, "os.truncate": 0}
LIBRARIES = "safetensors|h5py|onnxruntime|tensorflow|tflite_runtime|jax|orbax|lightgbm|xgboost|catboost|pyarrow|polars|cv2"
IN_CODE = {  # no event tells of these, but what the agent's own code says
    CLOCK: re.compile(r"^\s*(from|import.*)\s(time|datetime)\b", re.MULTILINE),
    LIBRARY: re.compile(rf"^\s*(from|import.*)\s({LIBRARIES})\b|torch\.jit\.load", re.MULTILINE),
}


@dataclass(frozen=True)
class Inputs:
    """Lists what an agent's games depend on."""

    # by path, which is relative below the working folder: the first digits of the SHA-256 of what it read, empty for no
    # file
    files: dict[str, str] = field(default_factory=dict)
    unseen: list[str] = field(default_factory=list)  # what else its moves may depend on, whose changes nobody notices


class Recorder:
    """Notes from now on what this process reads; it cannot be stopped.

    A file counts if it was opened for reading, unless this process wrote it first. Files of libraries, of this project and of
    the system do not count, nor does compiled code, for which its source counts.

    Args:
        own: files and folders that count wherever they are; of these, the files are read at once.
    """

    def __init__(self, own: Collection[str]) -> None:
        self._own, self._folder = tuple(map(os.path.abspath, own)), os.getcwd()
        self._read: dict[str, tuple[Any, str]] = {}  # by path, the state of the file and its hash when it was opened
        self._written, self._unseen, self._imported = set[str](), set[str](), set[Any]()
        for path in filter(os.path.isfile, self._own):
            self._note(path)
        sys.addaudithook(self._hear)

    def inputs(self) -> Inputs:
        """Returns what was read until now; a `ValueError` names a file that somebody else changed after it was read."""
        imported = {getattr(module, "__dict__", {}).get("__file__") for module in list(sys.modules.values())}
        for file in filter(os.path.isfile, map(str, imported - self._imported)):
            self._note(file)
        self._imported |= imported
        files, unseen = dict[str, str](), set(self._unseen)
        for path, (state, digest) in sorted([*self._read.items()]):
            name = Path(path).relative_to(self._folder).as_posix() if _below(path, [self._folder]) else path
            if path not in self._written:
                if _state(path) != state and file_hash(path) != digest:
                    raise _changed(name)
                files[name] = digest
            elif digest:  # otherwise this process made it
                unseen.add(f"{name}, which it also writes")
        return Inputs(files, sorted(unseen))

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        with suppress(Exception):  # an odd argument, which the function itself refuses
            if event in ("open", "sqlite3.connect", "ctypes.dlopen"):
                self._note(arguments[0], arguments[2] if event == "open" else 0)
            elif event in CHANGED:
                self._written.add(os.path.abspath(os.fsdecode(arguments[CHANGED[event]])))
            elif event in UNSEEN and (UNSEEN[event] != NAMES or self._asked()):
                self._unseen.add(UNSEEN[event])

    def _note(self, file: Any, flags: int = 0) -> None:
        """Notes a file that is opened with these flags of the operating system."""
        path = "" if isinstance(file, int) or not file else os.path.abspath(os.fsdecode(file))
        if "__pycache__" in path:
            path = importlib.util.source_from_cache(path)  # raises an error if it is no code of Python
        if not path or not self._counts(path):
            return
        new = path not in self._read and path not in self._written and not flags & (os.O_WRONLY | os.O_TRUNC | os.O_EXCL)
        if new and (state := _state(path)) != () and (state or path not in sys.path):
            self._read[path] = state, ""  # before it is opened here
            self._read[path] = state, file_hash(path)
            code = Path(path).read_text(encoding="utf-8", errors="replace") if path.endswith(".py") and state else ""
            self._unseen |= {what for what, pattern in IN_CODE.items() if pattern.search(code)}
        if flags & (os.O_WRONLY | os.O_RDWR):
            self._written.add(path)

    def _counts(self, path: str) -> bool:
        return _below(path, self._own) or not (INSTALLED & {*Path(path).parts} or _below(path, _others()))

    def _asked(self) -> bool:
        """Returns whether the agent's own code asks, and not the import system or a library."""
        frame: Any = sys._getframe(2)
        while frame and "importlib" not in (file := frame.f_code.co_filename) and not INSTALLED & {*Path(file).parts}:
            if not file.startswith("<") and self._counts(os.path.abspath(file)):
                return True
            frame = frame.f_back
        return False


def changed_since(found: Iterable[Inputs]) -> set[tuple[str, str]]:
    """Returns the files that are no longer as they were read, with their hashes then."""
    pairs = {pair for inputs in found for pair in inputs.files.items()}
    now = {path: file_hash(path) for path in dict(pairs)}
    return {(path, digest) for path, digest in pairs if now[path] != digest}


def joined(found: Iterable[Mapping[str, Inputs]]) -> dict[str, Inputs]:
    """Joins what agents read, by their specs; raises a `ValueError` that names a file that is not the same everywhere."""
    files, together = dict[str, str](), dict[str, Inputs]()
    for spec, inputs in (pair for one in found for pair in one.items()):
        if other := [path for path, digest in inputs.files.items() if files.setdefault(path, digest) != digest]:
            raise _changed(other[0])
        before = together.get(spec, Inputs())
        together[spec] = Inputs(before.files | inputs.files, sorted({*before.unseen, *inputs.unseen}))
    return together


def unseen(found: Iterable[Mapping[str, Inputs]]) -> dict[str, list[str]]:
    """Returns what the moves of agents may depend on that nobody notices, by their specs, where there is something."""
    return {spec: inputs.unseen for spec, inputs in joined(found).items() if inputs.unseen}


def published_names(files: Mapping[str, str]) -> dict[str, str]:
    """Returns the hashes of the files that exist, by names that tell nothing of this machine.

    A name is a path from the working folder or a folder of `sys.path`; for other files, the hash and the name.
    """
    found = dict[str, str]()
    for path, digest in sorted(files.items()):
        home = next((home for home in sys.path if home and Path(path).is_relative_to(home)), None)
        outside = Path(path).relative_to(home).as_posix() if home else f"{digest}/{Path(path).name}"
        found |= {outside if Path(path).is_absolute() else path: digest} if digest else {}
    return found


def _changed(name: str) -> ValueError:
    return ValueError(f"{name} changed while the games were played: call the same command again, and leave its files alone")


def _below(path: str, places: Iterable[str]) -> bool:
    return any(path == place or path.startswith(os.path.join(place, "")) for place in places)


def _state(path: str) -> Any:
    """Returns what changes when a file is written; None if there is no such file, empty if it is not a regular one."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino) if stat.S_ISREG(found.st_mode) else ()


@cache
def _others() -> list[str]:
    """Returns the folders of files that belong to no agent."""
    python = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), os.path.dirname(os.__file__)]
    project = [os.path.dirname(os.path.abspath(package.__file__ or "")) for package in (euphoria_env, euphoria_agents)]
    return [*SYSTEM, *python, *project, *([str(cache_directory())] if cache_directory() else [])]
