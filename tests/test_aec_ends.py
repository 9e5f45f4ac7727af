"""The ends of PettingZoo games: whatever ends one, nobody decides any more, and nothing that was given away changes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from pettingzoo.utils import wrappers

from euphoria_env import Game, Rules, actions, env, raw_env

ILLEGAL = actions.parse("done")  # nobody may say that when a game begins
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def terminating(**arguments: Any) -> Any:
    """`raw_env` in PettingZoo's own wrapper that ends a game after an illegal action."""
    return wrappers.TerminateIllegalWrapper(raw_env(**arguments), illegal_reward=-1)


def by_illegal_action(game: Any) -> None:
    game.step(ILLEGAL)


def by_truncation(game: Any) -> None:
    while not any(game.truncations.values()):
        game.step(int(legal_moves(game)[0]))


def by_a_wrapper_that_cuts_off(game: Any) -> None:
    game.last()
    game.unwrapped.truncations = dict.fromkeys(game.agents, True)


def by_a_wrapper_that_changes_entries(game: Any) -> None:
    assert game.infos
    for agent in game.agents:
        game.unwrapped.terminations[agent] = True


def by_the_position(game: Any) -> None:
    game.reset(options={"position": ended_game().to_dict()})


ENDS: list[tuple[Callable[..., Any], Callable[[Any], None]]] = [
    (make, end)
    for make in (env, terminating, raw_env)
    for end in (by_illegal_action, by_truncation, by_a_wrapper_that_cuts_off, by_a_wrapper_that_changes_entries, by_the_position)
    if (make, end) != (raw_env, by_illegal_action)  # which raises
]


def legal_moves(game: Any) -> np.ndarray:
    return np.flatnonzero(game.unwrapped.game.mask())


def ended_game() -> Game:
    game = Game(Rules(num_players=3, max_turns=3), seed=1)
    while game.legal():
        game.play(int(game.legal_actions()[0]))
    return game


def masks(game: Any) -> Iterator[np.ndarray]:
    """Every mask that anybody can get of a game as it stands."""
    for agent in game.possible_agents:
        seen = game.observe(agent)
        if isinstance(seen, dict) and "action_mask" in seen:
            yield seen["action_mask"]
    yield from (info["action_mask"] for info in game.infos.values())
    if game.agents:
        observation, *_, info = game.last()
        yield info["action_mask"]
        yield game.last(observe=False)[-1]["action_mask"]
        if isinstance(observation, dict):
            yield observation["action_mask"]


@pytest.mark.parametrize(("make", "end"), ENDS)
@pytest.mark.parametrize("arguments", [{}, {"mask": "info"}, {"mask_dtype": "bool", "events": 2}], ids=str)
def test_nobody_has_a_mask_once_a_game_has_ended(make: Any, end: Any, arguments: dict[str, Any]) -> None:
    game = make(num_players=3, max_turns=3, **arguments)
    game.reset(seed=4)
    for _ in range(2):
        game.step(int(legal_moves(game)[-1]))
    assert any(mask.any() for mask in masks(game))
    end(game)
    assert any((*game.terminations.values(), *game.truncations.values()))
    while game.agents:
        assert not any(mask.any() for mask in masks(game))
        game.step(None)
    assert not any(mask.any() for mask in masks(game))


# ------------------------------------------------------------------------------------------------- what was given away


@pytest.mark.parametrize("make", [env, terminating, raw_env])
def test_what_was_given_away_never_changes(make: Any) -> None:
    """Not even when those who are dead are taken out."""
    game, kept = make(num_players=3, max_turns=4, reward="stars"), []
    for illegal in (False, make is env):
        game.reset(seed=1)
        while game.agents:
            told = [game.last(), game.agents, game.infos, game.rewards, game.terminations, game.truncations]
            kept.append((told, copy.deepcopy(told)))
            dead = any((*game.terminations.values(), *game.truncations.values()))
            game.step(None if dead else ILLEGAL if illegal else int(legal_moves(game)[-1]))
    for told, before in kept:
        np.testing.assert_equal(told, before)


def test_info_and_what_others_write_into_it_are_of_one_step() -> None:
    """A wrapper may write into `infos`, and `last` tells of it, until the next step."""
    game = env(num_players=2)
    game.reset(seed=1)
    agent = game.agent_selection
    game.infos[agent]["note"] = 1
    assert game.last()[-1] is game.infos[agent] and game.last()[-1]["note"] == 1
    game.step(int(legal_moves(game)[0]))
    assert all(set(info) == {"action_mask"} for info in game.infos.values())
