"""Checks of the arguments of all environments: an unknown keyword is a `TypeError`, a wrong value a `ValueError`."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from euphoria_env import actions
from euphoria_env.batch_rules import BatchRules
from euphoria_env.game import Game
from euphoria_env.json_reader import read_seed
from euphoria_env.rules import Rules

ILLEGAL_REWARD = -1.0
MOST_UNASKED = 100  # games in a row that may end before the learner decides
_LARGEST_SIDE = 10_000  # pixels of a picture


def choice(name: str, value: Any, *allowed: str | None) -> Any:
    """Returns the value of an argument; for any other than the allowed ones, a `ValueError` names these."""
    if not (value is None or isinstance(value, str)) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(str, allowed))}, not {value!r}")
    return value


def is_integer(value: Any) -> bool:
    """Returns whether a value is one integer, of Python or numpy."""
    return not isinstance(value, bool) and isinstance(value, int | np.integer)


def picture_size(value: Any) -> tuple[int, int]:
    """Returns width and height of pictures; raises a `ValueError` unless they are two integers from 1 to 10,000."""
    if isinstance(value, tuple | list) and len(value) == 2:
        width, height = value
        if all(is_integer(side) and 1 <= side <= _LARGEST_SIDE for side in value):
            return int(width), int(height)
    raise ValueError(f"render_size must be (width, height) in pixels, from 1 to {_LARGEST_SIDE}, not {value!r}")


def learner_seat(seat: Any, players: int) -> int | None:
    """Returns the learner's seat, None for "random"; raises a `ValueError` for anything else."""
    if isinstance(seat, str) and seat == "random":
        return None
    if not is_integer(seat) or not 0 <= seat < players:
        raise ValueError(f"seat must be an integer from 0 to {players - 1} or 'random', not {seat!r}")
    return int(seat)


# --------------------------------------------------------------------------------------------------------------- actions


def known_number(action: Any) -> int:
    """Returns an action id as an int, or -1 if the argument is not an action id."""
    if type(action) is int and 0 <= action < actions.NUM_ACTIONS:  # the usual case; testing it first is twice as fast
        return action
    try:
        return actions.number(action)
    except ValueError:
        return -1


# ----------------------------------------------------------------------------------------------------------------- reset


def reset_options(options: Any, allowed: tuple[str, ...] = ("position",)) -> Mapping[str, Any]:
    """Returns the `options` of `reset`, empty for None; raises a `ValueError` unless they are a mapping of allowed ones."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ValueError(f"options must be a dict or None, not {options!r}")
    for name in options:
        if name not in allowed:
            raise ValueError(f"options.{name}: no such option; allowed is {' or '.join(allowed)}")
    return options


def chosen_games(mask: Any, n: int) -> np.ndarray | None:
    """Returns the `reset_mask` of N games; raises a `ValueError` unless it is (N,) bool with at least one True."""
    if mask is None:
        return None
    chosen = np.asarray(mask)
    if chosen.shape != (n,) or chosen.dtype != np.bool_ or not chosen.any():
        raise ValueError(f"options.reset_mask must be {n} booleans, at least one of them True, not {chosen!r}")
    return chosen


def positions_from(given: Any, n: int) -> dict[int, Any]:
    """Returns positions by number of game, from one for all N or a list of N (None: the setup), or raises a `ValueError`."""
    several = isinstance(given, Sequence) and not isinstance(given, str)
    positions = list(given) if several else [given] * n
    if len(positions) != n:
        raise ValueError(f"options.position must be one position, or a list of {n}, not of {len(positions)}")
    return {i: one for i, one in enumerate(positions) if one is not None}


def game_from(given: Any, rules: Rules | None, seed: int, key: str = "options.position", again: bool = False) -> Game:
    """Returns a game that starts from a position (docs/positions.md), to which rules and seed are added if it has none.

    Args:
        given: the position.
        rules, seed: those of the environment; None: its games have different rules, and the position tells its own.
        key: the name of the position in errors.
        again: whether `seed` also replaces a seed or generator that the position has. In the middle of a turn it only seeds what
            comes next.

    Raises:
        ValueError: the position is impossible, or has other rules.
    """
    if not isinstance(given, dict):
        raise ValueError(f"{key} must be an object, not {given!r}")
    mid_turn = bool(given.get("since")) or given.get("status") == "setup"
    if again and not mid_turn:
        given = {name: value for name, value in given.items() if name not in ("seed", "generator")}
    named = given.get("rules", {})
    merged = {**(rules or Rules()).to_dict(), **named} if isinstance(named, dict) else named
    game = Game.from_dict({"seed": seed, **given, "rules": merged})
    if any(game.describe()["load"].values()):
        raise ValueError(f"{key}.load: an environment draws its outcomes itself; only `Game` takes loaded ones")
    if rules is not None and game.rules != rules:
        raise ValueError(f"{key}: its rules are {game.rules}, those of the environment {rules}")
    if again and mid_turn:
        game.reseed(seed)
    return game


def starts_from(
    seed: Any, positions: Mapping[int, Any], n: int, rules: BatchRules, rng: np.random.Generator
) -> tuple[int | None, dict[int, Game]]:
    """Returns the common seed of N games, and a dict from number to game of those that start with their own seed or position.

    Args:
        seed: one for all, a list of N (None: at random), or None.
        positions: positions by the number of their game.
        rng: gives the positions their seeds if `seed` is None; otherwise it is not used.

    Raises:
        ValueError: a seed or a position is not allowed.
    """
    dealt: Iterable[int] = ()  # the games without a position that the batch does not deal itself
    if seed is None:
        root, seeds = None, rng.integers(2**63 - 1, size=n).tolist() if positions else []
    elif np.ndim(seed) == 0:
        root = read_seed(seed) % 2**64
        seeds = np.random.SeedSequence(root).generate_state(n, np.uint64).tolist()
    elif len(seed) != n:
        raise ValueError(f"seed must be an integer, None, or a list of {n}, not of {len(seed)}")
    else:
        seeds = [secrets.randbits(63) if one is None else read_seed(one) for one in seed]
        root = int(np.random.SeedSequence([one % 2**64 for one in seeds]).generate_state(1)[0])
        dealt = range(n)
    starts = {i: Game(rules.of(i, seeds[i]), seeds[i]) for i in dealt}
    starts |= {i: game_from(one, rules.fixed(i), seeds[i], f"options.position[{i}]") for i, one in positions.items()}
    for i, game in starts.items():
        if game.ranking is not None:
            raise ValueError(f"options.position[{i}]: the game has ended")
    return root, starts


def never_asked(what: str) -> ValueError:
    """Returns the error of an environment whose games end before the learner decides."""
    return ValueError(f"{what}: {MOST_UNASKED} games in a row ended before the learner was asked")
