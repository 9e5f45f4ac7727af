"""Commands print names as they are, whatever the terminal can show, and after the results are saved."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from euphoria_agents.commands import speed
from euphoria_agents.commands.serve import address
from euphoria_agents.commands.tables import Column, ResultTable
from euphoria_agents.progress import Progress
from euphoria_agents.speed.measure import Measurement
from tests.tools.commands import PATHS, euphoria

ROOT = Path(__file__).parent.parent
MARKUP = "[bold]x[/] [::1] [/nothing] :smile:"
RECORD = ROOT / "tests" / "golden" / "2_players.record"
EVALUATE = ["evaluate", "--agent", "random", "--against", "random", "--games", "2", "--max-turns", "3", "--processes", "1"]
TOURNAMENT = ["tournament", "--agents", "mine:Loud", "random", "--games", "2", "--max-turns", "3", "--processes", "1"]
LOUD = """
class Loud:
    def act(self, observation, mask, rng):
        print("\\u00b1\\u4e2d\\udc80")
        return int(mask.argmax())
"""


def test_a_bar_and_a_table_show_names_as_they_are() -> None:
    console = Console(file=(written := io.StringIO()), force_terminal=True, emoji=False, markup=False, width=200)
    with Progress(console, MARKUP, "games", 2) as progress:
        progress.show(1, MARKUP)
        console.print(MARKUP)
    ResultTable(MARKUP, [Column(MARKUP)], [[MARKUP]]).show(console)
    plain = "".join(part.partition("m")[2] if k else part for k, part in enumerate(written.getvalue().split("\x1b[")))
    assert plain.count("[bold]x[/]") >= 5 and plain.count(":smile:") >= 5
    assert address("::1", 80) == "http://[::1]:80/"


def run_with(encoding: str, words: list[str], folder: Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": PATHS, "PYTHONIOENCODING": encoding, "NUMBA_DISABLE_JIT": "1"}
    options = {"stdout": subprocess.PIPE, **options}
    command = [sys.executable, "-m", "euphoria_agents", *words]
    return subprocess.run(command, cwd=folder, env=environment, stderr=subprocess.PIPE, **options)


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("ascii", [*EVALUATE, "--out", "r\u4e2d\udc80"]),
        ("utf-8:strict", [*EVALUATE, "--out", "r\u4e2d\udc80"]),
        ("latin-1:strict", [*TOURNAMENT, "--out", "results"]),
        ("ascii", ["replay", str(RECORD), "--every", "turn"]),
        ("ascii", ["evaluate", "--help"]),
        ("ascii", ["train", "--help"]),
        ("ascii", ["--help"]),
    ],
    ids=lambda one: one if isinstance(one, str) else "-".join(one[:1]),
)
def test_no_output_fails_by_its_encoding(encoding: str, words: list[str], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(LOUD)
    done = run_with(encoding, words, tmp_path)
    assert done.returncode == 0 and done.stdout, done.stderr.decode(errors="replace")
    done.stdout.decode("latin-1" if "latin" in encoding else encoding.partition(":")[0])
    if "--out" in words:
        assert json.loads((tmp_path / words[-1] / "results.json").read_text())


ANALYSE = ["analyse", str(RECORD), "--agent", "random", "--processes", "1", "--out"]


@pytest.mark.parametrize(
    ("words", "file"),
    [
        ([*EVALUATE, "--out"], "results.json"),
        ([*TOURNAMENT, "--out"], "table.md"),
        (["speed", "--json"], ""),
        (ANALYSE, ""),
    ],
    ids=lambda one: one[0] if isinstance(one, list) else None,
)
def test_results_are_saved_before_they_are_printed(
    words: list[str], file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError("nobody reads")

    (tmp_path / "mine.py").write_text(LOUD)
    monkeypatch.setattr(ResultTable, "show", fail)
    measured = [Measurement("batch", 2, 64, "decisions/s", [1.0])]
    monkeypatch.setattr(speed, "measure", lambda players, options, results: results.extend(measured) or [])
    status, _, told = euphoria(*words, "out", cwd=tmp_path)
    assert status == 2 and "nobody reads" in told and (tmp_path / "out" / file).exists()
