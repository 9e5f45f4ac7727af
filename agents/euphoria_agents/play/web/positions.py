"""Positions over HTTP: what is wrong with one, and what it looks like. Nothing is kept, and no game is read."""

from __future__ import annotations

import copy
import dataclasses
import random
import re
from typing import Any

import msgspec

from euphoria_agents.play.web.endpoints import Asked, Body
from euphoria_env import Game, Rules, words
from euphoria_env.json_reader import Json
from euphoria_env.render.board import board_fragment
from euphoria_env.render.view import view_of

MOST_COMPLAINTS = 20
# Everything depends on these: with one of them wrong, no other faults are named.
_BASIC = ("rules", "status", "pending")
# Keys that depend on a wrong value, of the position and of its players, are left out with it, so that no consequence is named.
_HANGING = {
    "allegiance": ("recruits",),
    "miners": ("workers", "recruits"),
    "markets": ("workers", "tiles_in", "tiles_out"),
    "workers": ("workers",),
    "morale": ("artifacts",),
    "dilemma": ("recruits",),
    "player": ("active",),
}


class NewPosition(Body):
    """The options of a game."""

    rules: dict[str, Any] = msgspec.field(default_factory=dict)


class CheckPosition(Body):
    """A position, which may be anything."""

    position: Any = None


def new(asked: Asked) -> Json:
    """The position after the setup of a new game, in which everybody chose at random."""
    return {"position": _set_up(Rules.from_dict(asked.body.rules)).to_dict()}


def check(asked: Asked) -> Json:
    """The faults of a position by key; if it has none, its picture and its other forms."""
    return _checked(asked.body.position)


def _set_up(rules: Rules) -> Game:
    game, rng = Game(rules), random.Random()
    while game.turn == 0:
        game.play(rng.choice(game.legal()))
    return game


def _checked(position: Any) -> Json:
    errors = complaints(position)
    if errors:
        return {"errors": errors}
    game = Game.from_dict(position)
    view = view_of(game, game.player)
    return {
        "errors": [],
        "position": game.to_dict(),
        "view": dataclasses.asdict(view),
        "board": board_fragment(dataclasses.replace(view, legal=())),
        "question": words.question(game),
        "record": game.to_record(),
    }


def complaints(position: Any) -> list[Json]:
    """All faults of a position, each as `key` and `message`; mere consequences of a wrong value are left out."""
    found: dict[str, str] = {}
    trial = copy.deepcopy(position)
    while len(found) < MOST_COMPLAINTS:
        try:
            Game.from_dict(trial)
            break
        except ValueError as error:
            key, message = _parted(str(error))
            if key in found:
                break
            found[key] = message
            if not _leave_out(trial, key):
                break
    return [{"key": key, "message": message} for key, message in found.items()]


def _parted(text: str) -> tuple[str, str]:
    """Key and message of an error of `Game.from_dict`."""
    parts = re.fullmatch(r"(\S+?)(?:: | (?=must ))(.*)", text, re.DOTALL)
    return (parts[1], parts[2]) if parts else ("", text)


def _leave_out(position: Any, key: str) -> bool:
    """Leaves a wrong value out, or the list that it is in; False if that cannot be."""
    path = re.findall(r"[^.\[\]]+", key)
    holder = position
    if path[:1] == ["players"] and len(path) > 2:
        holder, path = position["players"][int(path[1])], path[2:]
    if not path or path[0] in (*_BASIC, "players") or "pending" in position:
        return False
    hanging = (*_HANGING.get(path[0], ()), "stars")
    while len(path) > 1 and isinstance(holder, dict) and isinstance(holder.get(path[0]), dict):
        holder, path = holder[path[0]], path[1:]
    if not isinstance(holder, dict) or path[0] not in holder:
        return False
    del holder[path[0]]
    players = position.get("players", [])
    for one in [position, *(players if isinstance(players, list) else [])]:
        for name in hanging if isinstance(one, dict) else ():
            one.pop(name, None)
    return True
