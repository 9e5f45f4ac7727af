"""No output of a command replaces a file that it reads, by whatever path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from euphoria_agents.commands import COMMANDS, imported
from euphoria_agents.dataclass_arguments import parse_options
from tests.tools.commands import euphoria

RECORD = Path(__file__).parent / "golden" / "2_players.record"


def detour(path: Path) -> str:
    (path.parent / "sub").mkdir()
    return f"{path.parent}/sub/../{path.name}"


def link(path: Path) -> Path:
    (found := path.parent / "link").symlink_to(path.name)
    return found


def hard_link(path: Path) -> Path:
    (found := path.parent / "hard").hardlink_to(path)
    return found


def link_of_folder(path: Path) -> Path:
    (found := path.parent.parent / "there").symlink_to(path.parent)
    return found / path.name


@pytest.mark.parametrize("way", [Path, detour, link, hard_link, link_of_folder])
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
    name: str, words: list[str], output: str, way: Callable[[Path], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "here").mkdir()
    (path := folder / "a").write_bytes(RECORD.read_bytes())
    monkeypatch.chdir(folder)
    other = way(path)
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
