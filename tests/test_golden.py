"""Recorded games replay to the identical end.

The files are written by `scripts/regenerate_golden.py` alone.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from euphoria_env import Game
from tests.tools import golden_games
from tests.tools.golden_games import DIGESTS, FOLDER, GAMES

RECORDS = sorted(FOLDER.glob("*.record"))


def test_every_game_is_recorded() -> None:
    assert {path.stem for path in RECORDS} == {*GAMES, "from_a_position"} == {*json.loads(DIGESTS.read_text())}


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_record_replays_line_by_line(path: Path) -> None:
    text = path.read_text()
    game = Game.from_record(text)
    assert text.splitlines()[-1] == f"fingerprint {game.fingerprint()}"
    assert game.to_record() == text
    assert game.over or game.truncated


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_moves_and_observations_on_the_way(path: Path) -> None:
    assert golden_games.digest(path.read_text()) == json.loads(DIGESTS.read_text())[path.stem]


@pytest.mark.parametrize("name", [name for name in GAMES if name.endswith("_players")])
def test_the_recorded_game_is_played_again_from_its_seed(name: str) -> None:
    assert golden_games.play(name).to_record() == (FOLDER / f"{name}.record").read_text()
