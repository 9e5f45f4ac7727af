"""What all environments take, checked in one place: an unknown keyword is a `TypeError`, a wrong value a `ValueError`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from euphoria_env.game import Game
from euphoria_env.rules import OPTIONS, Rules

MASKS = ("info", "observation")
ILLEGAL = ("end", "raise")


def rules_from(options: Mapping[str, Any], environment: str) -> Rules:
    """The rules from the keywords that are not the environment's own.

    Raises:
        TypeError: an unknown keyword; the message is Python's, as clients that try one expect.
        ValueError: a value that is not allowed.
    """
    for name in options:
        if name not in OPTIONS:
            raise TypeError(f"{environment}.__init__() got an unexpected keyword argument {name!r}")
    return Rules(**options)


def one_of(name: str, value: Any, allowed: tuple[str | None, ...]) -> Any:
    """A value of a few.

    Raises:
        ValueError: it is none of them.
    """
    if not (value is None or isinstance(value, str)) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(str, allowed))}, not {value!r}")
    return value


def frame_size(value: Any) -> tuple[int, int]:
    """Width and height of pictures.

    Raises:
        ValueError: not two integers from 1 to 10,000.
    """
    if isinstance(value, tuple | list) and len(value) == 2:
        width, height = value
        if all(isinstance(x, int | np.integer) and not isinstance(x, bool) and 1 <= x <= 10_000 for x in (width, height)):
            return int(width), int(height)
    raise ValueError(f"render_size must be (width, height) in pixels, from 1 to 10000, not {value!r}")


def position_from(options: Any, others: bool = False) -> Any:
    """The position in `reset(options=...)`; None: the setup.

    Args:
        options: what was given.
        others: whether there may be other options, which mean nothing (as PettingZoo's own tests have it).

    Raises:
        ValueError: not a dict, or an option that there is not.
    """
    if options is None:
        return None
    if not isinstance(options, Mapping):
        raise ValueError(f"options must be a dict or None, not {options!r}")
    for name in options:
        if name != "position" and not others:
            raise ValueError(f"options.{name}: no such option; allowed is position")
    return options.get("position")


def game_from(given: Any, rules: Rules, seed: int, key: str = "options.position") -> Game:
    """A game from a position (docs/positions.md); rules and seed that it leaves out are these.

    Raises:
        ValueError: an impossible position, or one with other rules.
    """
    if not isinstance(given, dict):
        raise ValueError(f"{key}: must be an object, not {given!r}")
    named = given.get("rules", {})
    merged = {**rules.to_dict(), **named} if isinstance(named, dict) else named
    game = Game.from_dict({"seed": seed, **given, "rules": merged})
    if game.rules != rules:
        raise ValueError(f"{key}: its rules are {game.rules}, those of the environment {rules}")
    return game
