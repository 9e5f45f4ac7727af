"""The three rewards; each sums to 0 over the players."""

from __future__ import annotations

from euphoria_env.engine.jit import jit
from euphoria_env.engine.state import OVER

REWARDS = ("win", "rank", "stars")
WIN, RANK, STARS = range(len(REWARDS))


def reward_number(name: object) -> int:
    """The number of a reward.

    Raises:
        ValueError: no such reward; names those there are.
    """
    if name not in REWARDS:
        raise ValueError(f"reward must be one of {', '.join(REWARDS)}, not {name!r}")
    return REWARDS.index(str(name))


@jit
def fill_rewards(g, kind, before, out):
    """Writes the rewards of the decision just played into a float32 array (num_players,).

    `win`: the winner 1, the others -1 / (n - 1), all 0 when truncated. `rank`: 1 - 2 (rank - 1) / (n - 1), players who share a
    rank share the mean of their places, so that the sum is 0; also when truncated. `stars`: the stars a player placed less the
    mean of the others' (`before`: stars to place before the decision).
    """
    n = int(g["num_players"])
    out[:] = 0.0
    if kind == STARS:
        placed = 0
        for p in range(n):
            placed += int(before[p]) - int(g["stars"][p])
        if placed:
            for p in range(n):
                own = int(before[p]) - int(g["stars"][p])
                out[p] = own - (placed - own) / (n - 1)
    elif g["status"] >= OVER:
        for p in range(n):
            if kind == RANK:
                sharing = 0
                for q in range(n):
                    sharing += g["ranking"][q] == g["ranking"][p]
                place = int(g["ranking"][p]) + (sharing - 1) / 2
                out[p] = 1.0 - 2.0 * (place - 1.0) / (n - 1)
            elif g["status"] == OVER:
                out[p] = 1.0 if g["winner"] == p else -1.0 / (n - 1)
