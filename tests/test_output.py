"""Commands print names unchanged, whole tables and progress, and never replace certain files."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from euphoria_agents import progress
from euphoria_agents.__main__ import main
from euphoria_agents.commands import COMMANDS, imported, speed
from euphoria_agents.commands.evaluate import match_report
from euphoria_agents.commands.serve import address
from euphoria_agents.commands.tables import Column, ResultTable
from euphoria_agents.dataclass_arguments import parse_options
from euphoria_agents.progress import EVERY, Progress
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


# ------------------------------------------------------------------------------------------------------ the output of commands


SPEC = "my_agents:A_search_agent_with_a_long_name:/some/where/else/ppo.safetensors"
FIGURES = ["49.2%", "44.0-54.5", "43.6-54.9", "1.52 ±0.06", "400", "0", "0.19", "0.008"]


@pytest.mark.parametrize("width", [None, 100, 60, 40])
@pytest.mark.parametrize("agent", ["ppo", SPEC])
def test_no_figure_and_no_name_is_cropped_or_broken(width: int | None, agent: str) -> None:
    table = match_report("4 players")
    table.rows += [[agent, "3 x weights", *FIGURES], [agent, f"3 x {SPEC}", *FIGURES]]
    lines = table.lines(width)
    text = "\n".join(lines)
    assert text.count(SPEC) == (1 if agent == "ppo" else 3)
    rows = [[figure for figure in FIGURES if figure in re.split(r" {2,}", line.strip())] for line in lines]
    shown = max(rows, key=len)
    assert rows.count(shown) == 2 and shown == [figure for figure in FIGURES if figure in shown]
    if width is None:
        assert shown == FIGURES and len(lines) == 7, "each row is one line"
    else:
        assert all(len(line) <= width or SPEC in line for line in lines)
        left_out = re.search(rf"\(not shown in {width} columns: (.*)\)", text.replace("\n", " "))
        assert (shown == FIGURES) == (left_out is None) and {"49.2%", "43.6-54.9"} <= {*shown}
        assert left_out is None or len(left_out[1].split(", ")) == len(FIGURES) - len(shown)


@pytest.mark.parametrize(("command", "columns"), [("evaluate --against random --seed 0", "60"), ("tournament", None)])
def test_commands_print_whole_tables(command: str, columns: str | None, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    main(f"{command} --games 40 --max-turns 20 --processes 1 --players 4".split())
    printed = capsys.readouterr().out
    assert re.search(r"\d\.\d\d ±\d\.\d\d( |$)", printed, re.MULTILINE)
    assert columns is None or max(map(len, printed.splitlines())) <= int(columns)


# ------------------------------------------------------------------------------------------------------------- progress


def test_without_a_terminal_there_is_a_line_every_30_seconds(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    console, ended, now = Console(file=io.StringIO()), threading.Event(), [1000.0]
    meanwhile = [lambda: None, lambda: bar.advance(100), lambda: bar.show(200, "going well")]

    def wait(seconds: float) -> bool:
        """Takes its time at once, and does something meanwhile."""
        assert seconds == EVERY
        if not meanwhile:
            ended.set()
            return True
        now[0] += seconds
        meanwhile.pop(0)()
        return False

    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    bar = Progress(console, "playing", "games", 1000)
    monkeypatch.setattr(bar, "_over", SimpleNamespace(wait=wait, set=lambda: None))
    with bar:
        assert ended.wait()
    assert capsys.readouterr().err.splitlines() == [
        "playing: 0 of 1,000 games, 0:00:30",
        "playing: 100 of 1,000 games, 0:01:00",
        "playing: 200 of 1,000 games (going well), 0:01:30, about 0:04:00 left",
    ]
    assert console.file.getvalue() == ""  # type: ignore[attr-defined]


def test_a_terminal_has_a_bar_that_vanishes(capsys: Any) -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with Progress(console, "playing", "games", 10) as progress:
        progress.advance(3)
    assert "3 of 10 games" in console.file.getvalue()  # type: ignore[attr-defined]
    assert capsys.readouterr().err == ""


# ------------------------------------------------------ no output of a command replaces a file that it reads, by whatever path


def other_paths(path: Path) -> list[Path | str]:
    """Paths of the same file."""
    folder = path.parent
    (folder / "sub").mkdir()
    (folder / "link").symlink_to(path.name)
    (folder / "hard").hardlink_to(path)
    (folder.parent / "there").symlink_to(folder)
    return [path, f"{folder}/sub/../{path.name}", folder / "link", folder / "hard", folder.parent / "there" / path.name]


@pytest.mark.parametrize(
    ("name", "words", "output"),
    [
        ("replay", ["{read}"], "--html"),
        ("replay", [str(RECORD), "--analysis", "{read}"], "--html"),
        ("analyse", ["{read}"], "--out"),
        ("serve", ["{read}"], "--data"),
    ],
)
def test_no_file_is_written_over_what_is_read(
    name: str, words: list[str], output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "here").mkdir()
    (path := folder / "a").write_bytes(RECORD.read_bytes())
    monkeypatch.chdir(folder)
    for other in other_paths(path):
        for read, written in ((path, other), (other, path), (Path("a"), other)):
            given = [word.format(read=read) for word in words]
            with pytest.raises(ValueError, match=r"^--\w+ .* would replace what .*: choose another$"):
                parse_options(imported(COMMANDS[name].options), f"euphoria {name}", [*given, output, str(written)])
            parse_options(imported(COMMANDS[name].options), name, [*given, output, str(folder / "b")])
    assert path.read_bytes() == RECORD.read_bytes()


@pytest.mark.parametrize(
    "words",
    [
        ["analyse", str(RECORD), "--agent", "ppo:p", "--out", "./p"],
        ["analyse", str(RECORD), "--agent", "mcts:5:ppo:p", "--out", "p"],
        ["serve", "--agents", "random", "mine:Agent:p", "--data", "p"],
    ],
)
def test_the_checkpoint_of_an_agent_is_an_input(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(RECORD.read_bytes())
    status, _, told = euphoria(*words, cwd=tmp_path)
    assert status == 2 and "would replace what" in told and told.count("\n") == 1
    assert (tmp_path / "p").read_bytes() == RECORD.read_bytes()
