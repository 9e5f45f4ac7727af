"""The arguments of all environments, checked in one place: an unknown keyword is a `TypeError`, a wrong value a `ValueError`."""

from __future__ import annotations

import difflib
import inspect
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from euphoria_env import actions
from euphoria_env.game import Game
from euphoria_env.json_reader import read_seed
from euphoria_env.rules import OPTIONS, Rules

MASKS = ("info", "observation")
MASK_DTYPES = ("int8", "bool")
ILLEGAL = ("end", "raise")
ILLEGAL_REWARD = -1.0
MOST_UNASKED = 100  # games in a row that may end before their learner is asked


def refuse_unknown(given: Iterable[str], environment: type, called: str) -> None:
    """Refuses keywords that an environment does not have.

    Args:
        given: the keywords.
        environment: the class, whose own parameters and the fields of `Rules` are allowed.
        called: the name of what was called with them.

    Raises:
        TypeError: an unknown one; the message begins as Python's, as clients that try one expect, and names what is near.
    """
    parameters = inspect.signature(environment).parameters.values()
    own = [one.name for one in parameters if one.kind is not inspect.Parameter.VAR_KEYWORD]
    for name in given:
        if name not in OPTIONS and name not in own:
            near = difflib.get_close_matches(name, [*own, *OPTIONS], 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{called}() got an unexpected keyword argument {name!r}{hint}")


def rules_from(options: Mapping[str, Any], environment: type) -> Rules:
    """The rules from the keywords that are not the environment's own.

    Raises:
        TypeError: an unknown keyword.
        ValueError: a value that is not allowed.
    """
    refuse_unknown(options, environment, environment.__name__)
    return Rules(**options)


def one_of(name: str, value: Any, allowed: tuple[str | None, ...]) -> Any:
    """A value of a few.

    Raises:
        ValueError: it is not one of them.
    """
    if not (value is None or isinstance(value, str)) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(str, allowed))}, not {value!r}")
    return value


def mask_type(value: Any) -> np.dtype[Any]:
    """The type of the entries of masks, from its name.

    Raises:
        ValueError: another one.
    """
    return np.dtype(one_of("mask_dtype", value, MASK_DTYPES))


def frame_size(value: Any) -> tuple[int, int]:
    """Width and height of pictures.

    Raises:
        ValueError: not two integers from 1 to 10,000.
    """
    if isinstance(value, tuple | list) and len(value) == 2:
        width, height = value
        if all(is_integer(x) and 1 <= x <= 10_000 for x in (width, height)):
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


def game_from(given: Any, rules: Rules, seed: int, key: str = "options.position", again: bool = False) -> Game:
    """A game from a position (docs/positions.md); rules and seed that it leaves out are these.

    Args:
        given, rules, seed, key: the position, what it may leave out, and how errors name it.
        again: whether chance is that of `seed` even if the position has its own.

    Raises:
        ValueError: an impossible position, or one with other rules.
    """
    if not isinstance(given, dict):
        raise ValueError(f"{key} must be an object, not {given!r}")
    if any((given.get("load") or {}).values()):
        raise ValueError(f"{key}.load: an environment draws its outcomes itself; only `Game` takes loaded ones")
    if again:
        given = {name: value for name, value in given.items() if name not in ("seed", "generator")}
    named = given.get("rules", {})
    merged = {**rules.to_dict(), **named} if isinstance(named, dict) else named
    game = Game.from_dict({"seed": seed, **given, "rules": merged})
    if game.rules != rules:
        raise ValueError(f"{key}: its rules are {game.rules}, those of the environment {rules}")
    return game


def positions_from(given: Any, n: int) -> dict[int, Any]:
    """The positions that games begin from by number, from one position for all, or a list of N (None: the setup).

    Raises:
        ValueError: not as many positions as games.
    """
    several = isinstance(given, Sequence) and not isinstance(given, str)
    positions = list(given) if several else [given] * n
    if len(positions) != n:
        raise ValueError(f"options.position must be one position, or a list of {n}, not of {len(positions)}")
    return {i: one for i, one in enumerate(positions) if one is not None}


def never_asked(what: str) -> ValueError:
    """The error of an environment whose games end before the learner decides."""
    return ValueError(f"{what}: {MOST_UNASKED} games in a row ended before the learner was asked")


def is_integer(value: Any) -> bool:
    """Whether a value is one integer, of Python or numpy."""
    return not isinstance(value, bool) and isinstance(value, int | np.integer)


def known_number(action: Any) -> int:
    """An action id as an int; -1 for what is none."""
    try:
        return actions.number(action)
    except ValueError:
        return -1


def why_illegal(game: Game, action: Any) -> str:
    """The message about an action that is illegal in a game, or is no action at all."""
    try:
        wrong = f"{actions.name(action)!r} is illegal for player_{game.player}, who must {game.prompt}"
    except ValueError as error:
        wrong = str(error)
    return f"{wrong}; legal are {', '.join(game.legal())}"


def reset_options(options: Any, n: int) -> tuple[Any, np.ndarray | None]:
    """`position` and `reset_mask` of `reset(options=...)` of N games; None: not given.

    Raises:
        ValueError: not a dict, another option, or a mask that is not (N,) bool with at least one True.
    """
    if isinstance(options, Mapping) and "reset_mask" in options:
        chosen = np.asarray(options["reset_mask"])
        if chosen.shape != (n,) or chosen.dtype != np.bool_ or not chosen.any():
            raise ValueError(f"options.reset_mask must be {n} booleans, at least one of them True, not {chosen!r}")
        return position_from({name: value for name, value in options.items() if name != "reset_mask"}), chosen
    return position_from(options), None


def starts_from(seed: Any, positions: Mapping[int, Any], n: int, rules: Rules) -> tuple[int | None, dict[int, Game]]:
    """The seed of all that N games have in common, and the games that begin otherwise than it says, by number.

    Args:
        seed: one for all, a list of N (None: at random), or None.
        positions: those that games begin from, by number.

    Raises:
        ValueError: wrong seeds or positions.
    """
    if not isinstance(seed, Sequence | np.ndarray):
        seeds = np.random.SeedSequence(None if seed is None else abs(read_seed(seed))).generate_state(n, np.uint64).tolist()
        root, starts = seed, {}
    elif len(seed) != n:
        raise ValueError(f"seed must be an integer, None, or a list of {n}, not of {len(seed)}")
    else:
        seeds = [secrets.randbits(63) if one is None else read_seed(one) for one in seed]
        root = int(np.random.SeedSequence([one % 2**64 for one in seeds]).generate_state(1)[0])
        starts = {i: Game(rules, one) for i, one in enumerate(seeds)}
    starts |= {i: game_from(one, rules, seeds[i], f"options.position[{i}]") for i, one in positions.items()}
    for i, game in starts.items():
        if game.ranking is not None:
            raise ValueError(f"options.position[{i}]: the game has ended")
    return root, starts
