"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Gives a place beside a file to write to, and renames it in the end; missing folders are made."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        yield beside
        with beside.open("rb+") as written:
            os.fsync(written.fileno())  # a name must never be on the disk before its content
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


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
