"""`weights`: the roulette player. Every legal move has a weight, and is chosen with a probability in proportion to it.

The weights are those of the only public computer player of the game (Boardspace.net), which uses them to steer its tree search
and its playouts. Its moves are coarser than ours: the weight of a space is spread over the faces that could go there, and every
answer that the table does not name weighs the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agents.base import Agent, check_found, int8_rows
from euphoria_env.actions import (
    DISCARD,
    DONE,
    END,
    GAIN,
    NUM_ACTIONS,
    NUM_BOARD_WORKERS,
    PAY,
    PAY_PAIR,
    PAY_THREE,
    PLACE,
    RETRIEVE,
    TAKE,
)
from euphoria_env.board import (
    ARTIFACTS,
    BREEZE_BAR,
    FIRST_ARTIFACT,
    FIRST_MARKET,
    FIRST_SLOT,
    FIRST_TANK,
    FIRST_TUNNEL_END,
    GAIN_ARTIFACT,
    MAX_PLAYERS,
    MAX_WORKERS,
    NUM_AREAS,
    NUM_SPACES,
    SKY_LOUNGE,
    SLOTS_PER_SITE,
    TUNNELS,
    WORKERS_TO_BUILD,
)
from euphoria_env.cards.recruits import CARDS_PER_FACTION
from euphoria_env.engine.jit import entry, jit
from euphoria_env.observations import PLAYER_SIZE, PLAYERS_START, start_of

if TYPE_CHECKING:
    from euphoria_env import Game

# ---- the numbers -----------------------------------------------------------------------------------------------------
ANY_OTHER = 1.0  # also `done`, `skip`, and `dilemma`, markets, salon and loft
END_EARLY = 0.02  # `end` instead of a further equal worker
TUNNEL = 10.0
BREEZE_OR_LOUNGE = 10.0
TANK_PER_MISSING_WORKER = 15.0  # for each worker short of 4
COMPLETES_MARKET = 100.0
TWO_MISSING = 5.0  # whoever comes next completes it
MORE_MISSING = 10.0
# Unless it completes the market, by the number of own workers (0 to 4) that are not on sites.
FREE_WORKERS = np.array([0.1, 0.1, 0.2, 2.0, 3.0])
AREA = 1.0  # before what membership or company adds, below
ENOUGH = 5  # of a commodity; from here on each unit costs
SATED = 0.3  # this much of the weight of its area,
STOP = 6  # and at so many nothing more is gathered
ALLEGIANCE_TOTAL = 4  # up to this sum of faces an area advances its track (R6.1)
FURTHER_TAKE = 3.0  # another worker taken along in a retrieval
TAKE_FROM_SITE = 0.0
FULL_HAND = 0.01  # factor for drawing an artifact with a full hand (R5.6)
NEVER = -1.0  # not even when all weights are 0, unless nothing else is legal

# ---- where the observation says it -----------------------------------------------------------------------------------
_NUM_PLAYERS, _AREAS, _OCCUPANT = start_of("num_players"), start_of("areas"), start_of("occupant") - NUM_AREAS
_OWN_ARTIFACTS, _UNITS = start_of("own_artifacts"), start_of("units")
_FIRST_GROUP, _SECOND_GROUP = start_of("first_group"), start_of("second_group")
_STARS, _MORALE, _HAND_SIZE, _GOODS, _WORKERS, _RECRUITS = (
    start_of(f"player_0.{name}") for name in ("stars", "morale", "hand_size", "goods", "workers", "recruits")
)
_TO_BUILD = WORKERS_TO_BUILD
_FIRST_SITE_TAKE = TAKE + 6 * NUM_AREAS + FIRST_SLOT - NUM_AREAS
_SITE_TAKES_END = _FIRST_SITE_TAKE + FIRST_MARKET - FIRST_SLOT

assert PLAYERS_START <= _STARS < PLAYERS_START + PLAYER_SIZE and PLACE == 0


@jit
def members(observation, seat, faction):  # type: ignore[no-untyped-def]
    """How many active recruits of a faction a player has."""
    first = _RECRUITS + PLAYER_SIZE * seat + CARDS_PER_FACTION * faction
    n = 0
    for k in range(CARDS_PER_FACTION):
        n += observation[first + k] != 0
    return n


@jit
def area_weight(observation, area, face):  # type: ignore[no-untyped-def]
    """A commodity area for a worker of this face.

    A small total advances the faction's track, which is worth the more the more of the faction one has oneself, and the less
    the more the opponents have; a great one gives two units thanks to everybody who stands there (R6.1). What one has plenty of
    is worth less.
    """
    stock = int(observation[_GOODS + area])
    if stock >= STOP:
        return 0.0
    n = int(observation[_NUM_PLAYERS])
    total = face
    own_workers = others = 0
    for seat in range(n):
        for f in range(6):
            workers = int(observation[_AREAS + 6 * MAX_PLAYERS * area + 6 * seat + f])
            total += workers * (f + 1)
            if seat == 0:
                own_workers += workers
            else:
                others += workers
    if total <= ALLEGIANCE_TOTAL:
        of_opponents = 0
        for seat in range(1, n):
            of_opponents += members(observation, seat, area)
        weight = AREA + members(observation, 0, area) - of_opponents / (n - 1)
    else:
        weight = AREA + (others - own_workers) / (n - 1)
    return max(0.0, min(weight, weight - SATED * (stock - ENOUGH)))


@jit
def free_workers(observation):  # type: ignore[no-untyped-def]
    """How many own workers are not on construction sites."""
    n = int(observation[_WORKERS])
    for slot in range(FIRST_SLOT, FIRST_MARKET):
        n -= observation[_OCCUPANT + slot] == 1
    return n


@jit
def leader_factor(observation, site):  # type: ignore[no-untyped-def]
    """At most 1 if a leading opponent has a worker on this site, and would get a star too (R9.3).

    The published facts leave the factor open. Ours is the share of stars that he still has to place of those that we have.
    """
    fewest = int(observation[_STARS])
    on_site = False
    for seat in range(1, int(observation[_NUM_PLAYERS])):
        stars = int(observation[_STARS + PLAYER_SIZE * seat])
        if stars > fewest:
            continue
        if stars < fewest:
            fewest = stars
            on_site = False
        for k in range(SLOTS_PER_SITE):
            on_site |= observation[_OCCUPANT + site + k] == seat + 1
    return fewest / max(1, int(observation[_STARS])) if on_site else 1.0


@jit
def slot_weight(observation, space):  # type: ignore[no-untyped-def]
    """A construction site: best when this worker completes the market, bad when the next one then would."""
    site = space - (space - FIRST_SLOT) % SLOTS_PER_SITE
    missing = int(_TO_BUILD[int(observation[_NUM_PLAYERS])])
    for k in range(SLOTS_PER_SITE):
        missing -= observation[_OCCUPANT + site + k] != 0
    factor = leader_factor(observation, site)
    if missing <= 1:
        return COMPLETES_MARKET * factor
    return (TWO_MISSING if missing == 2 else MORE_MISSING) * factor * FREE_WORKERS[free_workers(observation)]


@jit
def draw_factor(observation):  # type: ignore[no-untyped-def]
    """What a drawn artifact is worth: little with a full hand, for something must be discarded then (R5.6)."""
    return FULL_HAND if observation[_HAND_SIZE] >= observation[_MORALE] else 1.0


@jit
def space_weight(observation, space):  # type: ignore[no-untyped-def]
    """Any space but a commodity area, whatever the face of the worker."""
    if space < FIRST_TUNNEL_END:
        return TUNNEL
    if space < FIRST_TANK:  # the tunnel ends weigh like an area where nothing speaks for or against it
        stock = int(observation[_GOODS + (space - FIRST_TUNNEL_END + 1) % len(TUNNELS)])  # R8.2
        return 0.0 if stock >= STOP else max(0.0, min(AREA, AREA - SATED * (stock - ENOUGH)))
    if space < FIRST_SLOT:
        return TANK_PER_MISSING_WORKER * (MAX_WORKERS - int(observation[_WORKERS]))
    if space < FIRST_MARKET:
        return slot_weight(observation, space)
    if space == BREEZE_BAR:
        return BREEZE_OR_LOUNGE * draw_factor(observation)
    if space == SKY_LOUNGE:
        return BREEZE_OR_LOUNGE
    return ANY_OTHER


@jit
def weigh_places(observation, mask, weights):  # type: ignore[no-untyped-def]
    """Weighs the placements; returns whether there are any."""
    found = False
    for space in range(NUM_SPACES):
        faces = 0
        for f in range(6):
            faces += mask[NUM_SPACES * f + space] != 0
        if faces == 0:
            continue
        found = True
        weight = 0.0 if space < NUM_AREAS else space_weight(observation, space)
        for f in range(6):
            if mask[NUM_SPACES * f + space]:
                if space < NUM_AREAS:
                    weight = area_weight(observation, space, f + 1)
                weights[NUM_SPACES * f + space] = weight / faces
    return found


@jit
def weigh_takes(mask, weights):  # type: ignore[no-untyped-def]
    """Which workers to retrieve: not from sites, and rather more of them than fewer."""
    for action in range(TAKE, TAKE + NUM_BOARD_WORKERS):
        if mask[action]:
            on_site = _FIRST_SITE_TAKE <= action < _SITE_TAKES_END
            weights[action] = TAKE_FROM_SITE if on_site else (FURTHER_TAKE if mask[DONE] else ANY_OTHER)


@jit
def spare_pairs(observation, mask, weights):  # type: ignore[no-untyped-def]
    """Never three artifacts where a pair serves; a single card is paid or discarded from those without a twin."""
    for kind in range(len(ARTIFACTS)):
        if mask[PAY_PAIR + kind]:
            weights[PAY_THREE] = NEVER
        item = FIRST_ARTIFACT + kind
        units = 0
        if observation[_FIRST_GROUP + item]:
            units += int(observation[_UNITS])
        if observation[_SECOND_GROUP + item]:
            units += int(observation[_UNITS + 1])
        if units == 1 and observation[_OWN_ARTIFACTS + kind] % 2 == 0:
            weights[PAY + item] = NEVER
            weights[DISCARD + kind] = NEVER


@jit
def weigh(observation, mask, weights):  # type: ignore[no-untyped-def]
    """Writes the weight of every move that is legal; what it writes for others has no meaning."""
    weights[:] = ANY_OTHER
    weights[END] = END_EARLY
    if weigh_places(observation, mask, weights):
        weights[RETRIEVE:TAKE] = NEVER  # never while something can be placed
    else:
        weigh_takes(mask, weights)
    spare_pairs(observation, mask, weights)
    weights[GAIN + GAIN_ARTIFACT] = draw_factor(observation)


@jit
def spin(mask, weights, chance):  # type: ignore[no-untyped-def]
    """The roulette; where all weights are 0 every legal move counts the same, at last also those that are NEVER made."""
    total = 0.0
    for action in range(NUM_ACTIONS):
        if mask[action] and weights[action] > 0.0:
            total += weights[action]
    for lowest in (0.0, NEVER):
        if total == 0.0:
            for action in range(NUM_ACTIONS):
                if mask[action] and weights[action] >= lowest:
                    weights[action] = 1.0
                    total += 1.0
    left = chance * total
    last = -1
    for action in range(NUM_ACTIONS):
        if mask[action] and weights[action] > 0.0:
            last = action
            left -= weights[action]
            if left < 0.0:
                break
    return last


@entry
def choose_by_weight(observations, masks, chances, moves):  # type: ignore[no-untyped-def]
    """Writes a move of each game, by one number from [0, 1) each; -1 where none is legal."""
    weights = np.empty(NUM_ACTIONS)
    for i in range(len(masks)):
        weigh(observations[i], masks[i], weights)
        moves[i] = spin(masks[i], weights, chances[i])


class Weights(Agent):
    """Plays by roulette on the weights above."""

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None) -> int:
        """Chooses a move; see `Agent.act`."""
        return int(self.act_batch(observation, mask, rng)[0])

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Chooses a move in each game; see `Agent.act_batch`."""
        rows = int8_rows(masks)
        moves = np.empty(len(rows), np.int64)
        choose_by_weight(int8_rows(observations), rows, rng.random(len(rows)), moves)
        return check_found(moves)
