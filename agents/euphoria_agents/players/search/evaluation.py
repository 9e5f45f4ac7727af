"""Our hand-made evaluation: it computes everybody's win probability from the features of `euphoria_env.afterstates`.

A player's standing is the weighted sum of their features; the win probabilities are the softmax of the standings, so that only
differences count. What the others hide is read from the row, which is one determinized deal of many. The weights are those of a
conditional logit fitted to self-play (docs/agents.md).
"""

from __future__ import annotations

import numpy as np

from euphoria_agents.network.compiled_layers import softmax
from euphoria_env.afterstates import FEATURES
from euphoria_env.engine.features import NUM_FEATURES, describe_player, describe_seats
from euphoria_env.engine.jit import array, entry, jit
from euphoria_env.engine.row_checks import check
from euphoria_env.engine.state import GAME_DTYPE, OVER

_WEIGHTS = {
    "placed": 0.52,
    "placed_squared": 0.55,
    "second_worker": 0.89,
    "third_worker": 0.43,
    "fourth_worker": -0.06,
    "available": 0.09,
    "equal": 0.12,
    "knowledge": -0.05,
    "at_risk": -0.04,
    "morale": 0.08,
    "commodities": 0.08,
    "more_commodities": 0.07,
    "first_bliss": 0.13,
    "more_bliss": 0.10,
    "resources": 0.10,
    "more_resources": -0.04,
    "cards": 0.18,
    "more_cards": 0.18,
    "pair": -0.01,
    "stake_one": 0.43,
    "stake_more": 0.15,
    "active": -0.02,
    "active_progress": 1.36,
    "hidden_progress": 1.71,
    "commodity_bonus": 0.20,
    "tunnel_bonus": -0.04,
    "dilemma": -0.06,
    "dilemma_open": 0.24,
    "penalties": -0.10,
    "ready": 0.35,
    "ready_later": 0.31,
    "to_move": 0.05,
}
WEIGHTS = np.array([_WEIGHTS[name] for name, _ in FEATURES])


@entry(array(GAME_DTYPE, read_only=True), "int64[:] float32[:,:]")
def describe_positions(rows, observers, out):  # type: ignore[no-untyped-def]
    """Writes what `describe_seats` writes, for an observer of each position: float32 (N, MAX_PLAYERS * NUM_FEATURES)."""
    for k in range(len(rows)):
        check(rows, k)
        describe_seats(rows[k], observers[k], out[k])


@jit
def seat_chances(g, table, features, chances):  # type: ignore[no-untyped-def]
    """Writes each player's win probability into `chances`, float64; 1 / n each for a game that was cut off.

    `table` has the weights of the features; `features` is workspace of the same length.
    """
    n = int(g["num_players"])
    if g["status"] >= OVER:
        for p in range(n):
            chances[p] = g["winner"] == p if g["status"] == OVER else 1.0 / n
        return
    for p in range(n):
        describe_player(g, p, features)
        standing = 0.0
        for k in range(NUM_FEATURES):
            standing += table[k] * features[k]
        chances[p] = standing
    softmax(chances, n)
