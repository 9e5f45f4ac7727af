"""Reads rewards: names, or weights over quantities of the players (`table`), paid as changes or as a potential.

`{"stars": 1.0, "goods": 0.02}` pays the change with every decision. `{"potential": {...}, "gamma": 0.999, "end": "win"}` pays the
named reward `end`, shaped by a potential (Ng, Harada and Russell 1999). docs/environment.md says what is paid when.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from euphoria_env import board
from euphoria_env.engine.rewards import REWARD_NAMES, REWARDS, UNNAMED, Quantity, Reward, reward_number
from euphoria_env.engine.state import OVER, TRUNCATED
from euphoria_env.json_reader import Reader, shown

__all__ = ["QuantityRow", "read_reward", "table"]

MOST_WEIGHT = 1e6  # the rewards are float32


class QuantityRow(NamedTuple):
    """A quantity of a player that a reward can weigh: its name, its range (lowest and highest value) and its meaning."""

    name: str
    range: tuple[int, int]
    meaning: str


_ROWS: dict[Quantity, tuple[int, str]] = {  # the highest value, and the meaning
    Quantity.STARS: (board.STARS, "stars placed"),
    Quantity.GOODS: (len(board.GOODS) * board.MOST_GOODS, "commodities and resources held"),
    Quantity.COMMODITIES: (len(board.COMMODITIES) * board.MOST_GOODS, "commodities held"),
    Quantity.RESOURCES: (len(board.RESOURCES) * board.MOST_GOODS, "resources held"),
    **{Quantity[good.upper()]: (board.MOST_GOODS, f"{good} held") for good in board.GOODS},
    Quantity.ARTIFACTS: (board.NUM_ARTIFACT_CARDS, "artifact cards held"),
    Quantity.KNOWLEDGE: (board.TRACK_END, "knowledge, of which less is better; 0: not yet placed (R17.3)"),
    Quantity.MORALE: (board.TRACK_END, "morale; 0: not yet placed (R17.3)"),
    Quantity.WORKERS: (board.MAX_WORKERS, "workers, available and on the board"),
    Quantity.AVAILABLE: (board.MAX_WORKERS, "available workers"),
    Quantity.RECRUITS: (board.MAX_RECRUITS, "active recruits"),
    Quantity.ALLEGIANCE: (
        len(board.FACTIONS) * board.ALLEGIANCE_END,
        "allegiance of the factions of the player's active recruits, added up",
    ),
    Quantity.MINERS: (len(board.TUNNELS) * board.MINER_END, "steps of the three miners, added up; the same for all players"),
    Quantity.MARKETS: (board.NUM_MARKETS, "built markets with a star of the player"),
    Quantity.TERRITORIES: (len(board.FACTIONS), "territories with a star of the player"),
    Quantity.PENALTIES: (board.NUM_MARKETS, "market penalties in force for the player (R12.1)"),
}
_NAMES = [quantity.name.lower() for quantity in Quantity]
assert list(_ROWS) == list(Quantity), "every quantity needs its row"


def table() -> list[QuantityRow]:
    """Returns every quantity that a reward can weigh, with its range and meaning. All of them are public (R19)."""
    return [QuantityRow(name, (0, high), meaning) for name, (high, meaning) in zip(_NAMES, _ROWS.values(), strict=True)]


def read_reward(given: Any) -> np.ndarray:
    """Returns a name or a dict as kernels take it (`engine.rewards`); raises a `ValueError` that says what is allowed."""
    if isinstance(given, str):
        return _reward(given)
    if callable(given):
        raise ValueError(f"reward: only raw_env and EuphoriaEnv take a function; {shown(given)} is one")
    if not isinstance(given, dict):
        raise ValueError(f"reward must be one of {', '.join(REWARD_NAMES)}, or a dict of weights, not {shown(given)}")
    keys, reader = ("potential", "gamma", "end"), Reader()
    if not given.keys() & set(keys):
        return _reward(None, _weights("reward", given))
    reader.mapping("reward", given, keys)
    reader.require(len(given) == len(keys), "reward", f"must have all of {', '.join(keys)}, or weights alone")
    gamma = reader.number("reward.gamma", given["gamma"], 0, 1)
    reader.require(gamma, "reward.gamma", "must be above 0")
    reader.one_of("reward.end", given["end"], REWARD_NAMES)
    return _reward(given["end"], _weights("reward.potential", given["potential"]), gamma)


def _weights(key: str, given: Any) -> dict[int, float]:
    """Reads weights, at least one, and returns them by the number of their quantity."""
    reader = Reader()
    weights = reader.mapping(key, given, _NAMES)
    reader.require(weights, key, f"must have at least one weight, of {', '.join(_NAMES)}")
    return {
        _NAMES.index(name): reader.number(f"{key}.{name}", weight, -MOST_WEIGHT, MOST_WEIGHT) for name, weight in weights.items()
    }


def _reward(name: str | None, weights: dict[int, float] | None = None, gamma: float = 1.0) -> np.ndarray:
    """Returns a named reward, shaped by weights; without a name (None) the weights count to the very end."""
    number = UNNAMED if name is None else reward_number(name)
    final = 0 if name is None else 1 << OVER | REWARDS[Reward(number)].paid_when_truncated << TRUNCATED
    terms = weights or {}
    return np.array([number, gamma, final, len(terms), *chain.from_iterable(terms.items())], np.float64)


NO_REWARD = _reward(None)  # pays nothing
