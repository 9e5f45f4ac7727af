"""The kernels of `euphoria_env.trajectories`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from euphoria_env.engine.jit import array, entry
from euphoria_env.engine.state import GAME_DTYPE

OPEN, ENDED = -1, -2  # values of `following`: no decision yet; no decision any more, as the game is over


class DecisionColumns(NamedTuple):
    """The columns of the decisions, as `euphoria_env.trajectories` describes them."""

    game: np.ndarray
    seat: np.ndarray
    turn: np.ndarray
    reward: np.ndarray
    elapsed: np.ndarray
    following: np.ndarray


_INTS = array(np.int64)
DECISION_COLUMNS = DecisionColumns(_INTS, _INTS, _INTS, array(np.float32), _INTS, _INTS)


@entry("int64[:] int8[:]", array(GAME_DTYPE, read_only=True), "int64[:,:] int64", DECISION_COLUMNS)
def link_decisions(games, player, rows, latest, n, decisions):
    """Adds a decision of the player to move in each of these games, from number n on, and links the seat's last one to it."""
    game, seat, turn, reward, elapsed, following = decisions
    for k in range(len(games)):
        i, p = games[k], player[games[k]]
        before = latest[i, p]
        if before >= 0:
            following[before] = n + k
            elapsed[before] = rows[i]["turn"] - turn[before]
        latest[i, p] = n + k
        game[n + k], seat[n + k], turn[n + k] = i, p, rows[i]["turn"]
        reward[n + k], elapsed[n + k], following[n + k] = 0.0, 0, OPEN


@entry("float32[:,:] bool_[:] bool_[:] int64[:,:] float32[:] int64[:]")
def credit_decisions(rewards, terminated, truncated, latest, reward, following):
    """Adds the rewards of a step to the latest decision of each seat, and closes those of games that are over."""
    for i in range(len(latest)):
        over = terminated[i] or truncated[i]
        for p in range(latest.shape[1]):
            k = latest[i, p]
            if k >= 0:
                reward[k] += rewards[i, p]
                if over:
                    following[k], latest[i, p] = ENDED, -1


@entry("float32[:] float32[:] float32[:] int64[:] float64 float32[:]")
def estimate(values, reward, discount, following, trace, advantage):
    """Writes the advantages from the last decision to the first; those of open decisions are 0."""
    for k in range(len(values) - 1, -1, -1):
        after = following[k]
        if after == OPEN:
            advantage[k] = 0.0
        elif after == ENDED:
            advantage[k] = reward[k] - values[k]
        else:
            advantage[k] = reward[k] + discount[k] * (values[after] + trace * advantage[after]) - values[k]
