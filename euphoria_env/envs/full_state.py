"""The whole position as one array, hidden cards included, for critics that see more than any player may.

After the observations of all players, each as the player sees it, comes what nobody sees. Chance to come is not in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from gymnasium import spaces

from euphoria_env.board import ARTIFACTS, MARKETS, MAX_PLAYERS
from euphoria_env.cards.recruits import NUM_RECRUITS
from euphoria_env.cards.tiles import NUM_TILES
from euphoria_env.engine import observe
from euphoria_env.engine.state import ABSENT, IN_BY, OUT_BY
from euphoria_env.envs.observation_space import observation_box
from euphoria_env.observations import OBS_SIZE


class Hidden(NamedTuple):
    """A part of what nobody sees: a field of the state row."""

    field: str
    size: int
    low: int
    high: int
    meaning: str


HIDDEN = (
    Hidden("tile", len(MARKETS), -1, NUM_TILES - 1, "market tile by site, face up or down; -1: none yet"),
    Hidden("deck", len(ARTIFACTS), 0, 127, "artifacts left in the deck by type"),
    Hidden("recruit_place", NUM_RECRUITS, ABSENT, OUT_BY + MAX_PLAYERS - 1, "where each recruit is (`engine.state`)"),
    Hidden("tile_place", NUM_TILES, ABSENT, IN_BY + MAX_PLAYERS - 1, "where each market tile is (`engine.state`)"),
)


def state_size(players: int) -> int:
    """The number of entries in the state of a game with this many players."""
    return players * OBS_SIZE + sum(part.size for part in HIDDEN)


def state_box(players: int) -> spaces.Box:
    """The space of the state of a game: int8, (state_size,)."""
    seen = observation_box()
    low = [seen.low] * players + [np.full(part.size, part.low, np.int8) for part in HIDDEN]
    high = [seen.high] * players + [np.full(part.size, part.high, np.int8) for part in HIDDEN]
    return spaces.Box(np.concatenate(low), np.concatenate(high), dtype=np.int8)


def full_state(rows: np.ndarray, players: int) -> np.ndarray:
    """The state of the first of some rows: a fresh int8 array (state_size,)."""
    state = np.empty(state_size(players), np.int8)
    for p in range(players):
        observe.write_observation(rows, 0, p, state[p * OBS_SIZE : (p + 1) * OBS_SIZE])
    state[players * OBS_SIZE :] = np.concatenate([rows[0][part.field] for part in HIDDEN])
    return state
