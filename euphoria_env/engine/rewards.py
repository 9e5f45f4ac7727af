"""The rewards: the named ones, of which each sums to 0 over the players (`REWARDS`), and weighted quantities of the players."""

from __future__ import annotations

from enum import IntEnum, auto
from typing import NamedTuple

from euphoria_env.board import FACTIONS, FIRST_RESOURCE, GOODS, MAX_PLAYERS, NUM_MARKETS, STARS, TUNNELS
from euphoria_env.engine.bits import count_bits
from euphoria_env.engine.byte_copies import borrowed, pointer_to
from euphoria_env.engine.jit import jit
from euphoria_env.engine.state import OVER, member
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
        paid_when_truncated: whether a truncated game pays like any other, so that learners need not bootstrap at its end.
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


class Quantity(IntEnum):
    """The quantities of a player that a reward can weigh; `euphoria_env.rewards` says what each counts."""

    STARS = 0
    GOODS = auto()
    COMMODITIES = auto()
    RESOURCES = auto()
    ENERGY = auto()  # from here to CLAY in the order of `board.GOODS`
    WATER = auto()
    FOOD = auto()
    BLISS = auto()
    GOLD = auto()
    STONE = auto()
    CLAY = auto()
    ARTIFACTS = auto()
    KNOWLEDGE = auto()
    MORALE = auto()
    WORKERS = auto()
    AVAILABLE = auto()
    RECRUITS = auto()
    ALLEGIANCE = auto()
    MINERS = auto()
    MARKETS = auto()
    TERRITORIES = auto()
    PENALTIES = auto()


# A reward is an array of float64: the number of the named one, or UNNAMED; the discount factor; the statuses with which a game
# has no potential any more, as a set; the number of weighted quantities, and then each of them with its weight.
NAMED, GAMMA, FINAL, TERMS, FIRST_TERM = range(5)
UNNAMED = -1
NUM_NOTES = 2 * MAX_PLAYERS


@jit
def note_stars(g, notes):
    """Notes in float64 (NUM_NOTES,) what a named reward depends on: each player's stars to place before the decision."""
    for p in range(MAX_PLAYERS):
        notes[p] = g["stars"][p]


@jit
def fill_rewards(g, reward, decider, notes, potential, out):
    """Writes the rewards of a decision into a float32 array (P,), and the potential after it over that before it.

    P is at least the number of players; those who are absent get 0.
    The old potential of those who did not decide is discounted too: so in sum all players get, from one of their decisions to the
    next, gamma times the new potential less the old one.
    """
    out = borrowed(out)
    if reward[NAMED] == UNNAMED:
        out[:] = 0.0
    else:
        fill_named(g, int(reward[NAMED]), notes, out)
    if reward[TERMS]:
        new, gamma = notes[MAX_PLAYERS:], reward[GAMMA]
        fill_potential(g, reward, new)
        discount = (1.0 - gamma) * potential[decider]
        for p in range(int(g["num_players"])):
            out[p] += gamma * (new[p] - potential[p])
            potential[p] = new[p]
        out[decider] -= discount


@jit
def fill_potential(g, reward, out):
    """Writes the sum of each player's weighted quantities into float64 (MAX_PLAYERS,); 0 with a status that is in FINAL."""
    out = pointer_to(out, 0)
    for p in range(MAX_PLAYERS):
        out[p] = 0.0
    if not (int(reward[FINAL]) >> int(g["status"])) & 1:
        for k in range(FIRST_TERM, FIRST_TERM + 2 * int(reward[TERMS]), 2):
            add_quantity(g, int(reward[k]), reward[k + 1], out)


@jit
def add_quantity(g, quantity, weight, out):
    """Adds a weighted quantity of each player; a loop for each quantity is faster than a choice for each player."""
    if quantity == Quantity.STARS:
        for p in range(MAX_PLAYERS):
            out[p] += weight * (STARS - int(g["stars"][p]))
    elif quantity == Quantity.GOODS:
        weigh_goods(g, 0, len(GOODS), weight, out)
    elif quantity == Quantity.COMMODITIES:
        weigh_goods(g, 0, FIRST_RESOURCE, weight, out)
    elif quantity == Quantity.RESOURCES:
        weigh_goods(g, FIRST_RESOURCE, len(GOODS), weight, out)
    elif quantity <= Quantity.CLAY:
        for p in range(MAX_PLAYERS):
            out[p] += weight * g["goods"][p, quantity - Quantity.ENERGY]
    elif quantity == Quantity.ARTIFACTS:
        add_each(g["hand_size"], weight, out)
    elif quantity == Quantity.KNOWLEDGE:
        add_each(g["knowledge"], weight, out)
    elif quantity == Quantity.MORALE:
        add_each(g["morale"], weight, out)
    elif quantity == Quantity.WORKERS:
        add_each(g["owned"], weight, out)
    elif quantity == Quantity.RECRUITS:
        add_each(g["num_active"], weight, out)
    else:
        for p in range(int(g["num_players"])):
            out[p] += weight * count_rare(g, quantity, p)


@jit
def weigh_goods(g, first, last, weight, out):
    """Adds the weighted sum of each player's goods from `first` to `last` - 1."""
    for p in range(int(g["num_players"])):
        held = 0
        for item in range(first, last):
            held += int(g["goods"][p, item])
        out[p] += weight * held


@jit
def add_each(values, weight, out):
    """Adds a weighted value of each player."""
    for p in range(MAX_PLAYERS):
        out[p] += weight * values[p]


@jit
def count_rare(g, quantity, p):
    """Returns a quantity of a player that is counted from several entries of the row."""
    total = 0
    if quantity == Quantity.AVAILABLE:
        for k in range(6):
            total += int(g["available"][p, k])
    elif quantity == Quantity.ALLEGIANCE:
        for k in range(len(FACTIONS)):
            total += int(g["allegiance"][k]) if member(g, p, k) else 0
    elif quantity == Quantity.MINERS:
        for k in range(len(TUNNELS)):
            total += int(g["miners"][k])
    elif quantity == Quantity.MARKETS:
        for k in range(NUM_MARKETS):
            total += (int(g["market_stars"][k]) >> p) & 1
    elif quantity == Quantity.TERRITORIES:
        for k in range(len(FACTIONS)):
            total += g["territory"][k, p] > 0
    elif quantity == Quantity.PENALTIES:
        total = count_bits(int(g["penalty"][p]))
    else:
        raise ValueError("no such quantity")
    return total


@jit
def fill_named(g, reward, stars_left, out):
    """Writes the named reward of the decision just played into a float32 array (num_players,).

    `stars_left`: each player's stars still to place before the decision. Players who share a rank get the mean reward of their
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
            placed += int(stars_left[p]) - int(g["stars"][p])
        if placed:
            for p in range(n):
                own = int(stars_left[p]) - int(g["stars"][p])
                out[p] = own - (placed - own) / (n - 1)
    else:
        raise ValueError("no such reward")
