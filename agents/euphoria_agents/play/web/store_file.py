"""Prepares the file of the store, once it is found to be one of ours; any other file is left as it is."""

from __future__ import annotations

import os
import stat
from pathlib import Path

APPLICATION = int.from_bytes(b"Euph", "big")  # in the header of our files, as SQLite's `application_id`
VERSION = 5  # of the tables


def prepare(path: Path) -> None:
    """Makes the file if it does not exist; lets only its owner read it, and the files that SQLite puts beside it.

    Raises:
        ValueError: there is no folder for it, or it is something else.
    """
    beside = [path.with_name(f"{path.name}{suffix}") for suffix in ("-wal", "-shm", "-journal")]
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} for {path.name}")
    new = not os.path.lexists(path)
    if not new:
        _check_ours(path)
    if new or not path.stat().st_size:
        if taken := [file for file in beside if os.path.lexists(file)]:
            raise ValueError(f"{path} cannot be made beside {taken[0].name}, which belongs to another file")
    if new:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    for file in (path, *beside):
        if file.is_file():
            file.chmod(0o600)


def _check_ours(path: Path) -> None:
    """Checks that a file is empty or was made by a server of this version, without changing it.

    Raises:
        ValueError: it is not, or cannot be written.
    """
    if not path.is_file():
        raise ValueError(f"{path} is not a file")
    if not path.stat().st_mode & stat.S_IWUSR or not os.access(path, os.W_OK):
        raise ValueError(f"{path} is read-only")
    if not path.stat().st_size:
        return
    with path.open("rb") as file:
        head = file.read(100)
    version, application = (int.from_bytes(head[at : at + 4], "big") for at in (60, 68))
    if not head.startswith(b"SQLite format 3\0") or application != APPLICATION:
        raise ValueError(f"{path} is not a file of `euphoria serve`; nothing in it is changed")
    if version != VERSION:
        raise ValueError(f"{path} is of version {version}; this is version {VERSION}")
