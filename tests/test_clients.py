"""`make test-clients`, as far as it can be looked at without installing anything."""

from __future__ import annotations

import json
import random
import re
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from euphoria_env import Game
from euphoria_env.engine.rewards import REWARD_NAMES
from scripts import test_clients as script
from tests.tools.playing import expected_rewards

ROOT = Path(__file__).parents[1]


PAGE = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")


def test_the_page_has_every_snippet_and_the_versions_tested() -> None:
    included = [f"{name}.py" for name in re.findall(r"<!-- (with_\w+): generated", PAGE)]
    assert sorted(included) == sorted(path.name for path in script.SNIPPETS.glob("*.py"))
    assert {name.removeprefix("with_").removesuffix(".py") for name in included} == set(script.CLIENTS)
    for name in included:
        client = name.removeprefix("with_").removesuffix(".py")
        assert f"| {script.versions(client)} | `{name}` | " in PAGE


class OpenSpielGame:
    """As much of `pyspiel.Game` as playing needs."""

    def __init__(self, kind: Any, info: Any, parameters: dict[str, Any]) -> None:
        self.num_players, self.max_game_length = lambda: info.num_players, lambda: info.max_game_length


class OpenSpielState:
    """As much of `pyspiel.State` as playing needs."""

    def __init__(self, game: OpenSpielGame) -> None:
        self.get_game, self.moves, self.num_players = lambda: game, 0, game.num_players

    def move_number(self) -> int:
        return self.moves

    def is_chance_node(self) -> bool:
        return self.current_player() == -1

    def apply_action(self, action: int) -> None:
        self._apply_action(action)
        self.moves += 1


@pytest.mark.parametrize("reward", REWARD_NAMES)
def test_the_game_for_openspiel_plays_without_it(reward: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """tests/test_open_spiel.py needs OpenSpiel, which is not among the locked packages."""
    ids, info = SimpleNamespace(CHANCE=-1, TERMINAL=-4), SimpleNamespace
    monkeypatch.setitem(sys.modules, "pyspiel", MagicMock(Game=OpenSpielGame, State=OpenSpielState, GameInfo=info, PlayerId=ids))
    module, rng = runpy.run_path(str(ROOT / "euphoria_env" / "envs" / "open_spiel.py")), random.Random(1)
    state = module["EuphoriaGame"]({"stars_to_win": 1, "max_turns": 300, "reward": reward}).new_initial_state()
    observer = module["_Observer"](recall=True, events=3)
    while not state.is_terminal():
        state.apply_action(rng.randrange(64) if state.is_chance_node() else rng.choice(state._legal_actions(0)))
        observer.set_from(state, 1)
    game = Game.from_dict(json.loads(str(state))["position"])
    assert game.over and state.returns() == pytest.approx(expected_rewards(reward, game, [10] * 4))
    assert observer.dict["observation"].tolist() == game.observation(1).tolist() and observer.dict["events"].any()
