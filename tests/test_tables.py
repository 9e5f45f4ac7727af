"""The output of commands: tables at every width, and the progress of long jobs."""

from __future__ import annotations

import io
import re
import threading
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rich")
from rich.console import Console  # noqa: E402

from euphoria_agents import progress  # noqa: E402
from euphoria_agents.__main__ import main  # noqa: E402
from euphoria_agents.commands.evaluate import match_report  # noqa: E402
from euphoria_agents.progress import EVERY, Progress  # noqa: E402

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


@pytest.mark.parametrize(("command", "columns"), [("evaluate --against random", "60"), ("tournament", None)])
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
