"""Makes the recorded game that the first page replays, and the boards of the lessons."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from euphoria_agents import load
from euphoria_agents.play import AGENT_NAMES
from euphoria_agents.play.web.board_data import STATIC
from euphoria_agents.play.web.replay_page import distinct_lines, moment_text
from euphoria_env import Game, Rules
from euphoria_env.json_reader import Json
from euphoria_env.render.board import board_fragment
from euphoria_env.render.view import view_of

AGENT, PLAYERS, SEED = "ppo", 3, 3  # of the game on the first page: one of a hundred turns
NAMES = ("You", "Ada", "Boole")  # of the players of a lesson, as in learn.js


@cache
def demo(language: str = "en") -> Json:
    """Returns a game of the agent that ships, turn by turn as everybody sees it; `frames` has the numbers of `pieces`."""
    names = AGENT_NAMES[:PLAYERS]
    pieces, frames = distinct_lines([moment_text(view_of(game, None), names, language=language) for game in _turns()])
    return {"names": names, "pieces": pieces, "frames": frames}


def _turns() -> Iterator[Game]:
    """Yields a game when each turn begins, and at its end."""
    agent, rng, game, turn = load(AGENT), np.random.default_rng(0), Game(Rules(num_players=PLAYERS), SEED), 0
    while not (game.over or game.truncated):
        game.play(agent.act(game.observation(game.player), game.mask(), rng))
        if game.turn > turn or game.over:
            turn = game.turn
            yield game


@cache
def pictures(language: str = "en") -> Json:
    """Returns the board at the beginning of each lesson, and at its end or before the step `picture`; lines as in `demo`."""
    shown = [(lesson["id"], game) for lesson in lessons() for game in _before_and_after(lesson)]
    pieces, frames = distinct_lines([_board(game, language) for _, game in shown])
    return {"pieces": pieces, "frames": {name: frames[k - 1 : k + 1] for k, (name, _) in enumerate(shown) if k % 2}}


def _before_and_after(lesson: Any) -> tuple[Game, Game]:
    games = [*played(lesson)]
    return games[0], games[lesson.get("picture", -1)]


def _board(game: Game, language: str) -> str:
    return board_fragment(view_of(game, None), names=NAMES[: game.rules.num_players], language=language)


@cache
def lessons() -> Any:
    """Returns the lessons: a position, and steps with a task, the moves wanted, what is said of them, and what others then do."""
    return json.loads((STATIC / "lessons.json").read_text(encoding="utf-8"))


def played(lesson: Any) -> Iterator[Game]:
    """Yields the game of a lesson before each step, and at its end; of several moves wanted, the first is played.

    Raises an `IllegalMove` if a move is illegal, a `ValueError` if the position is wrong.
    """
    game = Game.from_dict(lesson["position"])
    for step in lesson["steps"]:
        yield game.clone()
        before = game.clone()
        game.play(step["wanted"][0])
        game = before if step.get("undo") else game
        for _, move in step.get("then", []):
            game.play(move)
    yield game
