"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import glob
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LEFT_OVER_AFTER = 3600.0  # seconds; no file takes as long to write


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Gives a place beside a file to write to, and renames it in the end; missing folders are made."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_left_over(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        yield beside
        with beside.open("rb+") as written:
            os.fsync(written.fileno())  # a name must never be on the disk before its content
        beside.chmod(0o666 & ~_umask())  # as other files; some libraries write for their owner alone
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def _remove_left_over(path: Path) -> None:
    """Removes what writers of this file left that were killed long ago."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.new"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > LEFT_OVER_AFTER:
                left.unlink()


def _umask() -> int:
    """The permissions that new files do not get; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Writes a text or bytes."""
    with whole_file(path) as beside:
        beside.write_bytes(content if isinstance(content, bytes) else content.encode())


def append_line(file: Path, line: str) -> None:
    """Appends a line in one piece, after a torn one on a new line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab+") as stream:
        if stream.tell():
            stream.seek(-1, os.SEEK_END)
            line = "\n" * (stream.read() != b"\n") + line
        stream.write(f"{line}\n".encode())
        stream.flush()
        os.fsync(stream.fileno())
