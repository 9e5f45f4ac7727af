"""Positions over HTTP: whether one is right, and what it looks like. Nothing is kept, and no game is read."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from euphoria_agents.play.web.endpoints import Body, RequestContext
from euphoria_env import Game, Rules, words
from euphoria_env.json_reader import FieldError, Json
from euphoria_env.render.board import board_fragment
from euphoria_env.render.view import view_of


class NewPosition(Body):
    """The options of a game."""

    rules: dict[str, Any] = {}


class CheckPosition(Body):
    """A position, which may be anything."""

    position: Any = None


def new_position(context: RequestContext) -> Json:
    """The position after the setup of a new game, in which everybody chose at random."""
    game, rng = Game(Rules.from_dict(context.body.rules)), random.Random()
    while game.turn == 0:
        game.play(rng.choice(game.legal()))
    return {"position": game.to_dict()}


def check_position(context: RequestContext) -> Json:
    """The first error of a position; if it has none, its picture and its other forms."""
    try:
        game = Game.from_dict(context.body.position)
    except ValueError as error:
        field, reason = (error.field, error.reason) if isinstance(error, FieldError) else ("", str(error))
        return {"errors": [{"key": field, "message": reason}]}
    view = view_of(game, game.player)
    return {
        "errors": [],
        "position": game.to_dict(),
        "view": view,
        "board": board_fragment(replace(view, legal=())),
        "question": words.question(game),
        "record": game.to_record(),
    }
