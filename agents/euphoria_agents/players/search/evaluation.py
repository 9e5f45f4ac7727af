"""Our hand-made evaluation: it describes each player by readable features, and computes everybody's win probability from these.

A player's standing is the weighted sum of their features; the win probabilities are the softmax of the standings, so that only
differences count. What the others hide is read from the row, which is one determinized deal of many. The weights are those of a
conditional logit fitted to self-play (docs/agents.md).
"""

from __future__ import annotations

import numpy as np

from euphoria_agents.network.compiled_layers import softmax
from euphoria_env.board import (
    ALLEGIANCE_END,
    ARTIFACTS,
    BLISS,
    FACTIONS,
    FIRST_ARTIFACT_MARKET,
    FIRST_MARKET,
    FIRST_RESOURCE,
    FIRST_SLOT,
    GOODS,
    ICARITE,
    NIMBUS_LOFT,
    NUM_MARKETS,
    SLOTS_PER_SITE,
    STARS,
    WIND_SALON,
    WORKERS_TO_BUILD,
)
from euphoria_env.cards.recruits import FACTION_OF
from euphoria_env.engine.bits import count_bits
from euphoria_env.engine.dilemma import can_resolve
from euphoria_env.engine.jit import array, entry, jit
from euphoria_env.engine.placement_legality import open_spaces, slots_of
from euphoria_env.engine.row_checks import check
from euphoria_env.engine.state import GAME_DTYPE, OVER, member, stars_missing

# name, weight, meaning; trained win probabilities depend on their order and meaning, so a change needs new players
FEATURES = (
    ("placed", 0.52, "stars placed, those not needed to win (R17.5) included"),
    ("placed_squared", 0.55, "a tenth of their square"),
    ("second_worker", 0.89, "owns at least two workers"),
    ("third_worker", 0.43, "at least three"),
    ("fourth_worker", -0.06, "four"),
    ("available", 0.09, "available workers"),
    ("equal", 0.12, "available workers that could follow an equal one in the same turn (R3.3)"),
    ("knowledge", -0.05, "step of the knowledge marker"),
    ("at_risk", -0.04, "knowledge above 3 for each worker above 2 (R5.3)"),
    ("morale", 0.08, "step of the morale marker"),
    ("commodities", 0.08, "energy, water and food, up to 1 each"),
    ("more_commodities", 0.07, "the second to fourth of each"),
    ("first_bliss", 0.13, "up to 1"),
    ("more_bliss", 0.10, "the second to fourth"),
    ("resources", 0.10, "gold, stone and clay, up to 1 each"),
    ("more_resources", -0.04, "the second and third of each"),
    ("cards", 0.18, "cards, up to 3"),
    ("more_cards", 0.18, "cards beyond the third"),
    ("pair", -0.01, "pairs among them"),
    ("stake_one", 0.43, "sites that lack one worker and where one has one already"),
    ("stake_more", 0.15, "sites that lack more"),
    ("active", -0.02, "active recruits without their star"),
    ("active_progress", 1.36, "for each of them the square of the share its track has gone"),
    ("hidden_progress", 1.71, "the same for hidden recruits"),
    ("commodity_bonus", 0.20, "factions with an active recruit and step 2 (R7.2)"),
    ("tunnel_bonus", -0.04, "and step 5 (R7.3)"),
    ("dilemma", -0.06, "the dilemma can be resolved for a star"),
    ("dilemma_open", 0.24, "it is not yet resolved"),
    ("penalties", -0.10, "market penalties in force"),
    ("ready", 0.35, "a star is affordable: by an available worker"),
    ("ready_later", 0.31, "by a worker that must first be retrieved"),
    ("to_move", 0.05, "it is the player's turn"),
)
NUM_FEATURES = len(FEATURES)
(
    F_PLACED, F_PLACED_SQUARED, F_SECOND_WORKER, F_THIRD_WORKER, F_FOURTH_WORKER, F_AVAILABLE, F_EQUAL, F_KNOWLEDGE,
    F_AT_RISK, F_MORALE, F_COMMODITIES, F_MORE_COMMODITIES, F_FIRST_BLISS, F_MORE_BLISS, F_RESOURCES, F_MORE_RESOURCES,
    F_CARDS, F_MORE_CARDS, F_PAIR, F_STAKE_ONE, F_STAKE_MORE, F_ACTIVE, F_ACTIVE_PROGRESS, F_HIDDEN_PROGRESS,
    F_COMMODITY_BONUS, F_TUNNEL_BONUS, F_DILEMMA, F_DILEMMA_OPEN, F_PENALTIES, F_READY, F_READY_LATER, F_TO_MOVE,
) = range(NUM_FEATURES)  # fmt: skip
WEIGHTS = np.array([weight for _, weight, _ in FEATURES])
FIRST_OF = np.array([F_COMMODITIES] * BLISS + [F_FIRST_BLISS] + [F_RESOURCES] * 3)  # by good, the feature of its first unit


@jit
def star_spaces(g, p):  # type: ignore[no-untyped-def]
    """Returns a bit set of the spaces where one more worker, if it may be placed there, brings the player a star."""
    spaces = 0
    n = int(g["num_players"])
    free = np.int64(0)
    for f in range(len(FACTIONS)):
        stars = 0
        for q in range(n):
            stars += int(g["territory"][f, q])
        if stars < n:
            free |= 1 << f
    for k in range(NUM_MARKETS):
        if g["built"][k]:
            if (free >> (k // 2)) & 1:
                spaces |= 1 << (FIRST_MARKET + k)
            if not (int(g["market_stars"][k]) >> p) & 1:
                spaces |= 1 << (FIRST_ARTIFACT_MARKET + k // 2)
        else:
            missing = int(WORKERS_TO_BUILD[n])
            for s in range(FIRST_SLOT + SLOTS_PER_SITE * k, FIRST_SLOT + SLOTS_PER_SITE * (k + 1)):
                missing -= g["occupant"][s] >= 0
            if missing == 1:
                spaces |= slots_of(k)
    for f in range(ICARITE):
        if (free >> f) & 1:
            spaces |= 1 << (FIRST_ARTIFACT_MARKET + f)
    if (free >> ICARITE) & 1:
        spaces |= (1 << WIND_SALON) | (1 << NIMBUS_LOFT)
    return spaces


@jit
def describe_player(g, p, out):  # type: ignore[no-untyped-def]
    """Writes the features of a player into an array of floats (NUM_FEATURES,)."""
    describe_openly(g, p, out)
    for kind in range(len(ARTIFACTS)):
        out[F_PAIR] += int(g["artifacts"][p, kind]) // 2
    describe_hidden_recruits(g, p, out)
    out[F_DILEMMA] = can_resolve(g, p)
    if open_spaces(g, p, 0) & star_spaces(g, p):
        out[F_READY if out[F_AVAILABLE] else F_READY_LATER] = 1.0


@jit
def describe_openly(g, p, out):  # type: ignore[no-untyped-def]
    """Writes the features of a player that everybody knows, and 0 for those that depend on the cards that the player hides."""
    out[:] = 0.0
    placed = STARS - int(stars_missing(g, p))
    out[F_PLACED] = placed
    out[F_PLACED_SQUARED] = placed * placed / 10
    owned = int(g["owned"][p])
    out[F_SECOND_WORKER] = owned >= 2
    out[F_THIRD_WORKER] = owned >= 3
    out[F_FOURTH_WORKER] = owned >= 4
    available = most = 0
    for f in range(6):
        workers = int(g["available"][p, f])
        available += workers
        most = max(most, workers)
    out[F_AVAILABLE] = available
    out[F_EQUAL] = max(0, most - 1)
    knowledge = int(g["knowledge"][p])
    out[F_KNOWLEDGE] = knowledge
    out[F_AT_RISK] = max(0, knowledge - 3) * max(0, owned - 2)
    out[F_MORALE] = g["morale"][p]
    for good in range(len(GOODS)):
        stock = int(g["goods"][p, good])
        first = int(FIRST_OF[good])
        out[first] += min(stock, 1)
        out[first + 1] += min(max(stock - 1, 0), 2 if good >= FIRST_RESOURCE else 3)
    cards = int(g["hand_size"][p])
    out[F_CARDS] = min(cards, 3)
    out[F_MORE_CARDS] = max(0, cards - 3)
    describe_sites(g, p, out)
    describe_active_recruits(g, p, out)
    out[F_DILEMMA_OPEN] = g["resolved"][p] == 0
    out[F_PENALTIES] = count_bits(g["penalty"][p])
    out[F_TO_MOVE] = g["turn_player"] == p


@jit
def describe_seats(g, observer, out):  # type: ignore[no-untyped-def]
    """Writes the features of all seats, from the observer on, as the observer knows them: float32 (MAX_PLAYERS * NUM_FEATURES,).

    Absent seats have 0, and so have the features of the others that depend on hidden cards.
    """
    n = int(g["num_players"])
    describe_player(g, observer, out[:NUM_FEATURES])
    for k in range(1, n):
        describe_openly(g, (observer + k) % n, out[k * NUM_FEATURES : (k + 1) * NUM_FEATURES])
    out[n * NUM_FEATURES :] = 0.0


@entry(array(GAME_DTYPE, read_only=True), "int64[:] float32[:,:]")
def describe_positions(rows, observers, out):  # type: ignore[no-untyped-def]
    """Writes what `describe_seats` writes, for an observer of each position: float32 (N, MAX_PLAYERS * NUM_FEATURES)."""
    for k in range(len(rows)):
        check(rows, k)
        describe_seats(rows[k], observers[k], out[k])


@jit
def describe_sites(g, p, out):  # type: ignore[no-untyped-def]
    """Writes the features of the construction sites where a player has a worker."""
    for k in range(NUM_MARKETS):
        if g["built"][k]:
            continue
        missing = int(WORKERS_TO_BUILD[int(g["num_players"])])
        own = 0
        for s in range(FIRST_SLOT + SLOTS_PER_SITE * k, FIRST_SLOT + SLOTS_PER_SITE * (k + 1)):
            missing -= g["occupant"][s] >= 0
            own |= g["occupant"][s] == p
        if own:
            out[F_STAKE_ONE if missing == 1 else F_STAKE_MORE] += 1.0


@jit
def describe_hidden_recruits(g, p, out):  # type: ignore[no-untyped-def]
    """Writes how near the stars of a player's hidden recruits are."""
    for k in range(int(g["num_active"][p]), int(g["num_recruits"][p])):
        gone = g["allegiance"][FACTION_OF[int(g["recruits"][p, k])]] / ALLEGIANCE_END
        out[F_HIDDEN_PROGRESS] += gone * gone


@jit
def describe_active_recruits(g, p, out):  # type: ignore[no-untyped-def]
    """Writes the features of a player's active recruits: how near their stars are, and their bonuses."""
    for k in range(int(g["num_active"][p])):
        card = int(g["recruits"][p, k])
        if not (g["starred"] >> card) & 1:
            gone = g["allegiance"][FACTION_OF[card]] / ALLEGIANCE_END
            out[F_ACTIVE] += 1.0
            out[F_ACTIVE_PROGRESS] += gone * gone
    for f in range(len(FACTIONS)):
        if member(g, p, f):
            out[F_COMMODITY_BONUS] += g["allegiance"][f] >= 2
            out[F_TUNNEL_BONUS] += g["allegiance"][f] >= 5


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
