"""The rewards; each sums to 0 over the players. `REWARDS` has a row for each."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from euphoria_env.engine.jit import jit
from euphoria_env.engine.state import OVER
from euphoria_env.json_reader import shown


class Reward(IntEnum):
    """The kinds of reward."""

    WIN = 0
    RANK = 1
    STARS = 2


class RewardRow(NamedTuple):
    """The description of a reward.

    Attributes:
        meaning: what is paid, and when.
        paid_when_truncated: whether a game that is cut off pays like any other, so that its last value need not be estimated.
    """

    meaning: str
    paid_when_truncated: bool


REWARDS = {
    Reward.WIN: RewardRow("at the end: the winner 1, the others -1 / (n - 1); all 0 when the game was cut off", False),
    Reward.RANK: RewardRow(
        "at the end, also when the game was cut off: 1 - 2 (r - 1) / (n - 1) for rank r, where players who share a rank have "
        "the mean of the places they share",
        True,
    ),
    Reward.STARS: RewardRow(
        "after every decision: the stars that the player placed as a result of it, less the mean of the others'", False
    ),
}
REWARD_NAMES = tuple(reward.name.lower() for reward in Reward)
assert set(REWARDS) == set(Reward), "every reward needs its row"


def reward_number(name: object) -> int:
    """Returns the number of a reward, as a plain integer for compiled code.

    Raises:
        ValueError: there is no such reward; the message names all rewards.
    """
    if name not in REWARD_NAMES:
        raise ValueError(f"reward must be one of {', '.join(REWARD_NAMES)}, not {shown(name)}")
    return int(Reward[str(name).upper()])


@jit
def fill_rewards(g, reward, before, out):
    """Writes the rewards of the decision just played into a float32 array (num_players,).

    `before`: each player's stars still to place before the decision. Players who share a rank get the mean reward of their
    places, so that the sum is 0.
    """
    n = int(g["num_players"])
    out[:] = 0.0
    if reward == Reward.WIN:
        if g["status"] == OVER:
            for p in range(n):
                out[p] = 1.0 if g["winner"] == p else -1.0 / (n - 1)
    elif reward == Reward.RANK:
        if g["status"] >= OVER:
            for p in range(n):
                sharing = 0
                for q in range(n):
                    sharing += g["ranking"][q] == g["ranking"][p]
                place = int(g["ranking"][p]) + (sharing - 1) / 2
                out[p] = 1.0 - 2.0 * (place - 1.0) / (n - 1)
    elif reward == Reward.STARS:
        placed = 0
        for p in range(n):
            placed += int(before[p]) - int(g["stars"][p])
        if placed:
            for p in range(n):
                own = int(before[p]) - int(g["stars"][p])
                out[p] = own - (placed - own) / (n - 1)
    else:
        raise ValueError("no such reward")
