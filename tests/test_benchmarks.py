"""The benchmarks run and write what they should; how fast anything is, no test asks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rich")
FOLDER = Path(__file__).parent.parent / "benchmarks"


def call(script: str, *arguments: Any, code: int = 0) -> str:
    done = subprocess.run([sys.executable, str(FOLDER / script), *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_help() -> None:
    for script in ("run.py", "compare.py", "peers.py", "playouts.py"):
        assert "--help" in call(script, "--help")
    assert "--players are 2 to 6" in call("run.py", "--players", 7, code=2)


def test_playouts_are_counted() -> None:
    text = call("playouts.py", "--playouts", 3)
    rows = [line.split()[0] for line in text.splitlines()[1:] if not line.startswith("euphoria_env:")]  # which tells of compiling
    assert rows == ["start", "turn", "start,"]


@pytest.mark.slow
def test_every_layer_runs_and_is_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found, drawing = tmp_path / "new" / "found.json", tmp_path / "found.png"
    tiny = ("--quick", "--players", 2, "--sizes", 1, 3, "--seconds", 0.001, "--repeats", 2)
    text = call("run.py", *tiny, "--json", found, "--plot", drawing)
    assert "engine" in text and drawing.read_bytes().startswith(b"\x89PNG")

    written = json.loads(found.read_text())
    assert {"python", "numpy", "numba", "euphoria-env"} <= set(written["versions"])
    assert written["machine"]["cores"] and written["options"]["sizes"] == [1, 3] and written["date"]
    layers = {row["layer"] for row in written["results"]}
    wanted = {"engine", "batch, mask", "vector env", "Game.play(id)", "Game.clone", "AEC raw", "AEC empty wrapped"}
    assert wanted | {"memory, state"} <= layers
    assert {row["n"] for row in written["results"] if row["layer"] == "batch, mask"} == {1, 3}
    for row in written["results"]:
        assert row["median"] > 0 and row["unit"] and row["players"] == 2
        assert len(row["values"]) == (1 if row["unit"] == "bytes" else 2)

    text = call("compare.py", found, found, "--fail-below", 0.99)
    assert "1.00" in text and "AEC raw" in text
    for row in written["results"]:
        row["values"] = [value * (0.5 if row["unit"].endswith("/s") else 2) for value in row["values"]]
    slower = tmp_path / "slower.json"
    slower.write_text(json.dumps(written))
    assert "are below 0.9" in call("compare.py", found, slower, "--fail-below", 0.9, code=1)
    assert "2.00" in call("compare.py", slower, found)


def test_compare_refuses_what_is_no_benchmark(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}")
    assert "is no benchmark" in call("compare.py", other, other, code=1)
    assert "cannot be read" in call("compare.py", tmp_path / "none.json", other, code=1)


@pytest.mark.slow
def test_a_peer_that_cannot_be_installed_is_left_out(tmp_path: Path) -> None:
    """No network here: the environment of the peer is there, but nothing is in it."""
    home = tmp_path / "rlcard"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    (home / ".installed").touch()
    found = tmp_path / "peers.json"
    few = ("--seconds", 0.001, "--repeats", 1, "--players", 2)
    text = call("peers.py", "--peers", "rlcard", "--folder", tmp_path, "--json", found, *few)
    assert "rlcard left out" in text
    written = json.loads(found.read_text())
    assert list(written["left_out"]) == ["rlcard"]
    assert {row["peer"] for row in written["results"]} == {"euphoria-env"}
