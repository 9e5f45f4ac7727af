"""Files that are there whole or not at all: on a full disk, and after writers that were killed."""

from __future__ import annotations

import errno
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from euphoria_agents import load, play_match
from euphoria_agents.commands import speed
from euphoria_agents.files import LEFT_OVER_AFTER, append_line, whole_file, write_whole
from euphoria_agents.speed.measure import Measurement, write

PATHS = os.pathsep.join(filter(None, sys.path))


def write_checkpoint(path: Path) -> None:
    """Writes a tensor."""
    pytest.importorskip("safetensors")
    from euphoria_agents.network.checkpoint import write_tensors

    write_tensors(path, "a kind", {"a": np.zeros(1)}, {})


def plot(path: Path) -> None:
    """Draws a figure."""
    pytest.importorskip("matplotlib")
    speed.plot([Measurement("a layer", 2, n, "calls/s", [1.0]) for n in (1, 2)], path)


WRITERS: list[tuple[str, Callable[[Path], Any]]] = [
    ("a.txt", lambda path: write_whole(path, "new")),
    ("a.json", lambda path: write(path, {})),
    ("a.safetensors", write_checkpoint),
    ("a.png", plot),
    ("a.svg", plot),
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
    """Lets no file grow beyond 100 bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


COMMANDS = [
    "evaluate --games 40 --max-turns 20 --processes 1 --out out",
    "evaluate --games 40 --max-turns 20 --processes 2 --records out",
    "tournament --games 40 --max-turns 20 --processes 2 --out out --records out",
    "replay ../a.record --svg out",
    "speed --quick --groups engine --seconds 0.01 --repeats 1 --json out/a.json",
    "train --run out --workers 1 --players 2 --baselines random --envs 4 --rollout 4 --batch 8 --trunk 4 --rating-games 0",
]


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_tells_of_a_full_disk_in_a_line(words: str, tmp_path: Path) -> None:
    if words.startswith("train"):
        pytest.importorskip("sb3_contrib")
    (tmp_path / "a.record").write_text(play_match([load("random")] * 2, 1, records=True).records[0])
    folder = tmp_path / "here"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "euphoria_agents", *words.split()],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": PATHS},
        preexec_fn=small_files,
    )
    told = [line for line in done.stderr.splitlines() if not line.startswith("euphoria_env: compiling")]
    assert done.returncode == 2 and len(told) == 1, done.stderr
    assert re.fullmatch("error: (out/.* cannot be written: .*|.*)File too large.*", told[0])
    assert not [*folder.rglob(".*")]
    assert not [path for path in folder.rglob("*") if path.suffix in (".record", ".svg", ".json", ".safetensors")]


def test_a_line_that_cannot_be_written_names_its_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot be written: Is a directory"):
        append_line(tmp_path, "a")


# ------------------------------------------------------------------------------------------------------- killed writers

KILLED = """
import os, signal, sys
from euphoria_agents.files import whole_file
with whole_file(sys.argv[1]) as beside:
    beside.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def beside(path: Path) -> list[Path]:
    """What lies beside a file."""
    return [file for file in path.parent.iterdir() if file != path]


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_whole(path, "earlier")
    subprocess.run([sys.executable, "-c", KILLED, str(path)], env={**os.environ, "PYTHONPATH": PATHS})
    (left,) = beside(path)
    assert left.read_text() == "half" and path.read_text() == "earlier"
    write_whole(path, "now")
    assert beside(path) == [left], "its process may be one that cannot be seen here"
    long_ago = time.time() - 120
    os.utime(left, (long_ago, long_ago))
    write_whole(tmp_path / "a", "another file")
    write_whole(path, "now")
    assert beside(path) == [tmp_path / "a"] and path.read_text() == "now"


def test_what_a_living_writer_writes_is_left_alone(tmp_path: Path) -> None:
    path, long_ago = tmp_path / "a.json", time.time() - 2 * LEFT_OVER_AFTER
    others = [tmp_path / f".a.json.{name}.new" for name in (os.getppid(), "notes")]
    for other in others:
        other.write_text("theirs")
        os.utime(other, (long_ago, long_ago))
    with whole_file(path) as mine:
        mine.write_text("mine")
    assert sorted(beside(path)) == sorted(others)
