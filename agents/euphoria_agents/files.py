"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LEFT_OVER_AFTER = 60.0  # seconds without a change; a process that cannot be seen here may share the folder, and be at work


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Gives a place beside a file to write to, and renames it in the end; missing folders are made.

    Raises:
        OSError: it cannot be written; names the file, which is then what it was before.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_left_over(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with _named(path):
            yield beside
            with beside.open("rb+") as written:
                os.fsync(written.fileno())  # a name must never be on the disk before its content
            beside.chmod(0o666 & ~_umask())  # as other files; some libraries write for their owner alone
            os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Lets what is told of a full disk name the file."""
    try:
        yield
    except OSError as error:
        raise OSError(f"{path} cannot be written: {error.strerror or error}") from error


def _remove_left_over(path: Path) -> None:
    """Removes what writers of this file left that were killed."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.new"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > LEFT_OVER_AFTER and _has_ended(left.suffixes[-2][1:]):
                left.unlink()


def _has_ended(process: str) -> bool:
    """Whether there is no process of this number here, as far as can be told."""
    if not process.isdecimal() or sys.platform == "win32":  # which has no harmless signal
        return False
    try:
        os.kill(int(process), 0)
    except PermissionError:  # it is somebody else's
        return False
    except (ProcessLookupError, OverflowError):
        return True
    return False


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
    """Appends a line in one piece, after a torn one on a new line.

    Raises:
        OSError: it cannot be written; names the file.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with _named(file), file.open("ab+") as stream:
        if stream.tell():
            stream.seek(-1, os.SEEK_END)
            line = "\n" * (stream.read() != b"\n") + line
        stream.write(f"{line}\n".encode())
        stream.flush()
        os.fsync(stream.fileno())


def keep_to(folder: Path, plan: dict[str, Any]) -> None:
    """Notes in a folder what is asked there, so that nothing else is answered in it.

    Args:
        folder: made, if it is not there.
        plan: what is asked, by name, as JSON has it.

    Raises:
        ValueError: something else was asked there before, or its note is damaged; says what is other.
        OSError: it cannot be written.
    """
    path = folder / "plan.json"
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is no folder: choose another --out")
    try:
        before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else plan
        other = [name for name, value in plan.items() if before.get(name) != value]
    except (ValueError, AttributeError):
        raise ValueError(f"{path} is damaged: choose another --out, or delete the folder") from None
    if other:
        raise ValueError(f"{folder} holds what came of another {', '.join(other)}: choose another --out, or delete it")
    write_whole(path, json.dumps(plan, indent=1) + "\n")
