"""Writes masks and observations into arrays of the caller (the layout is in `observations`)."""

from __future__ import annotations

from euphoria_env.asks import Ask, Verb
from euphoria_env.board import (
    ARTIFACT_SET,
    ARTIFACTS,
    DEALT_RECRUITS,
    FACTIONS,
    GOODS,
    ITEMS,
    MARKETS,
    MAX_WORKERS,
    NUM_AREAS,
    NUM_SPACES,
    TUNNELS,
)
from euphoria_env.cards.recruits import NUM_RECRUITS
from euphoria_env.cards.tiles import NUM_TILES
from euphoria_env.cards.vocabulary import Event
from euphoria_env.engine.jit import entry, jit
from euphoria_env.engine.legal import fill_mask
from euphoria_env.engine.state import HELD, IN_BY, OUT_BY, PLAYING, SETUP, Operation
from euphoria_env.observations import PLAYER_SIZE, PLAYERS_START, start_of
from euphoria_env.rules import DIGIT, OPTIONS_SIZE

_player = {
    name: start_of(f"player_0.{name}") - PLAYERS_START
    for name in (
        "present", "knowledge", "morale", "stars", "goods", "hand_size", "available", "workers", "lost_worker", "used_geek",
        "used_gambler", "recruits", "recruit_stars", "hidden_recruits", "resolved", "resolved_dilemma", "penalties",
    )
}  # fmt: skip
_KNOWLEDGE, _MORALE, _STARS, _GOODS = _player["knowledge"], _player["morale"], _player["stars"], _player["goods"]
_HAND_SIZE, _AVAILABLE, _WORKERS, _LOST = (_player[n] for n in ("hand_size", "available", "workers", "lost_worker"))
_USED_GEEK, _USED_GAMBLER, _RECRUITS = (_player[n] for n in ("used_geek", "used_gambler", "recruits"))
_RECRUIT_STARS, _HIDDEN, _RESOLVED = (_player[n] for n in ("recruit_stars", "hidden_recruits", "resolved"))
_RESOLVED_DILEMMA, _PENALTIES = _player["resolved_dilemma"], _player["penalties"]

_TURN, _STATUS = start_of("turn"), start_of("status")
_ACTIVE, _DECIDER = start_of("active"), start_of("decider")
_OWN_ARTIFACTS, _OWN_DILEMMA, _OWN_RECRUITS, _OWN_TILES = (
    start_of(n) for n in ("own_artifacts", "own_dilemma", "own_recruits", "own_tiles")
)
_ALLEGIANCE, _MINERS, _AREAS, _OCCUPANT, _OCCUPANT_FACE = (
    start_of(n) for n in ("allegiance", "miners", "areas", "occupant", "occupant_face")
)
_BUILT, _TILE, _MARKET_STARS, _TERRITORIES, _DISCARDS, _DECK_SIZE = (
    start_of(n) for n in ("built", "tile", "market_stars", "territories", "discards", "deck_size")
)
_ASKED, _CARD, _VERB, _UNITS, _FIRST_GROUP, _SECOND_GROUP, _LAST, _CHOSEN, _REQUESTED, _PARTNER, _OFFERS = (
    start_of(n)
    for n in (
        "asked", "card", "verb", "units", "first_group", "second_group", "last", "chosen", "requested", "partner", "offers",
    )
)  # fmt: skip
_SPACE, _PLACED_FACE, _BUMPED, _BUMPED_FACE, _BEFORE, _DUE, _PAID, _STAR_PLACED, _TOOK_RESOURCE, _HELPED = (
    start_of(n)
    for n in (
        "space", "placed_face", "bumped", "bumped_face", "allegiance_before", "due", "paid", "star_placed", "took_resource",
        "helped",
    )
)  # fmt: skip
_NEW_WORKER, _NEW_FACE, _SET_FACE, _TO_ROLL, _ROLLER, _PAYMENT, _TAKEN, _RESOLVING, _BARGAINS_LEFT, _FURTHER_LEFT, _DRAWS_LEFT = (
    start_of(n)
    for n in (
        "new_worker", "new_face", "set_face", "to_roll", "roller", "payment", "taken", "resolving", "bargains_left",
        "further_left", "draws_left",
    )
)  # fmt: skip


@jit
def digits(out, at, value):
    """Writes a number as three digits, lowest first."""
    value = min(int(value), DIGIT**3 - 1)
    for k in range(3):
        out[at + k] = value % DIGIT
        value //= DIGIT


@jit
def fill_player(g, p, out, at):
    """Writes what is public of a player."""
    out[at] = 1
    out[at + _KNOWLEDGE] = g["knowledge"][p]
    out[at + _MORALE] = g["morale"][p]
    out[at + _STARS] = g["stars"][p]
    for item in range(len(GOODS)):
        out[at + _GOODS + item] = min(int(g["goods"][p, item]), 127)
    out[at + _HAND_SIZE] = g["hand_size"][p]
    for f in range(6):
        out[at + _AVAILABLE + f] = g["available"][p, f]
    out[at + _WORKERS] = g["owned"][p]
    out[at + _LOST] = g["lost_worker"][p]
    out[at + _USED_GEEK] = g["used"][p] & 1
    out[at + _USED_GAMBLER] = g["used"][p] >> 1
    for k in range(int(g["num_active"][p])):
        card = int(g["recruits"][p, k])
        out[at + _RECRUITS + card] = k + 1
        out[at + _RECRUIT_STARS + k] = (int(g["starred"]) >> card) & 1
    out[at + _HIDDEN] = g["num_recruits"][p] - g["num_active"][p] if g["status"] != SETUP else 0
    out[at + _RESOLVED] = g["resolved"][p]
    if g["resolved"][p]:
        out[at + _RESOLVED_DILEMMA + int(g["dilemma"][p])] = 1
    if g["penalty"][p]:
        for tile in range(NUM_TILES):
            out[at + _PENALTIES + tile] = (int(g["penalty"][p]) >> tile) & 1


@jit
def fill_private(g, p, out):
    """Writes what only the observer knows (R19.2)."""
    for kind in range(len(ARTIFACTS)):
        out[_OWN_ARTIFACTS + kind] = g["artifacts"][p, kind]
    out[_OWN_DILEMMA + int(g["dilemma"][p])] = 1
    for card in range(NUM_RECRUITS):
        if g["recruit_place"][card] == OUT_BY + p:
            out[_OWN_RECRUITS + card] = 5
    for k in range(int(g["num_active"][p]), int(g["num_recruits"][p])):
        out[_OWN_RECRUITS + int(g["recruits"][p, k])] = 2 if g["status"] == SETUP and k == 0 else 1
    if g["ask"] == Ask.RECRUIT or g["status"] == SETUP:
        for k in range(DEALT_RECRUITS):
            if g["hand"][p, k] >= 0:
                out[_OWN_RECRUITS + int(g["hand"][p, k])] = 3
            if g["kept"][p, k] >= 0:
                out[_OWN_RECRUITS + int(g["kept"][p, k])] = 4
    for tile in range(NUM_TILES):
        place = g["tile_place"][tile]
        if place == HELD + p:
            out[_OWN_TILES + tile] = 1
        elif place == IN_BY + p:
            out[_OWN_TILES + tile] = 2
        elif place == OUT_BY + p:
            out[_OWN_TILES + tile] = 3


@jit
def fill_board(g, p, n, out):
    """Writes the board."""
    for f in range(len(FACTIONS)):
        out[_ALLEGIANCE + f] = g["allegiance"][f]
    for t in range(len(TUNNELS)):
        out[_MINERS + t] = g["miners"][t]
    for k in range(n):
        q = p + k if p + k < n else p + k - n
        for s in range(NUM_AREAS):
            for f in range(6):
                out[_AREAS + 36 * s + 6 * k + f] = g["area"][s, q, f]
            out[_TERRITORIES + 6 * s + k] = g["territory"][s, q]
    for s in range(NUM_AREAS, NUM_SPACES):
        if g["occupant"][s] >= 0:
            out[_OCCUPANT + s - NUM_AREAS] = seat_plus_one(g["occupant"][s], p, n)
            out[_OCCUPANT_FACE + s - NUM_AREAS] = g["face"][s]
    for m in range(len(MARKETS)):
        if g["built"][m]:
            out[_BUILT + m] = 1
            out[_TILE + m] = g["tile"][m] + 1
            for k in range(n):
                out[_MARKET_STARS + 6 * m + k] = (int(g["market_stars"][m]) >> (p + k if p + k < n else p + k - n)) & 1
    deck = 0
    for kind in range(len(ARTIFACTS)):
        out[_DISCARDS + kind] = g["discards"][kind]
        deck += int(g["deck"][kind])
    out[_DECK_SIZE] = deck


@jit
def seat_plus_one(player, p, n):
    """The seat of a player as the observer counts, plus 1; 0 for nobody (-1)."""
    seat = player - p + 1
    return (seat if seat > 0 else seat + n) if player >= 0 else 0


@jit
def fill_decision(g, p, n, out):
    """Writes what is being decided, and the turn so far."""
    asked = int(g["ask"])
    out[_ASKED + asked] = 1
    if asked == Ask.NOTHING:
        return
    out[_OFFERS] = g["offers"]
    if asked == Ask.OPEN:  # nothing else has happened in this turn
        return
    if g["status"] == PLAYING:
        fill_placement(g, p, n, out)
    if asked == Ask.USE:
        out[_CARD] = g["card"] + 1
    if asked == Ask.SERIES or asked == Ask.STAR:
        out[_VERB] = g["verb"] + 1 if asked == Ask.SERIES else 0
        set_a, set_b = int(g["set_a"]), int(g["set_b"])
        # Which two cards Bradley drew only the owner knows.
        if asked == Ask.SERIES and g["verb"] == Verb.DISCARD and g["player"] != p:
            set_a = ARTIFACT_SET
        for item in range(len(ITEMS)):
            out[_FIRST_GROUP + item] = (set_a >> item) & 1
            if asked == Ask.SERIES:
                out[_SECOND_GROUP + item] = (set_b >> item) & 1
        if asked == Ask.SERIES:
            out[_UNITS] = g["units_a"]
            out[_UNITS + 1] = g["units_b"]
    out[_LAST] = g["last"]
    for item in range(len(ITEMS)):
        out[_CHOSEN + item] = g["chosen"][item]
        out[_REQUESTED + item] = g["asked"][item]
    for k in range(int(g["depth"])):
        op = g["stack"][k, 0]
        if op == Operation.FURTHER or op == Operation.FURTHER_ANSWERED:
            out[_FURTHER_LEFT] = max(out[_FURTHER_LEFT], g["stack"][k, 3])
        elif op == Operation.DRAW_ANSWERED:
            out[_DRAWS_LEFT] = g["stack"][k, 2]
        elif op == Operation.DILEMMA_PAID:
            out[_RESOLVING] = g["stack"][k, 2]
        elif op == Operation.TRIGGER and g["stack"][k, 2] == Event.STAR and g["stack"][k, 3] == 0:
            out[_BARGAINS_LEFT] += 1


@jit
def fill_placement(g, p, n, out):
    """Writes the placement, the roll, the retrieval and the trade under way."""
    out[_PARTNER] = seat_plus_one(g["partner"], p, n)
    out[_PLACED_FACE] = g["placed_face"]
    if g["placed_face"]:
        out[_SPACE] = g["space"] + 1
    out[_BUMPED] = seat_plus_one(g["bumped"], p, n)
    out[_BUMPED_FACE] = g["bumped_face"]
    for f in range(len(FACTIONS)):
        out[_BEFORE + f] = g["before"][f]
    out[_DUE] = g["due_morale"]
    out[_DUE + 1] = g["due_knowledge"]
    for k in range(5):
        out[_PAID + k] = (g["paid"] >> k) & 1
    out[_STAR_PLACED] = g["star_placed"]
    out[_TOOK_RESOURCE] = g["took_resource"]
    for k in range(n):
        out[_HELPED + k] = (int(g["helped"]) >> (p + k if p + k < n else p + k - n)) & 1
    out[_NEW_WORKER] = g["new_worker"]
    out[_NEW_FACE] = g["new_face"]
    out[_SET_FACE] = g["set_face"]
    for k in range(MAX_WORKERS):
        out[_TO_ROLL + k] = seat_plus_one(g["back_owner"][k], p, n)
        out[_TO_ROLL + MAX_WORKERS + k] = g["back_face"][k]
    out[_ROLLER] = seat_plus_one(g["roller"], p, n)
    if g["num_taken"] or g["ask"] == Ask.TAKE:
        out[_PAYMENT] = g["payment"] + 1
        for k in range(int(g["num_taken"])):
            out[_TAKEN + k] = g["taken"][k] + 1


@jit
def fill_observation(g, p, out):
    """Writes what player p may see into an int8 array (OBS_SIZE,)."""
    out[:] = 0
    n = int(g["num_players"])
    for k in range(OPTIONS_SIZE):
        out[k] = g["shown_rules"][k]
    digits(out, _TURN, g["turn"])
    out[_STATUS] = g["status"]
    out[_ACTIVE + (int(g["active"]) - p + n) % n] = 1
    if g["ask"] != Ask.NOTHING:
        out[_DECIDER + (int(g["player"]) - p + n) % n] = 1
    for k in range(n):
        fill_player(g, p + k if p + k < n else p + k - n, out, PLAYERS_START + PLAYER_SIZE * k)
    fill_private(g, p, out)
    fill_board(g, p, n, out)
    fill_decision(g, p, n, out)


@entry
def write_mask(games, i, mask):
    """Writes the legal moves of game i into a bool array (NUM_ACTIONS,)."""
    fill_mask(games[i]["legal"], mask)


@entry
def write_observation(games, i, player, out):
    """Writes what a player of game i may see into an int8 array (OBS_SIZE,)."""
    fill_observation(games[i], player, out)
