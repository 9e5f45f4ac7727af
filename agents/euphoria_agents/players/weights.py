"""`weights`: plays each legal move with a probability in proportion to a hand-made weight.

The weights are those of the only public computer player of the game (Boardspace.net), which uses them in its tree search and its
playouts. Its moves are coarser than ours: so the weight of a space is divided among the faces that could go there, and all
answers that the weights do not name weigh the same.

The compiled functions read a row of the state array, but nothing in it that its mover may not see. So the searching agents can
use them on the row of a game; the agent `weights` fills such a row from its observation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from euphoria_agents.agent import Agent, Explanation, check_found, decision_rows, explanation
from euphoria_env.actions import (
    DISCARD,
    DONE,
    END,
    GAIN,
    NUM_ACTIONS,
    NUM_BOARD_WORKERS,
    PAY,
    PAY_THREE,
    TAKE,
)
from euphoria_env.board import (
    ARTIFACTS,
    BIT,
    BREEZE_BAR,
    FIRST_ARTIFACT,
    FIRST_MARKET,
    FIRST_SLOT,
    FIRST_TANK,
    FIRST_TUNNEL_END,
    GAIN_ARTIFACT,
    GOODS,
    ITEMS,
    MAX_PLAYERS,
    MAX_WORKERS,
    NUM_AREAS,
    NUM_SPACES,
    SKY_LOUNGE,
    SLOTS_PER_SITE,
    TUNNELS,
    WORKERS_TO_BUILD,
)
from euphoria_env.cards.recruits import FACTION_CARDS, NUM_RECRUITS
from euphoria_env.engine.bits import count_bits
from euphoria_env.engine.jit import entry, jit
from euphoria_env.engine.move_set import list_moves, set_mask
from euphoria_env.engine.state import GAME_DTYPE, ROWS, stars_missing
from euphoria_env.observations import PLAYER_SIZE, start_of

if TYPE_CHECKING:
    from euphoria_env import Game

# ---- the numbers -----------------------------------------------------------------------------------------------------
ANY_OTHER = 1.0  # of any move without another weight, such as `done`, `skip` and `dilemma`, markets, salon and loft
END_EARLY = 0.02  # of `end`, instead of placing a further equal worker (R3.3)
TUNNEL = 10.0
BREEZE_OR_LOUNGE = 10.0
TANK_PER_MISSING_WORKER = 15.0  # for each worker short of 4
COMPLETES_MARKET = 100.0
TWO_MISSING = 5.0  # low, since the next worker would complete the market
MORE_MISSING = 10.0
# A factor for workers that do not complete a market, by the number of own workers (0 to 4) that are not on sites.
FREE_WORKERS = np.array([0.1, 0.1, 0.2, 2.0, 3.0])
AREA = 1.0  # of a commodity area, before `area_weight` corrects it
ENOUGH = 5  # units of a commodity; each unit beyond these
SATED = 0.3  # lowers the weight of its area by this much,
STOP = 6  # and with this many units the weight is 0
ALLEGIANCE_TOTAL = 4  # up to this sum of faces an area advances its track (R6.1)
FURTHER_TAKE = 3.0  # of retrieving one more worker in the same turn
TAKE_FROM_SITE = 0.0
FULL_HAND = 0.01  # factor for drawing an artifact with a full hand (R5.6)
NEVER = -1.0  # of a move that is played only if every legal move has this weight

# ---- where the observation says what the weights look at ---------------------------------------------------------------
_NUM_PLAYERS, _STARS_TO_WIN = start_of("num_players"), start_of("stars_to_win")
_AREAS, _OCCUPANT = start_of("areas"), start_of("occupant") - NUM_AREAS
_OWN_ARTIFACTS, _UNITS = start_of("own_artifacts"), start_of("units")
_FIRST_GROUP, _SECOND_GROUP = start_of("first_group"), start_of("second_group")
_STARS, _MORALE, _HAND_SIZE, _GOODS, _WORKERS, _RECRUITS = (
    start_of(f"player_0.{name}") for name in ("stars", "morale", "hand_size", "goods", "workers", "recruits")
)
SITE_OF = np.full(NUM_SPACES, -1, np.int8)  # the site of a slot
SITE_OF[FIRST_SLOT:FIRST_MARKET] = np.arange(FIRST_MARKET - FIRST_SLOT) // SLOTS_PER_SITE
_FIRST_SITE_TAKE = TAKE + 6 * NUM_AREAS + FIRST_SLOT - NUM_AREAS
_SITE_TAKES_END = _FIRST_SITE_TAKE + FIRST_MARKET - FIRST_SLOT


@jit
def area_weight(g, p, area, face):  # type: ignore[no-untyped-def]
    """Returns the weight of a commodity area for a worker of this face.

    A small total advances the faction's track, which weighs more if the player has more active recruits of the faction, and less
    if the opponents have more; a large total gives two units, which weigh more if opponents have workers in the area (R6.1). The
    weight is lower if the player has plenty of the commodity.
    """
    stock = int(g["goods"][p, area])
    if stock >= STOP:
        return 0.0
    n = int(g["num_players"])
    total = face
    own = all_ = 0
    for q in range(n):
        for f in range(6):
            workers = int(g["area"][area, q, f])
            total += workers * (f + 1)
            all_ += workers
            own += workers if q == p else 0
    if total > ALLEGIANCE_TOTAL:
        weight = AREA + (all_ - 2 * own) / (n - 1)
    else:
        own = all_ = 0
        for q in range(n):
            members = count_bits(g["active_cards"][q] & FACTION_CARDS[area])
            all_ += members
            own += members if q == p else 0
        weight = AREA + own - (all_ - own) / (n - 1)
    return max(0.0, min(weight, weight - SATED * (stock - ENOUGH)))


@jit
def free_workers(g, p):  # type: ignore[no-untyped-def]
    """Returns the number of a player's workers that are not on construction sites."""
    n = int(g["owned"][p])
    for slot in range(FIRST_SLOT, FIRST_MARKET):
        n -= g["occupant"][slot] == p
    return min(max(n, 0), MAX_WORKERS)  # the observation may be invalid


@jit
def leader_factor(g, p, site):  # type: ignore[no-untyped-def]
    """Returns a factor for the weight of a site: at most 1 if a leading opponent has a worker there and would get a star (R9.3).

    The published facts leave the factor open. Ours is the leader's number of missing stars divided by the player's own.
    """
    fewest = own = int(stars_missing(g, p))
    on_site = False
    for q in range(int(g["num_players"])):
        stars = int(stars_missing(g, q))
        if q == p or stars > fewest:
            continue
        if stars < fewest:
            fewest = stars
            on_site = False
        for k in range(SLOTS_PER_SITE):
            on_site |= g["occupant"][site + k] == q
    return fewest / max(1, own) if on_site else 1.0


@jit
def slot_weight(g, p, space):  # type: ignore[no-untyped-def]
    """Returns the weight of a construction site: high if this worker completes the market, low if the next one could."""
    site = space - (space - FIRST_SLOT) % SLOTS_PER_SITE
    missing = int(WORKERS_TO_BUILD[int(g["num_players"])])
    for k in range(SLOTS_PER_SITE):
        missing -= g["occupant"][site + k] >= 0
    factor = leader_factor(g, p, site)
    if missing <= 1:
        return COMPLETES_MARKET * factor
    return (TWO_MISSING if missing == 2 else MORE_MISSING) * factor * FREE_WORKERS[free_workers(g, p)]


@jit
def draw_factor(g, p):  # type: ignore[no-untyped-def]
    """Returns the factor for drawing an artifact: small with a full hand, since a card must then be discarded (R5.6)."""
    return FULL_HAND if g["hand_size"][p] >= g["morale"][p] else 1.0


@jit
def space_weight(g, p, space):  # type: ignore[no-untyped-def]
    """Returns the weight of a space other than a commodity area, which is the same for all faces."""
    if space < FIRST_TUNNEL_END:
        return TUNNEL
    if space < FIRST_TANK:  # a tunnel end weighs like an area without corrections
        stock = int(g["goods"][p, (space - FIRST_TUNNEL_END + 1) % len(TUNNELS)])  # R8.2
        return 0.0 if stock >= STOP else max(0.0, min(AREA, AREA - SATED * (stock - ENOUGH)))
    if space < FIRST_SLOT:
        return TANK_PER_MISSING_WORKER * (MAX_WORKERS - int(g["owned"][p]))
    if space < FIRST_MARKET:
        return slot_weight(g, p, space)
    if space == BREEZE_BAR:
        return BREEZE_OR_LOUNGE * draw_factor(g, p)
    if space == SKY_LOUNGE:
        return BREEZE_OR_LOUNGE
    return ANY_OTHER


@jit
def weigh_places(g, p, moves, weights):  # type: ignore[no-untyped-def]
    """Writes the weights of the placements, which come first among the moves; returns their number.

    All faces can go to the same spaces. So only areas are weighed for each face; the weights of other spaces are copied from the
    first face, and those of the slots of a site from its first slot.
    """
    faces = spaces = 0
    for f in range(6):
        if g["legal"][f]:
            faces += 1
            spaces = count_bits(g["legal"][f])
    for k in range(faces * spaces):
        space = int(moves[k]) % NUM_SPACES
        if space < NUM_AREAS:
            weights[k] = area_weight(g, p, space, int(moves[k]) // NUM_SPACES + 1) / faces
        elif k >= spaces:
            weights[k] = weights[k - spaces]
        elif k and SITE_OF[space] >= 0 and SITE_OF[space] == SITE_OF[int(moves[k - 1]) % NUM_SPACES]:
            weights[k] = weights[k - 1]
        else:
            weights[k] = space_weight(g, p, space) / faces
    return faces * spaces


@jit
def breaks_pair(g, p, item):  # type: ignore[no-untyped-def]
    """Returns whether paying a single card of this kind breaks a pair."""
    units = 0
    if (g["set_a"] >> item) & 1:
        units += int(g["units_a"])
    if (g["set_b"] >> item) & 1:
        units += int(g["units_b"])
    return units == 1 and g["artifacts"][p, item - FIRST_ARTIFACT] % 2 == 0


@jit
def answer_weight(g, p, action, first, last):  # type: ignore[no-untyped-def]
    """Returns the weight of a move other than a placement; `first` and `last` are the first and the last legal move.

    The player retrieves workers only if none can be placed, and then many, but none from sites. They never pay three artifacts
    where a pair suffices, and never break a pair to pay a single card.
    """
    if action == END:
        return END_EARLY
    if action < TAKE:
        return NEVER if first < END else ANY_OTHER
    if action < TAKE + NUM_BOARD_WORKERS:
        if _FIRST_SITE_TAKE <= action < _SITE_TAKES_END:
            return TAKE_FROM_SITE
        return FURTHER_TAKE if last == DONE else ANY_OTHER
    if action == PAY_THREE:
        return NEVER if first < PAY_THREE else ANY_OTHER
    if PAY + FIRST_ARTIFACT <= action < PAY + FIRST_ARTIFACT + len(ARTIFACTS):
        return NEVER if breaks_pair(g, p, action - PAY) else ANY_OTHER
    if DISCARD <= action < DISCARD + len(ARTIFACTS):
        return NEVER if breaks_pair(g, p, action - DISCARD + FIRST_ARTIFACT) else ANY_OTHER
    return draw_factor(g, p) if action == GAIN + GAIN_ARTIFACT else ANY_OTHER


@jit
def weigh(g, moves, n, weights):  # type: ignore[no-untyped-def]
    """Writes the weights of the n legal moves of a row."""
    p = int(g["player"])
    for k in range(weigh_places(g, p, moves, weights), n):
        weights[k] = answer_weight(g, p, int(moves[k]), int(moves[0]), int(moves[n - 1]))


@jit
def settle(weights, n):  # type: ignore[no-untyped-def]
    """Returns the sum of the positive weights; if there are none, gives the moves of weight 0, or else all, the weight 1."""
    total = 0.0
    for k in range(n):
        total += max(0.0, weights[k])
    for lowest in (0.0, NEVER):
        if total == 0.0:
            for k in range(n):
                if weights[k] >= lowest:
                    weights[k] = 1.0
                    total += 1.0
    return total


@jit
def spin(weights, n, chance):  # type: ignore[no-untyped-def]
    """Draws a move in proportion to its weight and returns its index; -1 without moves. `chance` is a random number in [0, 1)."""
    left = chance * settle(weights, n)
    last = -1
    for k in range(n):
        if weights[k] > 0.0:
            last = k
            left -= weights[k]
            if left < 0.0:
                break
    return last


@jit
def read_observation(observation, mask, g):  # type: ignore[no-untyped-def]
    """Fills a row with what the weights depend on, from an observation; its observer becomes player 0."""
    n = min(max(int(observation[_NUM_PLAYERS]), 2), MAX_PLAYERS)  # the observation may be invalid
    g["num_players"] = n
    g["stars_to_win"] = observation[_STARS_TO_WIN]
    for q in range(n):
        g["stars"][q] = observation[_STARS + PLAYER_SIZE * q]
        active = 0
        for card in range(NUM_RECRUITS):
            active |= BIT[card] if observation[_RECRUITS + PLAYER_SIZE * q + card] else 0
        g["active_cards"][q] = active
        for area in range(NUM_AREAS):
            for f in range(6):
                g["area"][area, q, f] = observation[_AREAS + 36 * area + 6 * q + f]
    for space in range(NUM_AREAS, NUM_SPACES):
        g["occupant"][space] = observation[_OCCUPANT + space] - 1
    g["morale"][0] = observation[_MORALE]
    g["hand_size"][0] = observation[_HAND_SIZE]
    g["owned"][0] = observation[_WORKERS]
    for good in range(len(GOODS)):
        g["goods"][0, good] = observation[_GOODS + good]
    for kind in range(len(ARTIFACTS)):
        g["artifacts"][0, kind] = observation[_OWN_ARTIFACTS + kind]
    g["units_a"] = observation[_UNITS]
    g["units_b"] = observation[_UNITS + 1]
    g["set_a"] = 0
    g["set_b"] = 0
    for item in range(len(ITEMS)):
        g["set_a"] |= int(observation[_FIRST_GROUP + item]) << item
        g["set_b"] |= int(observation[_SECOND_GROUP + item]) << item
    set_mask(g["legal"], mask)


@jit
def share_by_weight(g, moves, n, shares):  # type: ignore[no-untyped-def]
    """Writes each legal move's share of the sum of the weights; equal shares if the sum is 0."""
    weigh(g, moves, n, shares)
    total = 0.0
    for k in range(n):
        shares[k] = max(0.0, shares[k])
        total += shares[k]
    for k in range(n):
        shares[k] = shares[k] / total if total else 1.0 / n


@entry("int8[:,:] int8[:,:] float64[:]", ROWS, "int64[:]")
def choose_by_weight(observations, masks, chances, rows, chosen):  # type: ignore[no-untyped-def]
    """Writes a move of each game, drawn by a number from [0, 1); -1 where none is legal. `rows` is workspace of one row."""
    moves = np.empty(NUM_ACTIONS, np.int64)
    weights = np.empty(NUM_ACTIONS)
    for i in range(len(masks)):
        read_observation(observations[i], masks[i], rows[0])
        n = list_moves(rows[0]["legal"], moves)
        weigh(rows[0], moves, n, weights)
        k = spin(weights, n, chances[i])
        chosen[i] = moves[k] if k >= 0 else -1


@entry("int8[:] int8[:]", ROWS, "int64[:] float64[:]")
def explain_by_weight(observation, mask, rows, moves, shares):  # type: ignore[no-untyped-def]
    """Writes the legal moves of a game and the probability of each; returns their number."""
    read_observation(observation, mask, rows[0])
    n = list_moves(rows[0]["legal"], moves)
    weigh(rows[0], moves, n, shares)
    total = settle(shares, n)
    for k in range(n):
        shares[k] = max(0.0, shares[k]) / total
    return n


class Weights(Agent):
    """Plays each legal move with a probability in proportion to its weight."""

    answers_alike = keeps_games_apart = True

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None) -> int:
        """Chooses a move; see `Agent.act`."""
        return int(self.act_batch(observation, mask, rng)[0])

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Chooses a move in each game; see `Agent.act_batch`."""
        seen, legal = decision_rows(observations, masks)
        chosen = np.empty(len(legal), np.int64)
        choose_by_weight(seen, legal, rng.random(len(legal)), np.zeros(1, GAME_DTYPE), chosen)
        return check_found(chosen)

    def explain(
        self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Game | None = None
    ) -> Explanation:
        """Returns the probability of each move; see `Agent.explain`."""
        moves, shares = np.empty(NUM_ACTIONS, np.int64), np.empty(NUM_ACTIONS)
        (seen,), (legal,) = decision_rows(observation, mask)
        n = explain_by_weight(seen, legal, np.zeros(1, GAME_DTYPE), moves, shares)
        return explanation(moves[:n], priors=shares[:n].tolist())
