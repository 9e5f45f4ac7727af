"""Notes what an agent's process reads, so that a result knows what it came from."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import site
import stat
import sys
import sysconfig
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial, wraps
from pathlib import Path
from typing import Any

import euphoria_agents
import euphoria_env
from euphoria_agents.files import file_hash
from euphoria_env.engine.cache_files import cache_directory

OF_PYTHON = ("importlib", "multiprocessing", "subprocess.py", "tempfile.py")  # its modules that look for files of their own
SYSTEM = ("/etc", "/proc", "/sys", "/usr/lib", "/usr/share")
CLOCK, CONNECTION, PROCESS, COMPILED = "a clock", "a network connection", "other processes", "compiled code that it calls"
LIBRARY, NAMES = "files that a compiled library opens by itself", "the names of the files in a folder"
TOLD = {CLOCK, CONNECTION, LIBRARY}  # with these alone, kept games are used again, and commands warn
# By event (docs.python.org/3/library/audit_events.html): what its cause depends on, or which arguments are files that change.
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn")
UNSEEN = dict.fromkeys(("socket.connect", "socket.sendto", "socket.getaddrinfo"), CONNECTION)
UNSEEN |= dict.fromkeys((*STARTS, "fork_exec"), PROCESS) | dict.fromkeys(("os.listdir", "os.scandir"), NAMES)
UNSEEN |= dict.fromkeys(("ctypes.dlopen", "ctypes.dlsym"), COMPILED)
CHANGED = {"os.rename": (0, 1), "os.link": (1,), "os.remove": (0,), "os.truncate": (0,), "os.rmdir": (0,)}
LOOKS = ("stat", "lstat", "access", "readlink", "open")  # of `os`: no event tells of these, or not of the folder `dir_fd`
LIBRARIES = "safetensors|h5py|onnxruntime|tensorflow|tflite_runtime|jax|orbax|lightgbm|xgboost|catboost|pyarrow|polars|cv2"
READS = {"open", "sqlite3.connect", "ctypes.dlopen", "os.rename", "os.link"}  # the first argument
HEARD = READS | CHANGED.keys() | UNSEEN.keys() | {"os.mkdir"}
ABOUT, ENVIRONMENT = "about//", "environment//"  # in names of `Inputs.files`
COMPILED_FILES, EXTENSIONS = (".pyc", ".nbi", ".nbc"), (".so", ".pyd")
IN_CODE = {  # no event tells of these, but what the agent's own code says
    CLOCK: re.compile(r"^\s*(from|import.*)\s(time|datetime)\b|\bst_[acm]time|\bget[acm]time\b", re.MULTILINE),
    COMPILED: re.compile(r"^\s*(from|import.*)\s(posix|nt|cffi|_ctypes)\b|torch\.([\w.]+\.)?from_file", re.MULTILINE),
    LIBRARY: re.compile(rf"^\s*(from|import.*)\s({LIBRARIES})\b|torch\.jit\.load", re.MULTILINE),
}


@dataclass(frozen=True)
class Inputs:
    """Lists what an agent's games depend on.

    Attributes:
        files: the first digits of the SHA-256 of what it read, empty for nothing, by path, which is relative below the working
            folder. "about//" stands before a path of which it asked only whether there is a file, how large it is, or where a
            link leads, and "environment//" before the name of a variable.
        unseen: what else its moves may depend on, whose changes nobody notices.
    """

    files: dict[str, str] = field(default_factory=dict)
    unseen: list[str] = field(default_factory=list)


class Recorder:
    """Notes from now on what this process reads; it cannot be stopped.

    A file counts if it was opened for reading, unless this process wrote it first. Files of libraries, of this project and of
    the system do not count, nor does compiled code, for which its source counts. What is asked about files, and variables, count
    if the agent's own code asks.

    Args:
        own: files and folders that count wherever they are; of these, the files are read at once.
    """

    def __init__(self, own: Collection[str]) -> None:
        self._own, self._folder, self._environment = tuple(map(_absolute, own)), os.getcwd(), dict(os.environ)
        self._read: dict[str, tuple[Any, str]] = {}  # by name, the state of the file and the hash when it was opened
        self._variables: dict[str, str] = {}
        self._written, self._unseen, self._imported = set[str](), set[str](), set[Any]()
        self._made = set[str]()  # new folders, in which everything is of this process
        self._is_own, self._thread, self._main = cache(self._counts), threading.local(), threading.get_ident()
        for path in filter(os.path.isfile, self._own):
            self._note(path)
        sys.addaudithook(self._hear)
        for name in LOOKS:
            self._watch(os, name, partial(self._look, name))
        for name in ("__getitem__", "__iter__"):
            self._watch(type(os.environ), name, lambda _, name="": self._look_up(os.fsdecode(name)))
        with suppress(ImportError):
            self._watch(importlib.import_module("_posixsubprocess"), "fork_exec", lambda *_: self._heard("fork_exec"))

    def inputs(self) -> Inputs:
        """Returns what was read until now; a `ValueError` names a file that somebody else changed after it was read."""
        self._thread.noting = True  # what follows is not noted itself, which would take long
        try:
            return self._found()
        finally:
            self._thread.noting = False

    def _found(self) -> Inputs:
        imported = {getattr(module, "__dict__", {}).get("__file__") for module in list(sys.modules.values())}
        for file in filter(os.path.isfile, map(str, imported - self._imported)):
            self._note(file)
        self._imported |= imported
        files, unseen = dict(self._variables), set(self._unseen)
        for full, (state, digest) in sorted([*self._read.items()]):
            about, path = _parts(full)
            name = about + (Path(path).relative_to(self._folder).as_posix() if _below(path, [self._folder]) else path)
            written, same = path in self._written or _below(path, self._made), _state(path) == state or _now(full) == digest
            if written and digest in ("", FOLDER):
                continue  # this process made it
            if written or (about and not digest and not same):  # in compiled code
                unseen.add(f"{name.removeprefix(about)}, which it also writes")
            elif not same:
                raise _changed(name)
            else:
                files[name] = digest
        return Inputs(files, sorted(unseen))

    def _watch(self, home: Any, name: str, heard: Callable[..., None]) -> None:
        """Replaces a function, of whose calls no event tells, by one that calls `heard` first."""
        real = getattr(home, name)

        @wraps(real)
        def watched(*arguments: Any, **named: Any) -> Any:
            self._quietly(heard, *arguments, **named)
            return real(*arguments, **named)

        watched.__module__ = home.__name__  # where pickle looks for it
        setattr(home, name, watched)
        for supported in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids):
            supported |= {watched} if real in supported else set()  # which other modules ask

    def _quietly(self, heard: Callable[..., None], *arguments: Any, **named: Any) -> None:
        """Notes something, but not what the noting does itself; an odd argument is for the function to refuse."""
        if not getattr(self._thread, "noting", False):
            self._thread.noting = True
            with suppress(Exception):
                heard(*arguments, **named)
            self._thread.noting = False

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in HEARD:
            self._quietly(self._heard, event, *arguments)

    def _heard(self, event: str, *arguments: Any) -> None:
        """Notes an event of the interpreter."""
        if (what := UNSEEN.get(event)) and (what == CONNECTION or self._asked(through_libraries=what == PROCESS)):
            self._unseen.add(what)
        if event in READS:
            self._note(arguments[0], arguments[2] if event == "open" else 0)
        if event == "os.mkdir" and not os.path.lexists(path := _absolute(arguments[0])):
            self._made.add(path)
        for k in CHANGED.get(event, ()):
            self._written.add(_absolute(arguments[k]))

    def _look(self, function: str, path: Any, *arguments: Any, dir_fd: int | None = None, **named: Any) -> None:
        """Notes that a function of `os` is called with a path."""
        folder = "" if dir_fd is None else os.readlink(f"/proc/self/fd/{dir_fd}")
        path = "" if isinstance(path, int) else _absolute(os.path.join(folder, os.fsdecode(path)))
        about = ABOUT + path
        if function == "open":
            if folder:
                self._note(path, arguments[0] if arguments else named["flags"])
        elif path and about not in self._read and path not in self._written and not _below(self._folder, [path]):
            if self._asked() and self._counts(path):
                self._read[about] = ..., _now(about)

    def _look_up(self, variable: str) -> None:
        """Notes that an environment variable is read; "": that all names are."""
        if self._asked():
            self._variables[ENVIRONMENT + variable] = _variable(variable, self._environment)

    def _note(self, file: Any, flags: int = 0) -> None:
        """Notes a file that is opened with these flags of the operating system."""
        path = "" if isinstance(file, int) or not file else _absolute(file)
        if "__pycache__" in path and path.endswith(COMPILED_FILES):
            path = importlib.util.source_from_cache(path)  # raises an error if it is no code of Python
        if not path or not self._counts(path):
            return
        new = path not in self._read and path not in self._written and not flags & (os.O_WRONLY | os.O_TRUNC | os.O_EXCL)
        if new and (state := _state(path)) != () and (state or path not in sys.path):
            self._read[path] = state, file_hash(path)
            code = Path(path).read_text(encoding="utf-8", errors="replace") if path.endswith(".py") and state else ""
            self._unseen |= {what for what, pattern in IN_CODE.items() if pattern.search(code)}
            self._unseen |= {LIBRARY} if state and path.endswith(EXTENSIONS) else set()
        if flags & (os.O_WRONLY | os.O_RDWR):
            self._written.add(path)

    def _counts(self, path: str) -> bool:
        return _below(path, self._own) or not _below(os.path.realpath(path), (*self._made, *_libraries(), *_system()))

    def _asked(self, through_libraries: bool = False) -> bool:
        """Returns whether the agent's own code asks, and not the import system, this project or, as a rule, a library."""
        frame: Any = sys._getframe(1)
        while frame and frame.f_code.co_filename == __file__:
            frame = frame.f_back
        while frame:
            file = frame.f_code.co_filename
            if not file.startswith("<") and self._is_own(os.path.abspath(file)):
                return True
            if file.startswith("<frozen importlib") or (not through_libraries and _below(os.path.realpath(file), _libraries())):
                return False
            frame = frame.f_back
        return threading.get_ident() != self._main  # a thread of its own, in which Python's code calls


def changed_since(found: Iterable[Inputs]) -> set[tuple[str, str]]:
    """Returns the files that are no longer as they were read, with their hashes then."""
    pairs = {pair for inputs in found for pair in inputs.files.items()}
    now = {name: _now(name) for name in dict(pairs)}
    return {(name, digest) for name, digest in pairs if now[name] != digest}


def unsure(found: Iterable[Inputs]) -> list[str]:
    """Returns what the moves of agents may depend on so that their games must be played again, since nobody notices changes."""
    return sorted({what for inputs in found for what in inputs.unseen} - TOLD)


def check_sure(place: str | Path, found: Iterable[Inputs]) -> None:
    """Raises a `ValueError` that names the place of games whose agents may depend on something whose changes nobody notices."""
    if what := unsure(found):
        raise ValueError(
            f"{place} is not used again, since its agents may depend on {', '.join(what)}, whose changes nobody notices: choose "
            "another --out, or delete it"
        )


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
        found |= {outside if Path(path).is_absolute() else path: digest} if digest and not _parts(path)[0] else {}
    return found


def absolute_name(name: str) -> str:
    """Returns a name of `Inputs.files` with an absolute path."""
    about, what = _parts(name)
    return name if about == ENVIRONMENT else about + os.path.abspath(what)


def _changed(name: str) -> ValueError:
    return ValueError(f"{name} changed while the games were played: call the same command again, and leave its files alone")


def _parts(name: str) -> tuple[str, str]:
    """Splits a name of `Inputs.files` into its mark ("about//", "environment//" or nothing) and the path or variable."""
    about = next((about for about in (ABOUT, ENVIRONMENT) if name.startswith(about)), "")
    return about, name.removeprefix(about)


def _now(name: str) -> str:
    """Returns the hash that a name of `Inputs.files` has now."""
    about, what = _parts(name)
    if about == ENVIRONMENT:
        return _variable(what, os.environ)
    if not about:
        return file_hash(what)
    text = ""
    with suppress(OSError):
        text = os.readlink(what)
    with suppress(OSError):
        found = os.stat(what)
        text += " folder" if stat.S_ISDIR(found.st_mode) else f" {found.st_size}"
    return _short(text) if text else ""


def _variable(name: str, environment: Mapping[str, str]) -> str:
    """Returns the hash of an environment variable, empty if it is not set; without a name that of all names."""
    text = environment.get(name) if name else "\n".join(sorted(environment))
    return "" if text is None else _short(text)


def _short(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:16]


FOLDER = _short(" folder")


def _absolute(path: Any) -> str:
    """Returns an absolute path; in place of a name for what a process has open, the real one."""
    found = os.path.abspath(os.fsdecode(path))
    return os.path.realpath(found) if found.startswith(("/proc/", "/dev/")) else found


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
def _libraries() -> list[str]:
    """Returns the folders of installed packages and of this project, and `OF_PYTHON`."""
    python = [os.path.join(os.path.dirname(os.__file__), name) for name in OF_PYTHON]
    project = [os.path.dirname(os.path.abspath(package.__file__ or "")) for package in (euphoria_env, euphoria_agents)]
    installed = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), site.getusersitepackages()]
    return [os.path.realpath(folder) for folder in (*python, *project, *installed, *site.getsitepackages())]


@cache
def _system() -> list[str]:
    """Returns other folders of files that belong to no agent."""
    python = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), os.path.dirname(os.__file__)]
    return [os.path.realpath(folder) for folder in (*SYSTEM, *python, *map(str, filter(None, [cache_directory()])))]
