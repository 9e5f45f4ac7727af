"""Files that are there whole or not at all: on a full disk, and after writers that were killed."""

from __future__ import annotations

import errno
import os
import re
import resource
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from euphoria_agents import load, play_match
from euphoria_agents.__main__ import main
from euphoria_agents.benchmark.results import read_result
from euphoria_agents.files import (
    append_line,
    atomic_write,
    check_writable,
    file_hash,
    read_text,
    read_whole,
    write_figure,
    write_whole,
)
from euphoria_agents.speed.measure import write_report
from euphoria_agents.validation import decoded_lines
from tests.tools.commands import PATHS, euphoria
from tests.tools.forking import in_a_fork, needs_fork

checkpoint = pytest.importorskip("euphoria_agents.network.checkpoint")
Figure = pytest.importorskip("matplotlib.figure").Figure
WRITERS: list[tuple[str, Callable[[Path], Any]]] = [
    ("a.txt", lambda path: write_whole(path, "new")),
    ("a.json", lambda path: write_report(path, {})),
    ("a.safetensors", lambda path: checkpoint.write_tensors(path, "a kind", {"a": np.zeros(1)}, {})),
    ("a.png", lambda path: write_figure(path, Figure())),
    ("a.svg", lambda path: write_figure(path, Figure())),
]


@pytest.mark.parametrize(("name", "writer"), WRITERS)
def test_a_full_disk_leaves_the_file_of_before(
    name: str, writer: Callable[[Path], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_text("earlier")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=f"^{re.escape(str(path))} cannot be written: No space left on device$"):
            writer(path)
    assert path.read_text() == "earlier" and [*tmp_path.iterdir()] == [path]
    writer(path)
    assert path.read_bytes() != b"earlier" and [*tmp_path.iterdir()] == [path]


def small_files() -> None:
    """Lets no file grow beyond 100 bytes; compiled modules, which Python would cut off there unnoticed, are not written."""
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


COMMANDS = [
    "evaluate --games 40 --max-turns 20 --processes 1 --out out",
    "tournament --games 40 --max-turns 20 --processes 2 --out out --records out",
    "collect --agents random --games 4 --max-turns 20 --processes 1 --out out",
    "replay ../a.record --svg out",
    "speed --groups engine --seconds 0.01 --repeats 1 --json out/a.json",
    "train --run out --threads 1 --players 2 --baselines random --envs 4 --batch 8 --trunk 4 --rating-games 0",
]


@needs_fork
@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_tells_of_a_full_disk_in_a_line(words: str, tmp_path: Path) -> None:
    for command, library in (("train", "torch"), ("collect", "pyarrow")):
        if words.startswith(command):
            pytest.importorskip(library)
    (tmp_path / "a.record").write_text(play_match([load("random")] * 2, 1, records=True).records[0])
    folder = tmp_path / "here"
    folder.mkdir()

    def run() -> tuple[int, str, str]:
        small_files()
        return euphoria(*words.split(), cwd=folder)

    status, _, said = in_a_fork(run)
    told = [line for line in said.splitlines() if not re.match(r"compiling \w|.*, \d+:\d\d:\d\d$", line)]  # on a slow machine
    assert status == 2 and len(told) == 1, said
    assert re.fullmatch("error: (out/.* cannot be written: .*|.*)File too large.*", told[0])
    assert not [*folder.rglob(".*")]
    assert not [path for path in folder.rglob("*") if path.suffix in (".record", ".svg", ".json", ".safetensors", ".parquet")]


# ------------------------------------------------------------------------------------------------------- killed writers

KILLED = """
import os, signal, sys
from euphoria_agents.files import atomic_write
with atomic_write(sys.argv[1]) as beside:
    beside.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_writer_leaves_the_file_of_before(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for content in ("earlier", "now"):  # what it left beside is in nobody's way
        write_whole(path, content)
        subprocess.run([sys.executable, "-c", KILLED, str(path)], env={**os.environ, "PYTHONPATH": PATHS})
        assert path.read_text() == content


# ------------------------------------------------------------------------------------------------------- links and devices


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "there" / "a.txt", tmp_path / "link"
    link.symlink_to(Path("there") / "a.txt")
    for content in ("dangling at first", "replaced"):
        write_whole(link, content)
        assert link.is_symlink() and target.read_text() == content and not target.is_symlink()
    link.unlink()
    link.symlink_to(link.name)
    with pytest.raises(OSError, match="link cannot be written: Too many levels of symbolic links"):
        write_whole(link, "a loop")


@pytest.mark.parametrize(("name", "writer"), WRITERS)
def test_a_new_file_has_the_usual_mode(name: str, writer: Callable[[Path], Any], tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    writer(tmp_path / name)
    assert (tmp_path / name).stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_the_mode_of_a_file_is_kept_and_other_names_keep_the_old_content(tmp_path: Path) -> None:
    path, other = tmp_path / "a.txt", tmp_path / "b.txt"
    path.touch(0o640)
    other.hardlink_to(path)
    write_whole(path, "now")
    assert path.stat().st_mode & 0o777 == 0o640 and (path.read_text(), other.read_text()) == ("now", "")


def special(kind: str, path: Path) -> None:
    """Makes what is no regular file."""
    if kind == "device":
        if os.geteuid() != 0:
            pytest.skip("only root makes devices")
        try:
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("no devices can be made here")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(path))
    else:
        path.mkdir()


def duel_checked(path: Path) -> None:
    status, _, told = euphoria("benchmark", "duel-v1", "--agent", "random", "--check", path)
    assert status == 2 and told.count("\n") == 1
    raise ValueError(told.removeprefix("error: ").rstrip())


@pytest.mark.parametrize("kind", ["device", "pipe", "socket", "folder"])
@pytest.mark.parametrize("linked", [False, True])
def test_what_is_no_regular_file_is_refused(kind: str, linked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # paths of sockets are short
    path = Path("it")
    special(kind, path)
    before = path.lstat()
    if linked:
        Path("link").symlink_to(path)
        path = Path("link")
    for writer in (*(writer for _, writer in WRITERS), check_writable, lambda path: append_line(path, "a")):
        with pytest.raises(OSError, match=f"^{path} cannot be written: (it is not a regular file|Is a directory)$"):
            writer(path)
        assert Path("it").lstat().st_ino == before.st_ino and Path("it").lstat().st_mode == before.st_mode
    for reader in (read_text, read_whole, lambda path: [*decoded_lines(path, int)], read_result, duel_checked):
        with pytest.raises(ValueError, match=f"^{path}: (not a regular file|Is a directory|No such device or address)$"):
            reader(path)
    with pytest.raises(ValueError, match=f"^{path} cannot be read as a checkpoint: it is not a regular file$"):
        checkpoint.read_tensors(path, "a kind")
    assert file_hash(path) == ""
    assert len([*tmp_path.iterdir()]) == 1 + linked


def test_a_file_that_became_a_pipe_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with pytest.raises(OSError, match="not a regular file"), atomic_write(path) as beside:
        beside.write_text("new")
        os.mkfifo(path)
    assert path.is_fifo() and [*tmp_path.iterdir()] == [path]


def test_what_is_read_has_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with path.open("wb") as file:
        file.truncate(2**40)  # takes no space
    with pytest.raises(ValueError, match=r"a\.txt: larger than 64 MiB$"):
        read_text(path)
    path.write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"a\.txt: not a text file$"):
        read_text(path)
    path.write_text("Zoë", encoding="utf-8")
    assert read_text(path) == "Zoë"
    with pytest.raises(ValueError, match=r"nosuch: no such file$"):
        read_text(tmp_path / "nosuch")


@pytest.mark.parametrize("words", ["analyse a.record --out", "speed --json"])
def test_commands_refuse_what_they_cannot_replace_before_they_begin(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    told = {"pipe": "pipe cannot be written: it is not a regular file", ".": "Is a directory", "": "is empty"}
    for path, message in told.items():
        with pytest.raises(SystemExit) as ended:
            main([*words.split(), path])
        printed = capsys.readouterr().err
        assert ended.value.code == 2 and message in printed and printed.count("\n") == 1
    assert Path("pipe").is_fifo() and len([*tmp_path.iterdir()]) == 1
