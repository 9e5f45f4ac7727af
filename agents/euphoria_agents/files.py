"""Writes files whole or not at all, and reads them up to a limit; touches only regular files."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

MOST_READ = 2**26  # bytes of the largest text that is read


def check_writable(path: str | Path) -> None:
    """Raises an `OSError` that names the path if `atomic_write` would refuse it, before there is anything to write."""
    with _named(path):
        _destination(path)


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Yields the path of a new file to write to, which replaces the file at `path` at the end; makes missing folders.

    A symbolic link stays, and the file it leads to is replaced; the new file gets the mode of the old one.

    Raises:
        OSError: the file cannot be written, and is left as it was; the message names it.
    """
    with _named(path):
        target = _destination(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}.new")
        beside.touch(exist_ok=False)
        mode = beside.stat().st_mode  # which safetensors would change
        try:
            yield beside
            with beside.open("rb+") as written:
                os.fsync(written.fileno())  # the content must be on the disk before the name
            target = _destination(path)  # checked again, since it may have become something else
            with contextlib.suppress(FileNotFoundError):
                mode = target.stat().st_mode
            beside.chmod(stat.S_IMODE(mode))
            os.replace(beside, target)
        finally:
            beside.unlink(missing_ok=True)


@contextmanager
def _named(path: str | Path) -> Iterator[None]:
    """Makes errors of the operating system name the file."""
    try:
        yield
    except OSError as error:
        raise OSError(f"{path} cannot be written: {error.strerror or error}") from error


def _destination(path: str | Path) -> Path:
    """Returns the regular file that a path leads to, through links; it may not exist yet."""
    target = Path(os.path.realpath(path))
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        _nearest(Path(path))
        if os.path.lexists(target):
            raise FileNotFoundError("a link leads back from a folder that does not exist") from None
    else:
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise OSError("it is not a regular file")
        if not mode & stat.S_IWUSR or not os.access(path, os.W_OK):  # root may write anything
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    check_folder(target.parent)
    return target


def check_folder(path: Path) -> None:
    """Raises an `OSError` that names the path if there is no folder for new files and none can be made."""
    there = _nearest(path)
    if not there.is_dir():
        raise NotADirectoryError(f"{there} is not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise PermissionError(f"nothing can be written in {there}")


def _nearest(path: Path) -> Path:
    """Returns the path, or the nearest folder above it, that exists; raises an `OSError` for a `..` below that."""
    for one in (path, *path.absolute().parents):
        if os.path.lexists(one):
            break
        if one.name == "..":  # programs differ about where that is
            raise FileNotFoundError(f"{one} leads back from a folder that does not exist")
    return one


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Writes a text or bytes by `atomic_write`."""
    with atomic_write(path) as beside:
        beside.write_bytes(content if isinstance(content, bytes) else content.encode())


def write_figure(path: Path, figure: Any) -> None:
    """Writes a figure of matplotlib in the format of the suffix, by default as PNG; it says that this project has drawn it."""
    form = path.suffix[1:] or "png"
    with atomic_write(path) as beside:
        figure.savefig(beside, format=form, metadata={"Software" if form == "png" else "Creator": "euphoria-env"})


def read_text(path: str | Path) -> str:
    """Reads a text of at most `MOST_READ` bytes; raises a `ValueError` that names the file if it cannot."""
    try:
        return read_whole(path, MOST_READ).decode()
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file") from None


def read_whole(path: str | Path, most: int | None = None) -> bytes:
    """Reads the bytes of a regular file, at most `most`; raises a `ValueError` that names the file if it cannot."""
    try:
        with _opened(path) as file:
            content = file.read(-1 if most is None else most + 1)
    except OSError as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else error.strerror or error
        raise ValueError(f"{path}: {why}") from None
    if most is not None and len(content) > most:
        raise ValueError(f"{path}: larger than {most >> 20} MiB")
    return content


def file_hash(path: str | Path) -> str:
    """Returns the first 16 digits of the SHA-256 of a file; empty if it cannot be read."""
    with contextlib.suppress(OSError), _opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    return ""


@contextmanager
def _opened(path: str | Path) -> Iterator[BufferedReader]:
    """Opens a file to read it; raises an `OSError` if it is not a regular file."""
    with open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("not a regular file")
        yield file


def _without_waiting(path: str, flags: int) -> int:
    """Opens a file without blocking; a named pipe would otherwise wait for a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def append_line(file: Path, line: str) -> None:
    """Appends a line and waits until it is on the disk; if the last line has no end, begins a new one.

    Raises:
        OSError: the file cannot be written; the message names it.
    """
    check_writable(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    with _named(file), file.open("ab+") as stream:
        if stream.tell():
            stream.seek(-1, os.SEEK_END)
            line = "\n" * (stream.read() != b"\n") + line
        stream.write(f"{line}\n".encode())
        stream.flush()
        os.fsync(stream.fileno())
