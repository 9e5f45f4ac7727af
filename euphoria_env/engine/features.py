"""The features of a player, and afterstates: how each legal move changes them (`afterstates`)."""

from __future__ import annotations

import numpy as np

from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.afterstates import FEATURES, NAMES
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
    MAX_PLAYERS,
    NIMBUS_LOFT,
    NUM_MARKETS,
    SLOTS_PER_SITE,
    STARS,
    WIND_SALON,
    WORKERS_TO_BUILD,
)
from euphoria_env.cards.recruits import FACTION_OF
from euphoria_env.engine.bits import count_bits
from euphoria_env.engine.byte_copies import pointer_to
from euphoria_env.engine.determinize import deal_hidden_row
from euphoria_env.engine.dilemma import can_resolve
from euphoria_env.engine.jit import entry, jit
from euphoria_env.engine.legal_moves import answer
from euphoria_env.engine.loop import advance
from euphoria_env.engine.move_set import count_legal, list_moves
from euphoria_env.engine.placement_legality import open_spaces, slots_of
from euphoria_env.engine.row_checks import check
from euphoria_env.engine.state import GAME_DTYPE, OVER, ROWS, member, stars_missing
from euphoria_env.engine.tape import TAPE_HEADER

NUM_FEATURES, NUM_CHANGES = len(FEATURES), len(NAMES)
(
    F_PLACED, F_PLACED_SQUARED, F_SECOND_WORKER, F_THIRD_WORKER, F_FOURTH_WORKER, F_AVAILABLE, F_EQUAL, F_KNOWLEDGE,
    F_AT_RISK, F_MORALE, F_COMMODITIES, F_MORE_COMMODITIES, F_FIRST_BLISS, F_MORE_BLISS, F_RESOURCES, F_MORE_RESOURCES,
    F_CARDS, F_MORE_CARDS, F_PAIR, F_STAKE_ONE, F_STAKE_MORE, F_ACTIVE, F_ACTIVE_PROGRESS, F_HIDDEN_PROGRESS,
    F_COMMODITY_BONUS, F_TUNNEL_BONUS, F_DILEMMA, F_DILEMMA_OPEN, F_PENALTIES, F_READY, F_READY_LATER, F_TO_MOVE,
) = range(NUM_FEATURES)  # fmt: skip
FIRST_OF = np.array([F_COMMODITIES] * BLISS + [F_FIRST_BLISS] + [F_RESOURCES] * 3)  # by good, the feature of its first unit


@jit
def star_spaces(g, p):
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
def describe_player(g, p, out):
    """Writes the features of a player into an array of floats (NUM_FEATURES,)."""
    describe_openly(g, p, out)
    for kind in range(len(ARTIFACTS)):
        out[F_PAIR] += int(g["artifacts"][p, kind]) // 2
    describe_hidden_recruits(g, p, out)
    out[F_DILEMMA] = can_resolve(g, p)
    if open_spaces(g, p, 0) & star_spaces(g, p):
        out[F_READY if out[F_AVAILABLE] else F_READY_LATER] = 1.0


@jit
def describe_openly(g, p, out):
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
def describe_seats(g, observer, out):
    """Writes the features of all seats, from the observer on, as the observer knows them: float32 (MAX_PLAYERS * NUM_FEATURES,).

    Absent seats have 0, and so have the features of the others that depend on hidden cards.
    """
    n = int(g["num_players"])
    describe_player(g, observer, out[:NUM_FEATURES])
    for k in range(1, n):
        describe_openly(g, (observer + k) % n, out[k * NUM_FEATURES : (k + 1) * NUM_FEATURES])
    out[n * NUM_FEATURES :] = 0.0


@jit
def describe_sites(g, p, out):
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
def describe_hidden_recruits(g, p, out):
    """Writes how near the stars of a player's hidden recruits are."""
    for k in range(int(g["num_active"][p]), int(g["num_recruits"][p])):
        gone = g["allegiance"][FACTION_OF[int(g["recruits"][p, k])]] / ALLEGIANCE_END
        out[F_HIDDEN_PROGRESS] += gone * gone


@jit
def describe_active_recruits(g, p, out):
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
def deal_for_afterstates(g, seed, copies, before):
    """Copies a game to the first of two rows, deals there again what its player cannot know, and describes its seats.

    `before`, float32 (MAX_PLAYERS * NUM_FEATURES,), gets the features of the seats from the player on.
    """
    p = int(g["player"])
    copies[0] = g
    deal_hidden_row(copies[0], p, seed + int(g["turn"]))  # so that not all games roll the same dice
    describe_seats(copies[0], p, before)


@jit
def fill_afterstate(copies, tape, move, before, out):
    """Writes the afterstate of a legal move, float32 (NUM_CHANGES,); `deal_for_afterstates` fills `copies` and `before`."""
    deal, after, tape, size = copies[0], copies[1], pointer_to(tape, 0), len(before)
    p = int(deal["player"])
    copies[1] = deal
    answer(after, tape, move)
    advance(after, tape)
    describe_seats(after, p, out[:size])
    for j in range(size):
        out[j] -= before[j]
    ended, same = after["status"] >= OVER, after["turn"] == deal["turn"]
    facts = out[size:]
    facts[0] = same and after["player"] == p and not ended
    facts[1] = same and after["player"] != p and not ended
    facts[2] = after["rng"][0] != deal["rng"][0] or after["rng"][1] != deal["rng"][1]
    facts[3] = ended
    facts[4] = after["status"] == OVER and after["winner"] == p


@entry(ROWS, "int64[:]")
def count_afterstates(games, begins):
    """Writes where the rows of each game begin, and where those of the last one end: int64 (N + 1,)."""
    begins[0] = 0
    for i in range(len(games)):
        begins[i + 1] = begins[i] + count_legal(games[i]["legal"])


@entry(ROWS, "int64 int64 int64 int64[:] float32[:,:]", apart=True)
def write_afterstates(games, first, last, seed, begins, out):
    """Writes the afterstates of the games first to last - 1 into their rows of `out`."""
    copies, tape = np.zeros(2, GAME_DTYPE), np.zeros(TAPE_HEADER, np.int32)
    moves, before = np.empty(NUM_ACTIONS, np.int64), np.empty(MAX_PLAYERS * NUM_FEATURES, np.float32)
    for i in range(first, last):
        if begins[i] < begins[i + 1]:
            check(games, i)
            deal_for_afterstates(games[i], seed, copies, before)
            for k in range(list_moves(games[i]["legal"], moves)):
                fill_afterstate(copies, tape, int(moves[k]), before, out[begins[i] + k])
